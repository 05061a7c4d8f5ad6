import type { Socket } from "node:net";
import type { Limits } from "../limits.ts";

/** As a share of the connections, and at most: how many more sockets are open, for clients that are told of the limit. */
const BESIDE_CONNECTIONS = 1 / 8;
const BESIDE_CONNECTIONS_AT_MOST = 128;

/**
 * The open sockets of clients, on all ports. A socket is a connection once a protocol was spoken on it; until then it is
 * silent, and has to make room if there are too many. Otherwise clients that say nothing could take all places, and all
 * files that the process may have open.
 */
export class OpenSockets {
  readonly #most: number;
  /** By key, the longest silent first. */
  readonly #silent = new Map<string, Socket>();
  /** Where the search for the longest silent continues: what is before it made room. */
  #longestSilent: IterableIterator<[string, Socket]> = this.#silent.entries();
  #open = 0;
  #ports = 0;

  /** `most`: how many may be open. */
  constructor(most: number) {
    this.#most = most;
  }

  /** For clients, some of which are told of the limit of connections. */
  static within({ maxConnections }: Pick<Limits, "maxConnections">): OpenSockets {
    const beside = Math.min(Math.ceil(maxConnections * BESIDE_CONNECTIONS), BESIDE_CONNECTIONS_AT_MOST);
    return new OpenSockets(maxConnections + beside);
  }

  /** The number of a new port, to make keys of. */
  addPort(): number {
    return this.#ports++;
  }

  /**
   * Counts a socket until it closes. Returns the socket that has to be closed in return, perhaps the same one; undefined:
   * there is room.
   *
   * @param key Unique among open sockets.
   */
  add(key: string, socket: Socket): Socket | undefined {
    this.#open++;
    this.#silent.set(key, socket);
    socket.once("close", () => {
      this.#open--;
      if (this.#silent.get(key) === socket) this.#silent.delete(key);
    });
    return this.#open > this.#most ? this.#takeLongestSilent() : undefined;
  }

  /** A protocol was spoken: the socket is a connection now. */
  speaks(key: string): void {
    this.#silent.delete(key);
  }

  #takeLongestSilent(): Socket | undefined {
    let next = this.#longestSilent.next();
    if (next.done === true) {
      this.#longestSilent = this.#silent.entries();
      next = this.#longestSilent.next();
    }
    if (next.done === true) return undefined;
    const [key, socket] = next.value;
    this.#silent.delete(key);
    return socket;
  }
}
