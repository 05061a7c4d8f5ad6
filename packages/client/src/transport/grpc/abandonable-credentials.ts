import { isIP, type Socket } from "node:net";
import { ChannelCredentials } from "@grpc/grpc-js";

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/**
 * Credentials that track the sockets of their connection. After a channel is closed, grpc-js keeps a connection attempt
 * open while the server accepts it and stays silent, which leaks a socket per attempt and keeps the process alive.
 */
export class AbandonableCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;
  readonly #sockets = new Set<Socket>();
  #isAbandoned = false;

  constructor(inner: ChannelCredentials) {
    super();
    this.#inner = inner;
  }

  /** Destroys the sockets at once, including those still connecting. */
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

/**
 * Keeps IP addresses out of the TLS server name (SNI). grpc-js sends every host, but RFC 6066 forbids addresses: some
 * servers reject them, and Node.js warns. The certificate is verified for the address as before.
 */
function dropAddressAsName(connector: object): void {
  if (!("connectionOptions" in connector)) return;
  const { connectionOptions } = connector;
  if (typeof connectionOptions !== "object" || connectionOptions === null) return;
  if (!("servername" in connectionOptions) || isIP(String(connectionOptions.servername)) === 0) return;
  delete connectionOptions.servername;
}
