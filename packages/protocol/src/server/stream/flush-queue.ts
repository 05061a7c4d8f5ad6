import type { StreamId } from "../contract/event.ts";
import { Fifo } from "../memory/fifo.ts";
import type { Stream } from "./stream.ts";

/** Streams that wait for a turn, in the order in which they get one. Whose client does not read gets none (S-GRP-07). */
export class FlushQueue {
  readonly #due = new Fifo<Stream>();
  readonly #stalled = new Set<StreamId>();

  get isEmpty(): boolean {
    return this.#due.isEmpty;
  }

  /** A stream is to get a turn, once it can use one. */
  add(stream: Stream): void {
    if (!this.#stalled.has(stream.opened.stream)) this.#due.add(stream);
  }

  /** Whose turn it is. */
  take(): Stream | undefined {
    return this.#due.take();
  }

  /** A client does not read. `stream`: if it was identified. */
  stall(id: StreamId, stream: Stream | undefined): void {
    this.#stalled.add(id);
    if (stream !== undefined) this.#due.delete(stream);
  }

  /** It reads again. */
  resume(id: StreamId, stream: Stream | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.add(stream);
  }

  /** A stream is closed. */
  forget(id: StreamId, stream: Stream | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.#due.delete(stream);
  }
}
