import type { Server, Socket } from "node:net";

/**
 * Returns the function that closes a server with all its connections. Node's `closeAllConnections` leaves those whose TLS
 * handshake is under way, and without an idle timeout they keep the server open for ever.
 */
export function closing(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}
