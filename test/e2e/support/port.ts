import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const LOWEST = 10_000;
/** Linux: the ports from which the kernel takes one for each outgoing connection. */
const RANGE_FILE = "/proc/sys/net/ipv4/ip_local_port_range";

const given = new Set<number>();

/** Test files run in several processes, all of which find the same port free until somebody listens there. */
const LANES = 8;
const lane = Number(process.env["VITEST_POOL_ID"] ?? "0") % LANES;

/**
 * A port of 127.0.0.1, for a process that must be told where to listen, or that listens there again after a restart.
 * Nobody listens at it, no process that runs tests has been given it before, and no outgoing connection
 * gets it: one that a client opens elsewhere would keep the server from listening.
 */
export async function freePort(): Promise<number> {
  const highest = lowestOutgoing() - 1;
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (highest - LOWEST + 1));
    if (given.has(port) || port % LANES !== lane) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

/** Several free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

function lowestOutgoing(): number {
  try {
    const lowest = Number(readFileSync(RANGE_FILE, "utf8").split("\t")[0]);
    // A range that leaves too few is a machine's own choice, and then chance has to do.
    if (lowest > LOWEST + 1_000) return lowest;
  } catch {
    // Other systems begin no lower.
  }
  return 32_768;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
