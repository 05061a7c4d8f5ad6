import { closeSync, openSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";

/** A sign of life that stands in a directory. The kernel ends it together with the process. */
export interface Presence {
  end(): void;
}

/** What fits into the address of a socket everywhere. */
const LONGEST_ADDRESS_BYTES = 100;
/** To be answered takes no longer than to start a thread. Who is not is taken to be there. */
const ANSWERED_WITHIN_MS = 30_000;
const ABSENT = 2;

/** Ends with 1, or with 2 if nobody listens there. */
const KNOCK = `
const { workerData: { path, answer } } = require("node:worker_threads");
const tell = (value) => { Atomics.store(answer, 0, value); Atomics.notify(answer, 0); };
const socket = require("node:net").connect(path);
socket.on("connect", () => { tell(1); socket.destroy(); });
socket.on("error", ({ code }) => tell(code === "ECONNREFUSED" || code === "ENOENT" ? ${ABSENT} : 1));
`;

/**
 * The set of processes that see each other by their ids, which is another one in each container. Undefined where the system does not tell
 * (all but Linux).
 */
export function processNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0];
  } catch {
    // Another system, or not for everybody.
    return undefined;
  }
}

/**
 * Listens at a socket at `path`, so that processes of other containers on this machine know that we live: they see no process of ours, but the
 * same file. Undefined if the file system bears none.
 */
export function showPresence(path: string): Presence | undefined {
  return throughDirectory(path, (address) => {
    const server = createServer((socket) => socket.destroy());
    // What it cannot be is known at once; afterwards nothing depends on whether a knock is answered, only on there being a door.
    server.on("error", () => undefined);
    server.listen({ path: address, exclusive: true });
    if (!server.listening) return undefined;
    server.unref();
    return { end: () => void server.close() };
  });
}

/**
 * Whether somebody listens at `path`, who may be in another container on this machine. Waits for the answer, which only another thread
 * can take while this one waits.
 */
export function isPresent(path: string): boolean {
  const answer = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const said = throughDirectory(path, (address) => {
    const worker = new Worker(KNOCK, { eval: true, execArgv: [], workerData: { path: address, answer } });
    worker.unref();
    worker.on("error", () => undefined);
    Atomics.wait(answer, 0, 0, ANSWERED_WITHIN_MS);
    void worker.terminate();
    return Atomics.load(answer, 0);
  });
  return said !== ABSENT;
}

/** Gives a socket a short address, however deep its directory is. Undefined if there is none. */
function throughDirectory<T>(path: string, use: (address: string) => T): T | undefined {
  const directory = openSync(dirname(path), "r");
  try {
    const address = join(`/proc/self/fd/${directory}`, basename(path));
    return Buffer.byteLength(address) > LONGEST_ADDRESS_BYTES ? undefined : use(address);
  } finally {
    closeSync(directory);
  }
}
