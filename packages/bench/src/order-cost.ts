import { format, median } from "./figures.ts";
import { quiet, tell } from "./peer.ts";
import { type Served, startServed } from "./served.ts";

/** The cost of changes with and without make before break. */
export interface OrderCost {
  readonly on: ChangeCost;
  readonly off: ChangeCost;
}

/** The measurements of changes, one after another, on one server. */
interface ChangeCost {
  /** Milliseconds from a change until the last client had the Cluster and its endpoints. */
  readonly ms: readonly number[];
  /** CPU time of the server for each change and its ACKs, in milliseconds. */
  readonly cpuMs: readonly number[];
}

const RESOURCES = 10_000;
const STREAMS = 1_000;

/**
 * Changes one Cluster among 10,000 for 1,000 delta streams, which also subscribe to all endpoints and a route, so that
 * each change sends the Cluster and its endpoints. Both servers run at once and change alternately, in alternating
 * order. `tools` is the directory of the load client.
 */
export async function measureOrder(rounds: number, tools: string): Promise<OrderCost> {
  await using on = await start(tools, []);
  await using off = await start(tools, ["--no-order"]);
  const costs = {
    on: { ms: [] as number[], cpuMs: [] as number[] },
    off: { ms: [] as number[], cpuMs: [] as number[] },
  };
  for (let round = 0; round <= rounds; round++) {
    const pair = [
      [on, costs.on],
      [off, costs.off],
    ] as const;
    for (const [served, { ms, cpuMs }] of round % 2 === 0 ? pair : pair.toReversed()) {
      const cost = await change(served);
      // The first round warms up the code.
      if (round === 0) continue;
      ms.push(cost.ms);
      cpuMs.push(cost.cpuMs);
    }
  }
  return costs;
}

function start(tools: string, flags: readonly string[]): Promise<Served> {
  const load = ["-streams", String(STREAMS), "-endpoints", String(RESOURCES)];
  return startServed({ tools, resources: RESOURCES, flags: ["--endpoints", ...flags], load });
}

async function change({ server, client }: Served): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const { cpuSeconds } = server.usage();
  await tell(client, "arm", "armed");
  client.say("wait");
  const { at } = await tell(server, "change", "changed");
  const { all, last } = await client.hears("received");
  if (all !== true) throw new Error("a change did not reach every stream");
  await quiet(server);
  const ms = Number(BigInt(String(last)) - BigInt(String(at))) / 1e6;
  return { ms, cpuMs: (server.usage().cpuSeconds - cpuSeconds) * 1_000 };
}

/** Formats median times, mean CPU times (whose clock ticks every 10 ms) and their ratios as a Markdown table. */
export function orderTable({ on, off }: OrderCost): string {
  const columns = [
    ["on", median(on.ms), mean(on.cpuMs)],
    ["off", median(off.ms), mean(off.cpuMs)],
  ] as const;
  const ratios = [median(on.ms) / median(off.ms), mean(on.cpuMs) / mean(off.cpuMs)];
  return [
    "| make before break | 1 change, last client, ms | server CPU for it, ms |",
    "| --- | --- | --- |",
    ...columns.map(([name, ms, cpuMs]) => `| ${[name, format(ms), format(cpuMs)].join(" | ")} |`),
    `| on / off | ${ratios.map((ratio) => ratio.toFixed(2)).join(" | ")} |`,
  ].join("\n");
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
