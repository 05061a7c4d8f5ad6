import type { Cell } from "../cells.ts";
import { format, median } from "../figures.ts";
import { type Measurement, measure } from "../measure.ts";
import { sampleReplicaLag } from "../replica-lag.ts";
import {
  type LinearCost,
  lineThrough,
  type ServerModel,
  type SimulatedFleet,
  smallestFleet,
  valueAt,
} from "./simulate.ts";

const RESOURCES = 1_000;
/** The model goes through the first two, and is checked against the third. */
const STREAMS = [2_000, 6_000, 10_000] as const;
const CLIENTS = [100_000, 1_000_000];
const LIMITS = { changeMs: 1_000, residentMb: 2_048, connections: 50_000 };
const SEED = 1;

/** Measures servers, checks a model of them against a larger one, and simulates fleets that no machine here can hold. */
export async function measureFleets(runs: number, tools: string): Promise<string> {
  const lagMs = await sampleReplicaLag(tools);
  if (lagMs === undefined) return "fleet: skipped, there is no etcd (npm run peers)";
  const [small, middle, large] = [
    await measureCell(STREAMS[0], runs, tools),
    await measureCell(STREAMS[1], runs, tools),
    await measureCell(STREAMS[2], runs, tools),
  ];
  const line = (of: (point: Point) => number): LinearCost =>
    lineThrough([small.streams, of(small)], [middle.streams, of(middle)]);
  const model: ServerModel = {
    firstSyncMs: line((point) => point.firstSyncMs),
    reconnectMs: line((point) => point.reconnectMs),
    changeMs: line((point) => point.changeMs),
    residentMb: line((point) => point.residentMb),
    firstSyncBytes: middle.firstSyncBytes / middle.streams,
    reconnectBytes: middle.reconnectBytes / middle.streams,
    changeBytes: middle.changeBytes / middle.streams,
    lagMs,
  };
  const random = randomFrom(SEED);
  return `${checkTable(model, large)}\n\n${fleetTable(CLIENTS.map((clients) => smallestFleet(model, clients, LIMITS, random)))}`;
}

interface Point {
  readonly streams: number;
  readonly firstSyncMs: number;
  readonly reconnectMs: number;
  readonly changeMs: number;
  readonly residentMb: number;
  readonly firstSyncBytes: number;
  readonly reconnectBytes: number;
  readonly changeBytes: number;
}

async function measureCell(streams: number, runs: number, tools: string): Promise<Point> {
  const cell: Cell = {
    name: `${RESOURCES} x ${streams} delta`,
    ...{ resources: RESOURCES, streams, variant: "delta", caches: [], reconnects: true, isLong: false },
  };
  const all: Measurement[] = [];
  for (let run = 0; run < runs; run++) {
    process.stderr.write(`${cell.name}, run ${run + 1} of ${runs}\n`);
    all.push(await measure(cell, "xdskit", { tools, before: undefined }));
  }
  const of = (pick: (one: Measurement) => number | undefined): number =>
    median(all.map((one) => pick(one) ?? Number.NaN));
  return {
    streams,
    firstSyncMs: of((one) => one.firstSyncMs),
    reconnectMs: of((one) => one.reconnectMs),
    changeMs: of((one) => median((one.changes.later ?? one.changes.first).ms)),
    residentMb: of((one) => one.residentMb),
    firstSyncBytes: of((one) => one.firstSyncBytes),
    reconnectBytes: of((one) => one.reconnectBytes),
    changeBytes: of((one) => one.changes.first.bytes),
  };
}

function checkTable(model: ServerModel, large: Point): string {
  const row = (name: string, line: LinearCost, measured: number): string => {
    const said = valueAt(line, large.streams);
    return `| ${name} | ${format(line.at)} + ${format(line.each * 1_000)} | ${format(said)} | ${format(measured)} | ${(said / measured).toFixed(2)} |`;
  };
  return [
    `| one server, ${RESOURCES.toLocaleString("en")} Clusters | at 0 + for 1,000 clients | model, ${large.streams.toLocaleString("en")} clients | measured | ratio |`,
    "| --- | --- | --- | --- | --- |",
    row("first sync, ms", model.firstSyncMs, large.firstSyncMs),
    row("coming back, ms", model.reconnectMs, large.reconnectMs),
    row("1 change, last client, ms", model.changeMs, large.changeMs),
    row("resident, MB", model.residentMb, large.residentMb),
  ].join("\n");
}

function fleetTable(fleets: readonly SimulatedFleet[]): string {
  const head = [
    ...["clients", "servers", "MB each", "1 change: middle, 99 of 100, ms", "MB of all"],
    ...["all at once, s", "GB", "a server is lost: clients", "back after, s", "MB"],
  ];
  return [
    `| ${head.join(" | ")} |`,
    `|${" --- |".repeat(head.length)}`,
    ...fleets.map((one) => {
      const columns = [
        one.clients.toLocaleString("en"),
        String(one.replicas),
        format(one.residentMb),
        one.changeMs.map(format).join(", "),
        format(one.changeBytes / 1e6),
        format(one.firstSyncMs / 1_000),
        format(one.firstSyncBytes / 1e9),
        one.lost.clients.toLocaleString("en"),
        format(one.lost.ms / 1_000),
        format(one.lost.bytes / 1e6),
      ];
      return `| ${columns.join(" | ")} |`;
    }),
  ].join("\n");
}

/** The same numbers for the same seed (xorshift32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
