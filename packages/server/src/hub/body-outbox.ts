import type { Status } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";
import type { BodyHandle, TakenResponse } from "./port.ts";

/** The responses queued for an in-process client; they are not encoded, and the client cannot stall. */
export class BodyOutbox {
  readonly pendingBytes = 0;
  readonly isStalled = false;
  readonly #handle: BodyHandle;
  readonly #changed: (change: "ended") => void;
  #responses: TakenResponse[] = [];
  #isOver = false;

  constructor(handle: BodyHandle, changed: (change: "ended") => void) {
    this.#handle = handle;
    this.#changed = changed;
  }

  blockedMs(): number {
    return 0;
  }

  /** Adds a response; returns its bytes on the wire, which is 0. */
  send(body: Body, nonce: string): number {
    if (!this.#isOver) this.#responses.push({ body, nonce });
    return 0;
  }

  flush(): void {
    if (this.#isOver || this.#responses.length === 0) return;
    const responses = this.#responses;
    this.#responses = [];
    this.#handle.take(responses);
  }

  end(status: Status): void {
    if (this.#isOver) return;
    this.flush();
    this.reset(status);
    this.#changed("ended");
  }

  reset(status: Status): void {
    if (this.#isOver) return;
    this.abandon();
    this.#handle.end(status);
  }

  abandon(): void {
    this.#isOver = true;
    this.#responses = [];
  }
}
