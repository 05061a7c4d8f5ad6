import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Counts the clusters that a client receives. */
export interface Tally {
  told(): void;
  /** The bytes of all resources that the client holds. */
  bytes: number;
}

/** A client under measurement. Exactly one of its methods is called, once. */
export interface ClientUnderTest {
  /** Watches all clusters. */
  watchAll(): void;
  /** Watches each of the names. */
  watchEach(names: readonly string[]): void;
}

/**
 * Runs the process of a measured client, which reads commands as lines and answers with JSON lines, like the load
 * client. `sync N` and `names N` answer when N clusters arrived; `arm N` prepares to report the last of N changes;
 * `memory` reports memory after garbage collection.
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

/** CPU time since `since`, or since the process started, in milliseconds. */
function cpuMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

function nameOf(i: number): string {
  return `cluster-${String(i).padStart(6, "0")}`;
}

/** Reports memory after garbage collection. */
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
