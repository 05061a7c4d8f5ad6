import type { StreamId } from "../contract/event.ts";
import { Fifo } from "../memory/fifo.ts";
import type { Stream } from "./stream.ts";

/** The queue of streams to be flushed. A stream whose client does not read is not queued (S-GRP-07). */
export class FlushQueue {
  readonly #due = new Fifo<Stream>();
  readonly #stalled = new Set<StreamId>();

  get isEmpty(): boolean {
    return this.#due.isEmpty;
  }

  /** Queues a stream, unless it is stalled. */
  add(stream: Stream): void {
    if (!this.#stalled.has(stream.opened.stream)) this.#due.add(stream);
  }

  /** Removes and returns the next stream. */
  take(): Stream | undefined {
    return this.#due.take();
  }

  /** The client does not read. `stream`: set once the node is known. */
  stall(id: StreamId, stream: Stream | undefined): void {
    this.#stalled.add(id);
    if (stream !== undefined) this.#due.delete(stream);
  }

  /** The client reads again. */
  resume(id: StreamId, stream: Stream | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.add(stream);
  }

  /** Removes a stream that closed. */
  forget(id: StreamId, stream: Stream | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.#due.delete(stream);
  }
}
