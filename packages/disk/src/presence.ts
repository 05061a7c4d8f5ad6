import { closeSync, openSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";

/** A socket that shows that this process is alive. The kernel closes it when the process ends. */
export interface Presence {
  end(): void;
}

/** The limit of socket addresses on all systems. */
const LONGEST_ADDRESS_BYTES = 100;
/** An answer takes no longer than starting a thread. A process that does not answer in time counts as alive. */
const ANSWERED_WITHIN_MS = 30_000;
const ABSENT = 2;

/** Exits with 1, or with 2 if no process listens there. */
const KNOCK = `
const { workerData: { path, answer } } = require("node:worker_threads");
const tell = (value) => { Atomics.store(answer, 0, value); Atomics.notify(answer, 0); };
const socket = require("node:net").connect(path);
socket.on("connect", () => { tell(1); socket.destroy(); });
socket.on("error", ({ code }) => tell(code === "ECONNREFUSED" || code === "ENOENT" ? ${ABSENT} : 1));
`;

/**
 * The PID namespace of this process, which differs in each container. Undefined where the system does not tell (all but
 * Linux).
 */
export function processNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0];
  } catch {
    // Not Linux, or no permission.
    return undefined;
  }
}

/**
 * Listens on a socket at `path`, so that processes in other containers of this machine, which share the file but not
 * the process ids, know that this process is alive. Undefined if the file system does not support sockets.
 */
export function showPresence(path: string): Presence | undefined {
  return throughDirectory(path, (address) => {
    const server = createServer((socket) => socket.destroy());
    // Failures to listen are known at once; later only the existence of the listener matters, not its answers.
    server.on("error", () => undefined);
    server.listen({ path: address, exclusive: true });
    if (!server.listening) return undefined;
    server.unref();
    return { end: () => void server.close() };
  });
}

/**
 * Whether a process listens at `path`, possibly in another container of this machine. Blocks until the answer, which
 * another thread takes meanwhile.
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

/** Gives a socket a short address, however deep its directory is. Undefined if it has none. */
function throughDirectory<T>(path: string, use: (address: string) => T): T | undefined {
  const directory = openSync(dirname(path), "r");
  try {
    const address = join(`/proc/self/fd/${directory}`, basename(path));
    return Buffer.byteLength(address) > LONGEST_ADDRESS_BYTES ? undefined : use(address);
  } finally {
    closeSync(directory);
  }
}
