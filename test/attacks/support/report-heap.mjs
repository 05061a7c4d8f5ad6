// Loaded into the server under attack: a write beyond a limit of the file size fails, as one to a full disk does. On SIGUSR2, prints the longest turn of the event loop since the last time, then
// collects garbage and prints the number of bytes in use.
import { Session } from "node:inspector/promises";

const LOOK_EVERY_MS = 5;

const session = new Session();
session.connect();

/** A turn in milliseconds: of processor time, or of elapsed time where other threads work meanwhile. */
let longestMs = 0;
let last = now();
setInterval(() => {
  const { elapsedMs, cpuMs } = now();
  longestMs = Math.max(longestMs, Math.min(elapsedMs - last.elapsedMs, cpuMs - last.cpuMs));
  last = { elapsedMs, cpuMs };
}, LOOK_EVERY_MS).unref();

function now() {
  const { user, system } = process.cpuUsage();
  return { elapsedMs: performance.now(), cpuMs: (user + system) / 1000 };
}

process.on("SIGXFSZ", () => undefined); // it would end the process otherwise

process.on("SIGUSR2", async () => {
  process.stderr.write(`longest turn: ${longestMs.toFixed(1)} ms\n`);
  // Objects that a finalizer releases need another round.
  for (let round = 0; round < 3; round++) {
    await session.post("HeapProfiler.collectGarbage");
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  longestMs = 0;
  last = now();
  process.stderr.write(`bytes after collection: ${heapUsed + external}\n`);
});
