import type { Socket } from "node:net";
import { ChannelCredentials } from "@grpc/grpc-js";
import { dropAddressAsName } from "./server-name.ts";

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/**
 * Credentials that know the sockets of their connection. grpc-js goes on with a connection that it has begun, for as long as a server that took it says
 * nothing, though its channel was closed: that keeps a socket for each attempt, and the process.
 */
export class AbandonableCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #sockets = new Set<Socket>();
  #isAbandoned = false;

  constructor(inner: ChannelCredentials) {
    super();
    this.#inner = inner;
  }

  /** Nobody waits for the connection any more: its sockets go at once, also those that are just coming up. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return other === this;
  }

  override _createSecureConnector(...parts: Parameters<ChannelCredentials["_createSecureConnector"]>): SecureConnector {
    const inner = this.#inner._createSecureConnector(...parts);
    dropAddressAsName(inner);
    return {
      connect: (socket) => {
        this.#follow(socket);
        return inner.connect(socket);
      },
      waitForReady: () => inner.waitForReady(),
      getCallCredentials: () => inner.getCallCredentials(),
      destroy: () => inner.destroy(),
    };
  }

  #follow(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    if (this.#isAbandoned) socket.destroy();
  }
}
