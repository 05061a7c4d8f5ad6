import { Allowance } from "./allowance.ts";
import { ConnectionError } from "./connection-error.ts";
import { errorCode } from "./frame.ts";
import { CUT_FRAMES, IDLE_FRAMES, MAX_UNREAD_REPLIES, REFUSALS, RESETS, SMALL_DATA_BYTES } from "./limits.ts";

export interface FloodLimitOptions {
  /** Streams that may be open at the same time. */
  readonly maxStreams: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/**
 * Counts what a client may do only so often, since it costs the server more than the client. What is too much throws a
 * `ConnectionError`. A client that does nothing of the kind costs no memory.
 */
export class FloodLimits {
  readonly #options: FloodLimitOptions;
  #resets: Allowance | undefined;
  #refusals: Allowance | undefined;
  #idleFrames: Allowance | undefined;
  #cutFrames: Allowance | undefined;
  #unreadReplies = 0;
  /** Those of them that no output has taken. */
  #untakenReplies = 0;

  constructor(options: FloodLimitOptions) {
    this.#options = options;
  }

  /** The client reset a stream, or made the server reset it. */
  countReset(): void {
    this.#resets ??= new Allowance(RESETS);
    this.#take(this.#resets, "too many streams were reset");
  }

  countRefusal(): void {
    const { burst, perSecond } = REFUSALS;
    this.#refusals ??= new Allowance({ burst: burst + this.#options.maxStreams, perSecond });
    this.#take(this.#refusals, "too many streams were refused");
  }

  /** A frame came that carries nothing. */
  countIdleFrame(): void {
    this.#idleFrames ??= new Allowance(IDLE_FRAMES);
    this.#take(this.#idleFrames, "too many frames that carry nothing");
  }

  /** Counts DATA that is sent. `isCut`: a window cuts it off a message. Returns false instead of throwing. */
  countData(byteLength: number, isCut: boolean): boolean {
    if (byteLength >= SMALL_DATA_BYTES) this.#cutFrames?.give();
    else if (isCut) {
      this.#cutFrames ??= new Allowance(CUT_FRAMES);
      return this.#cutFrames.take(this.#options.now());
    }
    return true;
  }

  /** An answer is sent that the client can ask for as often as it likes. */
  countReply(): void {
    this.#unreadReplies++;
    this.#untakenReplies++;
    if (this.#unreadReplies <= MAX_UNREAD_REPLIES) return;
    throw new ConnectionError(errorCode.enhanceYourCalm, `more than ${MAX_UNREAD_REPLIES} answers are not read`);
  }

  /** Takes the number of answers since the last call, for `repliesRead`. */
  takeReplies(): number {
    const replies = this.#untakenReplies;
    this.#untakenReplies = 0;
    return replies;
  }

  repliesRead(replies: number): void {
    this.#unreadReplies -= replies;
  }

  #take(allowance: Allowance, reason: string): void {
    if (!allowance.take(this.#options.now())) throw new ConnectionError(errorCode.enhanceYourCalm, reason);
  }
}
