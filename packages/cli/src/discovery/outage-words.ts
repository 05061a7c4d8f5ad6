import type { Status } from "@xdskit/protocol";
import type { Output } from "../io.ts";
import { type Asked, describeFailure } from "./connection-hint.ts";

/** Prints outages for a person: each reason once, then the recovery. */
export class OutageWords {
  readonly #stderr: Output;
  readonly #asked: Asked;
  readonly #told = new Set<string>();

  constructor(stderr: Output, asked: Asked) {
    this.#stderr = stderr;
    this.#asked = asked;
  }

  /** Prints why a connection attempt or a stream failed. */
  broke(status: Status): void {
    const text = describeFailure(status, this.#asked);
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#stderr.write(`xds: ${text}, trying again\n`);
  }

  /** Prints that the server responds again. */
  isOver(): void {
    if (this.#told.size === 0) return;
    this.#told.clear();
    this.#stderr.write(`xds: ${this.#asked.where ?? "the server"} answers again\n`);
  }
}
