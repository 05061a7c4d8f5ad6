import type { Status } from "@xdskit/protocol";
import type { OutgoingMessage } from "./message.ts";
import type { StreamHandle } from "./port.ts";

/** Maximum bytes of one write. TLS encrypts a whole write at once, even for a client that does not read. */
const SLICE_BYTES = 256 * 1024;
/** A client with more unsent bytes than this counts as stalled. */
const STALL_BYTES = SLICE_BYTES;
/** Adjacent pieces smaller than this are copied together. */
const SMALL_PIECE_BYTES = 4 * 1024;

/** State changes that the outbox reports. */
export type OutboxChange = "stalled" | "drained" | "ended";

/**
 * The write buffer of one stream. One write runs at a time; messages added meanwhile form the next. Only small pieces
 * are copied.
 */
export class Outbox {
  readonly #handle: StreamHandle;
  readonly #changed: (change: OutboxChange) => void;
  #pieces: Uint8Array[] = [];
  #first = 0;
  #pendingBytes = 0;
  #writingBytes = 0;
  #writingSince = 0;
  #isStalled = false;
  #endWith: Status | undefined;
  #isOver = false;

  constructor(handle: StreamHandle, changed: (change: OutboxChange) => void) {
    this.#handle = handle;
    this.#changed = changed;
  }

  /** Bytes that the transport has not accepted yet. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Milliseconds since the current write began; 0 without one. */
  blockedMs(nowMs: number): number {
    return this.#writingBytes === 0 ? 0 : nowMs - this.#writingSince;
  }

  /** Adds a message. It leaves with the next `flush`. */
  push({ pieces, byteLength }: OutgoingMessage): void {
    if (this.#isOver || this.#endWith !== undefined) return;
    if (this.#pieces.length === 0) this.#pieces = [...pieces];
    else for (const piece of pieces) this.#pieces.push(piece);
    this.#pendingBytes += byteLength;
  }

  /** Writes the buffered messages unless a write is in progress. */
  flush(): void {
    if (this.#isOver) return;
    if (this.#writingBytes === 0) this.#writeNext();
    if (!this.#isStalled && this.#pendingBytes > STALL_BYTES) {
      this.#isStalled = true;
      this.#changed("stalled");
    }
  }

  /** Ends the stream after all buffered messages. */
  end(status: Status): void {
    if (this.#isOver || this.#endWith !== undefined) return;
    this.#endWith = status;
    if (this.#writingBytes === 0) this.#writeNext();
  }

  /** Resets the stream at once and drops buffered messages. */
  reset(status: Status): void {
    if (this.#isOver) return;
    this.abandon();
    this.#handle.reset(status);
  }

  /** Drops buffered messages; the handle is not called again. */
  abandon(): void {
    this.#isOver = true;
    this.#pieces = [];
    this.#pendingBytes = 0;
    this.#writingBytes = 0;
  }

  readonly #written = (): void => {
    if (this.#isOver) return;
    this.#pendingBytes -= this.#writingBytes;
    this.#writingBytes = 0;
    this.#writeNext();
    if (this.#isStalled && this.#pendingBytes === 0) {
      this.#isStalled = false;
      this.#changed("drained");
    }
  };

  #writeNext(): void {
    if (this.#first < this.#pieces.length) {
      const { pieces, byteLength } = this.#takeSlice();
      this.#writingBytes = byteLength;
      this.#writingSince = performance.now();
      this.#handle.write(pieces, this.#written);
    } else if (this.#endWith !== undefined) {
      this.#isOver = true;
      this.#handle.end(this.#endWith);
      this.#changed("ended");
    }
  }

  #takeSlice(): OutgoingMessage {
    if (this.#first === 0 && this.#pendingBytes <= SLICE_BYTES) {
      const pieces = joinSmall(this.#pieces);
      this.#pieces = [];
      return { pieces, byteLength: this.#pendingBytes };
    }
    const taken: Uint8Array[] = [];
    let room = SLICE_BYTES;
    while (room > 0) {
      const piece = this.#pieces[this.#first];
      if (piece === undefined) break;
      if (piece.byteLength <= room) {
        taken.push(piece);
        this.#first++;
        room -= piece.byteLength;
      } else {
        taken.push(piece.subarray(0, room));
        this.#pieces[this.#first] = piece.subarray(room);
        room = 0;
      }
    }
    if (this.#first === this.#pieces.length) {
      this.#pieces = [];
      this.#first = 0;
    } else if (this.#first > 1_000) {
      this.#pieces = this.#pieces.slice(this.#first);
      this.#first = 0;
    }
    return { pieces: joinSmall(taken), byteLength: SLICE_BYTES - room };
  }
}

/** Merges runs of small pieces; leaves large ones as they are. */
function joinSmall(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  if (pieces.length <= 1) return pieces;
  const joined: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  const endRun = (): void => {
    const only = run.length === 1 ? run[0] : undefined;
    if (run.length > 0) joined.push(only ?? Buffer.concat(run));
    run = [];
  };
  for (const piece of pieces) {
    if (piece.byteLength < SMALL_PIECE_BYTES) run.push(piece);
    else {
      endRun();
      joined.push(piece);
    }
  }
  endRun();
  return joined;
}
