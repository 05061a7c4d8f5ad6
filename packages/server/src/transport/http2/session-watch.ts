import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { blockedMessage } from "../stream-state.ts";
import type { Http2Failure } from "./http2.ts";

const LOOK_EVERY_MS = 2_000;
/** Milliseconds that a session without streams has to answer a PING. */
const SILENT_MS = 4_000;

export interface SessionWatchOptions {
  /** The streams of the session. */
  readonly streams: ReadonlySet<ServerHttp2Stream>;
  /** Milliseconds within which a client must read a message. */
  readonly maxBlockedMs: number;
  /** Called when the session has ended without an event from Node, or cannot end since its client does not read. */
  readonly onEnded: (failure: Http2Failure) => void;
}

/**
 * Detects a session that Node has silently ended: after an invalid frame, such as one that is too large, Node sends
 * GOAWAY and reads no more, so it does not notice that the client disconnected, and emits no event. Nor does it when a
 * client disconnects in the middle of a write over TLS. The sign is a PING that stays queued although nothing precedes it,
 * or only writes that exceed their time. After too many resets the PING does leave; then a session without streams that
 * does not answer it counts as ended. A session is checked once each time after input arrived.
 *
 * A session that Node has destroyed, after GOAWAY or an error, waits for a write in progress, for ever if the client reads
 * nothing: it gets the time of a message. So does one after GOAWAY whose calls have ended, which Node destroys only after
 * the write.
 */
export class SessionWatch {
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #options: SessionWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #seenBytes = 0;
  #askedAtBytes = 0;
  #isAsked = false;
  #waitedMs = 0;
  #endingMs = 0;

  constructor(session: ServerHttp2Session, socket: Socket, options: SessionWatchOptions) {
    this.#session = session;
    this.#socket = socket;
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.#isEnding) {
      this.#awaitClose();
      return;
    }
    this.#endingMs = 0;
    const { bytesRead } = this.#socket;
    const isQuiet = bytesRead === this.#seenBytes;
    this.#seenBytes = bytesRead;
    // What is read goes on.
    if (!isQuiet) return;
    if (this.#isAsked) this.#judge();
    else if (bytesRead !== this.#askedAtBytes) this.#ask();
  }

  /** Whether nothing but the end of a write is awaited. */
  get #isEnding(): boolean {
    const { destroyed, closed } = this.#session;
    return destroyed || (closed && [...this.#options.streams].every((stream) => stream.closed));
  }

  #awaitClose(): void {
    this.#endingMs += LOOK_EVERY_MS;
    const { maxBlockedMs, onEnded } = this.#options;
    if (this.#endingMs >= maxBlockedMs) onEnded({ kind: "blocked", reason: blockedMessage(maxBlockedMs) });
  }

  #ask(): void {
    this.#askedAtBytes = this.#seenBytes;
    this.#waitedMs = 0;
    this.#isAsked = this.#session.ping(() => {
      this.#isAsked = false;
      this.#seenBytes = this.#socket.bytesRead;
      this.#askedAtBytes = this.#seenBytes;
    });
  }

  #judge(): void {
    const { streams, maxBlockedMs, onEnded } = this.#options;
    const { outboundQueueSize = 0 } = this.#session.state;
    this.#waitedMs += LOOK_EVERY_MS;
    const isWriting = this.#waitedMs < maxBlockedMs && [...streams].some((stream) => stream.writableLength > 0);
    if (outboundQueueSize > 0 && !isWriting) {
      onEnded({ kind: "broken", reason: "an invalid frame, or the client left in the middle of a write" });
    } else if (streams.size === 0 && this.#waitedMs >= SILENT_MS) {
      onEnded({ kind: "silent", reason: "no answer to a PING, and no call is open" });
    }
  }
}
