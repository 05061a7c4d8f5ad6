import { createServer, type Server, type Socket } from "node:net";
import { listenError } from "../error.ts";
import { startListening } from "../transport/start-listening.ts";
import type { BoundAddress } from "../transport/transport.ts";

/** As many connections may wait to be accepted; see the transport. */
const BACKLOG = 4_096;

/** An address where clients connect to any of the workers. */
export class ConnectionSource {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Throws an `XdsError` (LISTEN_FAILED). Nothing of a connection is read here. */
  static async open(
    { host, port }: BoundAddress,
    onConnection: (socket: Socket) => void,
    onFailedAccept: (cause: Error) => void,
  ): Promise<{ readonly source: ConnectionSource; readonly address: BoundAddress }> {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, onConnection);
    try {
      await startListening(server, { host, port, backlog: BACKLOG }, onFailedAccept);
    } catch (cause) {
      throw listenError(`at ${host}:${port}`, cause);
    }
    const bound = server.address();
    const address =
      typeof bound === "object" && bound !== null ? { host: bound.address, port: bound.port } : { host, port };
    return { source: new ConnectionSource(server), address };
  }

  /** Accepts no more connections. Those that were handed on are not of this process any more. */
  close(): void {
    this.#server.close();
  }
}
