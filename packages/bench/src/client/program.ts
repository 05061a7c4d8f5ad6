import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How a program is told that a cluster has come, or come anew. */
export interface Tally {
  told(): void;
  /** Of what is held: bytes of resources alone. */
  bytes: number;
}

/** A client under measurement. Both are called at most once, and one of the two only. */
export interface ClientUnderTest {
  /** Asks for everything. */
  watchAll(): void;
  /** Asks for each of the names by itself. */
  watchEach(names: readonly string[]): void;
}

/**
 * The process around a client that is measured: commands come as lines, answers leave as lines of JSON, as load clients have it. `sync N` and
 * `names N` answer when N clusters were told; `arm N` before changes, so that the last of N is noted; `memory` after collecting garbage.
 */
export async function runProgram(make: (tally: Tally) => ClientUnderTest): Promise<void> {
  let expected = Number.POSITIVE_INFINITY;
  let told = 0;
  let began = { at: 0, cpu: process.cpuUsage() };
  let event = "synced";
  const tally: Tally = {
    bytes: 0,
    told() {
      if (++told === expected) finish();
    },
  };
  const begin = (what: string, count: number): void => {
    event = what;
    expected = count;
    told = 0;
    began = { at: performance.now(), cpu: process.cpuUsage() };
  };
  const finish = (): void => {
    const at = String(BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n);
    say({ event, ms: performance.now() - began.at, cpuMs: cpuMs(began.cpu), at, bytes: tally.bytes });
  };
  const client = make(tally);
  say({ event: "ready", cpuMs: cpuMs() });
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, many] = line.split(" ");
    const count = Number(many);
    if (command === "sync" || command === "names") begin("synced", count);
    if (command === "sync") client.watchAll();
    else if (command === "names") client.watchEach(Array.from({ length: count }, (_, i) => nameOf(i)));
    else if (command === "memory") await tellMemory();
    else if (command === "arm") {
      begin("received", count);
      say({ event: "armed" });
    }
  }
}

/** Since then, or since the process was started. */
function cpuMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

function nameOf(i: number): string {
  return `cluster-${String(i).padStart(6, "0")}`;
}

/** What is left when everything that can be collected was. */
async function tellMemory(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let i = 0; i < 4; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  say({ event: "memory", heap: heapUsed + external, resident: rss });
}

function say(what: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
