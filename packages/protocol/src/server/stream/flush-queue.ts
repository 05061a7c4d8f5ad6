import type { StreamId } from "../contract/event.ts";
import { Fifo } from "../memory/fifo.ts";

/** What the queue reads of a stream. */
interface QueuedStream {
  readonly opened: { readonly stream: StreamId };
}

/** The queue of streams to be flushed. A stream whose client does not read is not queued (S-GRP-07). */
export class FlushQueue<S extends QueuedStream> {
  readonly #due = new Fifo<S>();
  readonly #stalled = new Set<StreamId>();
  /** How many streams were taken from the front so far. */
  taken = 0;

  get size(): number {
    return this.#due.size;
  }

  get isEmpty(): boolean {
    return this.#due.isEmpty;
  }

  /** Queues a stream, unless it is stalled. */
  add(stream: S): void {
    if (!this.#stalled.has(stream.opened.stream)) this.#due.add(stream);
  }

  /** Removes and returns the next stream. */
  take(): S | undefined {
    const stream = this.#due.take();
    if (stream !== undefined) this.taken++;
    return stream;
  }

  /** Removes a stream ahead of its turn. Returns whether it was queued. */
  takeAhead(stream: S): boolean {
    if (!this.#due.has(stream)) return false;
    this.#due.delete(stream);
    return true;
  }

  /** The client does not read. `stream`: set once the node is known. */
  stall(id: StreamId, stream: S | undefined): void {
    this.#stalled.add(id);
    if (stream !== undefined) this.#due.delete(stream);
  }

  /** The client reads again. */
  resume(id: StreamId, stream: S | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.add(stream);
  }

  /** Removes a stream that closed. */
  forget(id: StreamId, stream: S | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.#due.delete(stream);
  }
}
