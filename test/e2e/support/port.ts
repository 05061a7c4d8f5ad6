import { type AddressInfo, createServer } from "node:net";

const given = new Set<number>();

/** A free port of 127.0.0.1 that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await askForPort();
    if (!given.has(port)) {
      given.add(port);
      return port;
    }
  }
}

/** Several free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

function askForPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
