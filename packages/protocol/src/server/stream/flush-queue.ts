import type { StreamId } from "../contract/event.ts";
import { Fifo } from "../memory/fifo.ts";

/** What the queue reads of a stream. */
interface QueuedStream {
  readonly opened: { readonly stream: StreamId };
}

/** One stream that asked for something is flushed after so many that something changed for: its answer may be the largest. */
export const CHANGED_PER_ASKING = 8;

/**
 * The streams to be flushed, in two rows that take turns: those that asked for something or whose wait ended, and those
 * that something changed for. Thousands of clients that come at once do not delay a change for others, nor the other way round. A
 * stream whose client does not read is in neither (S-GRP-07).
 */
export class FlushQueue<S extends QueuedStream> {
  readonly #changed = new Fifo<S>();
  readonly #asking = new Fifo<S>();
  /** Those whose client does not read, and whether they asked for something. */
  readonly #stalled = new Map<StreamId, boolean>();
  /** How many of `#changed` had a turn since the last of `#asking`. */
  #changedInARow = 0;
  /** How many streams that something changed for were taken from the front so far. */
  takenChanged = 0;

  /** How many streams wait that something changed for, and that have not asked for anything. */
  get changed(): number {
    return this.#changed.size;
  }

  get isEmpty(): boolean {
    return this.#changed.isEmpty && this.#asking.isEmpty;
  }

  /** Whether a stream waits that asked for something. */
  get hasAsking(): boolean {
    return !this.#asking.isEmpty;
  }

  /** Whether a stream asked for something and was not flushed since, be it because its client does not read. */
  isAsking(stream: S): boolean {
    return this.#asking.has(stream) || this.#stalled.get(stream.opened.stream) === true;
  }

  /** Queues a stream that something changed for, unless it is stalled; one that is queued keeps its place. */
  add(stream: S): void {
    if (!this.#stalled.has(stream.opened.stream) && !this.#asking.has(stream)) this.#changed.add(stream);
  }

  /** Moves a queued stream to those that asked for something or whose wait ended, or one that is stalled once it is queued. */
  asks(stream: S): void {
    const { stream: id } = stream.opened;
    if (this.#stalled.has(id)) this.#stalled.set(id, true);
    if (!this.#changed.has(stream)) return;
    this.#changed.delete(stream);
    this.#asking.add(stream);
  }

  /** Whose turn is next; a turn each time. */
  takeTurn(): "asking" | "changed" {
    const isTurnOfAsking = this.hasAsking && (this.#changedInARow >= CHANGED_PER_ASKING || this.#changed.isEmpty);
    this.#changedInARow = isTurnOfAsking ? 0 : this.#changedInARow + 1;
    return isTurnOfAsking ? "asking" : "changed";
  }

  /** Removes and returns the next stream of a row. */
  take(row: "asking" | "changed"): S | undefined {
    if (row === "asking") return this.#asking.take();
    const stream = this.#changed.take();
    if (stream !== undefined) this.takenChanged++;
    return stream;
  }

  /** Removes a stream from its row. */
  remove(stream: S): void {
    this.#asking.delete(stream);
    this.#changed.delete(stream);
  }

  /** The client does not read. `stream`: set once the node is known. */
  stall(id: StreamId, stream: S | undefined): void {
    this.#stalled.set(id, stream !== undefined && this.#asking.has(stream));
    if (stream !== undefined) this.remove(stream);
  }

  /** The client reads again. */
  resume(id: StreamId, stream: S | undefined): void {
    const asked = this.#stalled.get(id);
    this.#stalled.delete(id);
    if (stream === undefined) return;
    this.add(stream);
    if (asked === true) this.asks(stream);
  }

  /** Removes a stream that closed. */
  forget(id: StreamId, stream: S | undefined): void {
    this.#stalled.delete(id);
    if (stream !== undefined) this.remove(stream);
  }
}
