import { anonymousNode, type LoadReport } from "@xdskit/protocol";
import { bytesOfValue, type ClusterLoad } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import type { ServerReport } from "../hub/port.ts";
import { defaultLimits } from "../limits.ts";
import { nextTurn } from "../next-turn.ts";
import { LoadReporting } from "./load-reporting.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

function reporting(
  reported: ServerReport[] = [],
  { limits = {}, limitsHit = [] }: { limits?: Partial<typeof defaultLimits>; limitsHit?: string[] } = {},
): LoadReporting {
  return new LoadReporting({
    settings: { intervalMs: 10_000, clusters: "all", endpoints: false },
    limits: { ...defaultLimits, ...limits },
    clustersOf: () => [],
    visibleTo: () => () => true,
    report: (report) => reported.push(report),
    reportLimit: (limit, address) => limitsHit.push(`${limit} ${address}`),
  });
}

function reportOf(prefix: string, count: number): LoadReport {
  const empty = { service: "", intervalMs: 1_000, dropped: 0, droppedBy: [], localities: [] };
  const clusters = Array.from({ length: count }, (_, i): ClusterLoad => ({ cluster: `${prefix}${i}`, ...empty }));
  return { node: undefined, clusters };
}

function open(loads: LoadReporting): number {
  const reporter = loads.open(peer, () => undefined);
  if (typeof reporter !== "number") throw new Error(reporter.message);
  return reporter;
}

const receive = (loads: LoadReporting, reporter: number, report: LoadReport): Promise<void> =>
  loads.receive(reporter, () => Promise.resolve(report));

const counted = (loads: LoadReporting): number => [...loads.view.clusters].length;

test("a large report is added in slices of the event loop, and the next one after it", async () => {
  const loads = reporting();
  const added = [receive(loads, open(loads), reportOf("a", 1_200)), receive(loads, open(loads), reportOf("b", 10))];
  const counts: number[] = [];
  const isAdded = Promise.all(added).then(() => true);
  while (!(await Promise.race([isAdded, nextTurn().then(() => false)]))) counts.push(counted(loads));
  expect(new Set(counts)).toEqual(new Set([500, 1_000]));
  expect([counted(loads), loads.view.reports]).toEqual([1_210, 2]);
});

test("of a client that disconnects meanwhile the rest is not added, and no report is told", async () => {
  const reported: ServerReport[] = [];
  const loads = reporting(reported);
  const reporter = open(loads);
  const added = receive(loads, reporter, reportOf("a", 1_200));
  await nextTurn();
  loads.close(reporter);
  await added;
  expect([counted(loads), loads.view.reports, reported.map(({ kind }) => kind)]).toEqual([
    500,
    0,
    ["load-reporter-disconnected"],
  ]);
});

test("a report is decoded once the ones before it were added, unless it is refused or its client disconnected", async () => {
  const loads = reporting();
  const counts: number[] = [];
  const reports = [reportOf("a", 1_200), undefined, reportOf("b", 10), reportOf("c", 10)];
  const reporters = reports.map(() => open(loads));
  const added = reports.map((report, index) =>
    loads.receive(reporters[index] ?? 0, () => {
      counts.push(counted(loads));
      return Promise.resolve(report);
    }),
  );
  loads.close(reporters[2] ?? 0);
  await Promise.all(added);
  expect([counts, counted(loads), loads.view.reports]).toEqual([[0, 1_200, 1_200], 1_210, 2]);
});

test("the nodes of reporters take no more memory than their address may; one that leaves makes room", () => {
  const node = { ...anonymousNode, id: "n", metadata: { lists: Array.from({ length: 100 }, () => [[], []]) } };
  const each = bytesOfValue(node);
  const limitsHit: string[] = [];
  const loads = reporting([], { limits: { maxClientBytesPerPeer: 2 * each }, limitsHit });
  const [first, second, third] = [open(loads), open(loads), open(loads)];
  expect([loads.countNode(first, node), loads.countNode(second, node), limitsHit]).toEqual([undefined, undefined, []]);
  const message = `what the streams and polls of this address say of themselves takes ${3 * each} bytes of memory; at most ${2 * each} are served (maxClientBytesPerPeer)`;
  expect([loads.countNode(third, node), limitsHit]).toEqual([
    { code: 8, message },
    ["maxClientBytesPerPeer 127.0.0.1:1"],
  ]);
  loads.close(third);
  loads.close(first);
  expect(loads.countNode(open(loads), node)).toBeUndefined();
});

test("a reporter is the node of its first report; another that comes later was not counted, and is not kept", async () => {
  const reported: ServerReport[] = [];
  const loads = reporting(reported);
  const late = { ...anonymousNode, id: "late", metadata: { filler: "m".repeat(1_000) } };
  const id = open(loads);
  await receive(loads, id, reportOf("a", 1));
  await receive(loads, id, { ...reportOf("a", 1), node: late });
  loads.close(id);
  const told = reported.map((report) => [report.kind, "node" in report ? report.node : "none"]);
  expect(told).toEqual([
    ["load-reporter-connected", anonymousNode],
    ["load-reported", anonymousNode],
    ["load-reported", anonymousNode],
    ["load-reporter-disconnected", anonymousNode],
  ]);
  expect([...loads.view.reporters]).toEqual([]);
});
