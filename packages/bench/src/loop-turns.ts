import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

// Loaded into a server with `--import`: measures the processor time of each turn of its event loop, which other
// programs on the machine do not lengthen, and tells it on stderr when it reads a line on stdin.

/** A turn of the event loop may take so long, in milliseconds. */
const LONG_MS = 20;

/** The processor time of the main thread, in milliseconds. */
function threadMs(descriptor: number, memory: Buffer): number {
  const length = readSync(descriptor, memory, 0, memory.length, 0);
  return Number(memory.toString("latin1", 0, length).split(" ")[0]) / 1e6;
}

function measureTurns(): void {
  const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const memory = Buffer.alloc(64);
  let longest: number[] = [];
  let before = threadMs(descriptor, memory);
  let isOn = false;
  const turn = (): void => {
    if (!isOn) return;
    const now = threadMs(descriptor, memory);
    const ms = now - before;
    before = now;
    if (ms > LONG_MS / 4) longest.push(ms);
    setImmediate(turn);
  };
  process.stdin.on("data", () => {
    const turns = longest.sort((a, b) => b - a);
    const told = { event: "turns", long: turns.filter((ms) => ms > LONG_MS).length, longest: turns.slice(0, 5) };
    longest = [];
    writeSync(2, `${JSON.stringify(told)}\n`);
    if (isOn) return;
    isOn = true;
    before = threadMs(descriptor, memory);
    turn();
  });
  process.stdin.unref();
  process.once("exit", () => closeSync(descriptor));
}

if (isMainThread) measureTurns();
