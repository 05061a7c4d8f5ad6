import type { Socket } from "node:net";
import type { ChannelCredentials } from "@grpc/grpc-js";

/**
 * The TLS handshakes that are under way. grpc-js does not end them when a client is closed, and one that the other side
 * never answers would keep the process alive.
 */
export class Handshakes {
  readonly #sockets = new Set<Socket>();
  #isEnded = false;

  /** Returns the same credentials; the handshakes that are made with them are known here. */
  watch(credentials: ChannelCredentials): ChannelCredentials {
    const create = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...given) => {
      const connector = create(...given);
      const connect = connector.connect.bind(connector);
      connector.connect = async (socket) => {
        if (this.#isEnded) throw new Error("the client is closed");
        this.#sockets.add(socket);
        try {
          return await connect(socket);
        } finally {
          this.#sockets.delete(socket);
        }
      };
      return connector;
    };
    return credentials;
  }

  end(): void {
    this.#isEnded = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
