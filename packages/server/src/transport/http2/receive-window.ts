import { ConnectionError } from "./connection-error.ts";
import { errorCode } from "./frame.ts";
import { RECEIVE_WINDOW_BYTES } from "./limits.ts";

/** The window of the connection for what the client sends. What waits in a stream fits into its own, which is as large. */
export class ReceiveWindow {
  #receivedBytes = 0;
  #consumedBytes = 0;

  /** Throws a `ConnectionError` beyond the window. */
  receive(byteLength: number): void {
    this.#receivedBytes += byteLength;
    if (this.#receivedBytes <= RECEIVE_WINDOW_BYTES) return;
    throw new ConnectionError(errorCode.flowControlError, "DATA beyond the window of the connection");
  }

  /** Bytes were read or thrown away; returns how many to give back for the window now: none, or at least half of it. */
  consume(byteLength: number): number {
    this.#consumedBytes += byteLength;
    if (this.#consumedBytes < RECEIVE_WINDOW_BYTES / 2) return 0;
    const growth = this.#consumedBytes;
    this.#receivedBytes -= growth;
    this.#consumedBytes = 0;
    return growth;
  }
}
