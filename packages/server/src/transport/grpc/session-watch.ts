import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

const LOOK_EVERY_MS = 2_000;
/** A session without streams has so long to answer a PING. */
const SILENT_MS = 4_000;

export interface SessionWatchOptions {
  /** The streams of the session. */
  readonly streams: ReadonlySet<ServerHttp2Stream>;
  /** Milliseconds that a message to the client may take to leave. */
  readonly maxBlockedMs: number;
  /** The session is over, and nobody was told. */
  readonly onEnded: (how: "broken" | "silent") => void;
}

/**
 * Finds a session that has answered a frame it cannot go on from, such as one that is too large, with a GOAWAY by itself. Node
 * then reads no more, so that it does not notice either that the client is gone, and says nothing of it. What tells is that a
 * PING stays in its queue although nothing stands before it, or only what waits for longer than it may. After too many resets
 * the PING does leave; then a session without streams that does not answer it is taken for over. A session is asked once after
 * each time that something came.
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
    const { bytesRead } = this.#socket;
    const isQuiet = bytesRead === this.#seenBytes;
    this.#seenBytes = bytesRead;
    // What is read goes on.
    if (!isQuiet || this.#session.destroyed) return;
    if (this.#isAsked) this.#judge();
    else if (bytesRead !== this.#askedAtBytes) this.#ask();
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
    if (outboundQueueSize > 0 && !isWriting) onEnded("broken");
    else if (streams.size === 0 && this.#waitedMs >= SILENT_MS) onEnded("silent");
  }
}
