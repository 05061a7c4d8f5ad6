import { type AddressInfo, createServer } from "node:net";

const given = new Set<number>();

/** Test files run in two processes; the system may offer both the same port until somebody listens there. */
const LANES = 2;
const lane = Number(process.env["VITEST_POOL_ID"] ?? "0") % LANES;

/** A free port of 127.0.0.1 that neither this process nor the other lane has been given before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await askForPort();
    // Linux prefers odd ports here, so the lanes divide pairs.
    if (!given.has(port) && (port >> 1) % LANES === lane) {
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
