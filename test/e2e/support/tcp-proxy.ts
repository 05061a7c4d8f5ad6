import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy to the server on a free port, which counts bytes and can cut all connections. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Bytes since the last call, by sender. */
  take(): { readonly fromClient: number; readonly fromServer: number };
  /** Destroys all connections; after `refuse(true)`, new ones are destroyed too. */
  cut(): void;
  refuse(refusing: boolean): void;
  /** Carries nothing any more, without closing anything. */
  freeze(isFrozen: boolean): void;
  /** Changes the target of new connections. */
  target(port: number): void;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isRefusing = false;
  let goesTo = targetPort;
  let bytes = { fromClient: 0, fromServer: 0 };
  const follow = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  let isFrozen = false;
  const server = createServer((client) => {
    if (isRefusing) {
      client.on("error", () => {});
      client.destroy();
      return;
    }
    const target = connect({ host: "127.0.0.1", port: goesTo });
    follow(client, target);
    follow(target, client);
    client.on("data", (chunk) => {
      bytes.fromClient += chunk.length;
    });
    target.on("data", (chunk) => {
      bytes.fromServer += chunk.length;
    });
    client.pipe(target);
    target.pipe(client);
    if (isFrozen) for (const socket of [client, target]) socket.pause();
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    take() {
      const counted = bytes;
      bytes = { fromClient: 0, fromServer: 0 };
      return counted;
    },
    cut,
    refuse(refusing) {
      isRefusing = refusing;
    },
    freeze(frozen) {
      isFrozen = frozen;
      for (const socket of sockets) {
        if (frozen) socket.pause();
        else socket.resume();
      }
    },
    target(port) {
      goesTo = port;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
