import { expect, test } from "vitest";
import type { MetricReading, MetricValue } from "../observe/metric-readings.ts";
import { type MetricName, metricTable } from "../observe/metric-table.ts";
import { Questions } from "./questions.ts";
import type { Worker } from "./worker.ts";
import { WorkerReadings } from "./worker-readings.ts";

function reading(name: MetricName, values: readonly MetricValue[]): MetricReading {
  return { name, help: "What it is.", type: metricTable[name].kind, values };
}

/** The metrics of a worker that counted so much. */
function counted(value: number): readonly MetricReading[] {
  const histogram = "xds_server_response_bytes";
  const summary = "xds_server_event_loop_lag_seconds";
  return [
    reading("xds_server_acks_total", [{ labels: { type: "cds" }, value }]),
    reading("xds_server_commits_total", [{ labels: {}, value }]),
    reading("xds_server_streams_active", [{ labels: {}, value }]),
    reading("xds_server_limit", [{ labels: { limit: "maxStreams" }, value }]),
    reading(histogram, [{ labels: { le: 256 }, metricName: `${histogram}_bucket`, value }]),
    reading(summary, [
      { labels: { quantile: "1" }, metricName: summary, value },
      { labels: {}, metricName: `${summary}_count`, value },
    ]),
  ];
}

/** A worker that answers with its readings, one after the other, and is gone then. */
function workerWith(...readings: readonly (readonly MetricReading[])[]): Pick<Worker, "ask"> {
  const gone = new Questions<never>(() => undefined);
  gone.end();
  const left = [...readings];
  return { ask: async () => (left.shift() ?? (await gone.ask("metrics" as never, {} as never))) as never };
}

test("the counters of workers that ended are added up, their gauges are gone", async () => {
  const readings = new WorkerReadings();
  const workers = [workerWith(counted(1), counted(3)), workerWith(counted(10))];
  for (const worker of workers) await readings.read(worker);
  expect(readings.all).toEqual([[], counted(1), counted(10)]);
  // The second one is gone before it answers again.
  for (const worker of workers) await readings.read(worker);
  expect(readings.all).toEqual([[], counted(3), counted(10)]);
  for (const worker of workers) readings.end(worker);
  const [acks, , , , histogram, summary] = counted(13);
  const count = summary?.values.slice(1) ?? [];
  expect(readings.all).toEqual([[acks, histogram, { ...summary, values: count }]]);
});

test("a worker that was never read leaves nothing", () => {
  const readings = new WorkerReadings();
  readings.end(workerWith());
  expect(readings.all).toEqual([[]]);
});
