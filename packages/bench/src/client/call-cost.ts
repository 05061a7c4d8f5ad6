import { Cluster, createXdsClient, type LoadReporting, type XdsClient } from "@xdskit/client";
import { format, median } from "../figures.ts";

/** Calls per measurement. */
const CALLS = 100_000;
/** Fewer for watches, as each uses memory until it is closed. */
const WATCHES = 10_000;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 9;

/** Measures calls that programs make per request or per name, in CPU time of one call. No server answers. */
export async function measureCalls(): Promise<string> {
  await using client = await createXdsClient({ server: "127.0.0.1:1", node: "bench" });
  const load = client.reportLoad();
  const place = { cluster: "web", locality: { region: "r", zone: "z" }, priority: 1, address: "10.0.0.1:80" };
  const rows = [
    row("start and succeed", () => each(CALLS, () => load.start(place).succeed())),
    row("drop", () => each(CALLS, () => load.drop("web", "overload"))),
    row("connect, succeed and close", () => each(CALLS, () => connectAndClose(load))),
    row("watch of a name", () => watchAndClose(client)),
  ];
  load.close();
  return ["| call | µs |", "| --- | --- |", ...rows].join("\n");
}

function connectAndClose(load: LoadReporting): void {
  const connection = load.connect({ cluster: "web" });
  connection.succeed();
  connection.close();
}

function watchAndClose(client: XdsClient): number {
  const options = { onChange: () => {} };
  const watches = new Set<{ close(): void }>();
  const microseconds = each(WATCHES, (i) => watches.add(client.watch(Cluster, `cluster-${i}`, options)));
  for (const watch of watches) watch.close();
  return microseconds;
}

/** Microseconds of CPU time per call. */
function each(count: number, call: (i: number) => unknown): number {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i++) call(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

function row(name: string, measure: () => number): string {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) measure();
  return `| ${name} | ${format(median(Array.from({ length: ROUNDS }, measure)))} |`;
}
