import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line to a server that can be cut without either end hearing of it. */
export interface TcpLine {
  readonly address: { readonly host: string; readonly port: number };
  /** From now on nothing passes; both connections stay open. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTcpLine(to: { host: string; port: number }): Promise<TcpLine> {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(to);
    for (const socket of [near, far]) {
      sockets.push(socket);
      socket.on("error", () => undefined);
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: { host: "127.0.0.1", port },
    cut() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
