import { expect, test } from "vitest";
import type { MetricReading, MetricValue } from "../../observe/metric-readings.ts";
import { type MetricName, metricTable } from "../../observe/metric-table.ts";
import type { SamplesAnswer } from "../answers/live.ts";
import type { LoadAnswer } from "../answers/loads.ts";
import { mergeSamples } from "./live.ts";
import { mergeLoads } from "./loads.ts";
import { mergeMetrics, printMetrics } from "./metrics.ts";

const locality = { region: "eu", zone: "a", subZone: "" };

test("loads of the same cluster are added by locality", () => {
  const load = (failed: number, lastReportAt: string, priority: number): LoadAnswer => ({
    ...{ cluster: "web", dropped: 1, droppedBy: { lb: 1 }, lastReportAt },
    localities: [
      {
        ...{ ...locality, priority, issued: 10, succeeded: 10 - failed, failed, inProgress: 0 },
        ...{ requestsPerSecond: 0.5, reporters: 1, metrics: { cpu: { requests: 2, total: 1.5 } } },
      },
    ],
  });
  const pages = [load(1, "2026-01-01T00:00:00.000Z", 1), load(2, "2026-01-01T00:00:01.000Z", 1)].map((item) => ({
    items: [item],
    total: 1,
  }));
  expect(mergeLoads(pages)).toEqual({
    items: [
      {
        ...{ cluster: "web", dropped: 2, droppedBy: { lb: 2 }, lastReportAt: "2026-01-01T00:00:01.000Z" },
        localities: [
          {
            ...{ ...locality, priority: 1, issued: 20, succeeded: 17, failed: 3, inProgress: 0 },
            ...{ requestsPerSecond: 1, reporters: 2, metrics: { cpu: { requests: 4, total: 3 } } },
          },
        ],
      },
    ],
    total: 1,
  });
});

test("samples of the same interval are added, and the worst lag counts", () => {
  const samples = (at: string, streams: number, lagMs: number): SamplesAnswer => ({
    intervalSeconds: 10,
    items: [
      {
        ...{ at, streams, heapBytes: 1, residentBytes: 2, lagMs },
        nodes: { total: streams, nacked: 0, waiting: 0, pending: 0, acked: streams },
      },
    ],
    revisions: [{ revision: 3, acks: streams, lastAckMs: lagMs }],
  });
  const merged = mergeSamples([
    samples("2026-01-01T00:00:01.000Z", 0, 1),
    samples("2026-01-01T00:00:09.000Z", 2, 5),
    samples("2026-01-01T00:00:11.000Z", 4, 9),
  ]);
  expect(merged).toEqual({
    intervalSeconds: 10,
    items: [
      {
        ...{ at: "2026-01-01T00:00:01.000Z", streams: 2, heapBytes: 2, residentBytes: 4, lagMs: 5 },
        nodes: { total: 2, nacked: 0, waiting: 0, pending: 0, acked: 2 },
      },
    ],
    revisions: [{ revision: 3, acks: 6, lastAckMs: 9 }],
  });
});

/** A metric with one value. */
function reading(name: MetricName, value: number, labels: MetricValue["labels"] = {}): MetricReading {
  return { name, help: "What it is.", type: metricTable[name].kind, values: [{ value, labels }] };
}

function linesOf(metrics: readonly MetricReading[]): readonly string[] {
  return printMetrics(metrics)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

test("the table says how a metric of several processes is merged", () => {
  const of = (value: number): readonly MetricReading[] => [
    reading("xds_server_acks_total", value, { type: 'a"b' }),
    reading("xds_server_revision", value),
    reading("xds_server_limit", value, { limit: "maxStreams" }),
    reading("xds_server_limit_used", value, { limit: "maxStreams" }),
    reading("xds_server_worker_resident_memory_bytes", value, { worker: value }),
    reading("process_resident_memory_bytes", value),
  ];
  expect(linesOf(mergeMetrics(of(1), [of(3), of(2)]))).toEqual([
    'xds_server_acks_total{type="a\\"b"} 6',
    "xds_server_revision 1",
    'xds_server_limit{limit="maxStreams"} 2',
    'xds_server_limit_used{limit="maxStreams"} 3',
    'xds_server_worker_resident_memory_bytes{worker="1"} 1',
    'xds_server_worker_resident_memory_bytes{worker="3"} 3',
    'xds_server_worker_resident_memory_bytes{worker="2"} 2',
    "process_resident_memory_bytes 6",
  ]);
  expect(linesOf(mergeMetrics([reading("xds_server_limit", 1, { limit: "maxStreams" })], []))).toEqual([
    'xds_server_limit{limit="maxStreams"} 1',
  ]);
});
