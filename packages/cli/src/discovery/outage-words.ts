import type { Status } from "@xdskit/protocol";
import type { Output } from "../io.ts";
import { type Asked, describeFailure } from "./connection-hint.ts";

/** Tells a person of an outage: each reason once, and when it is over. */
export class OutageWords {
  readonly #stderr: Output;
  readonly #asked: Asked;
  readonly #told = new Set<string>();

  constructor(stderr: Output, asked: Asked) {
    this.#stderr = stderr;
    this.#asked = asked;
  }

  /** An attempt was in vain, or a stream ended. */
  broke(status: Status): void {
    const text = describeFailure(status, this.#asked);
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#stderr.write(`xds: ${text}, trying again\n`);
  }

  /** There was an answer, or is a stream that stays open. */
  isOver(): void {
    if (this.#told.size === 0) return;
    this.#told.clear();
    this.#stderr.write(`xds: ${this.#asked.where ?? "the server"} answers again\n`);
  }
}
