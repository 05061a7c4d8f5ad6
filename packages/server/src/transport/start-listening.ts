import type { ListenOptions, Server } from "node:net";

/**
 * Listens, and rejects with the system's error if it cannot. What goes wrong later, when a connection is accepted, is
 * passed on: the system may be out of files or memory for a while, and an event of which nobody takes note would end the
 * process.
 */
export async function startListening(
  server: Server,
  options: ListenOptions,
  onFailedAccept: (cause: Error) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      server.on("error", onFailedAccept);
      resolve();
    });
  });
}

/** The report of a connection that was not accepted, at the address where the server listens. */
export function failedAccept(
  where: string,
  { message }: Error,
): { readonly kind: "connection-refused"; readonly address: undefined; readonly reason: string } {
  return {
    kind: "connection-refused",
    address: undefined,
    reason: `no connection was accepted at ${where}: ${message}`,
  };
}
