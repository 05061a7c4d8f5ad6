import type { Registry } from "prom-client";
import type { MetricName } from "./metric-table.ts";

/** A metric with its values, for another process. */
export interface MetricReading {
  readonly name: MetricName;
  readonly help: string;
  readonly type: string;
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Of a part of a histogram or summary; absent: that of the metric. */
  readonly metricName?: string;
}

/** What the registry would print. */
export async function readMetrics(registry: Registry): Promise<readonly MetricReading[]> {
  const metrics = registry.getMetricsAsArray() as readonly ReadableMetric[];
  const readings = await Promise.all(metrics.map((metric) => metric.getForPromString?.() ?? metric.get?.()));
  return readings.flatMap((reading) => {
    if (reading === undefined) return [];
    const { name, help, type, values } = reading as MetricReading;
    return [{ name, help, type: String(type), values }];
  });
}

/** A metric of prom-client; its types leave out how it prints histograms. */
interface ReadableMetric {
  getForPromString?(): Promise<unknown>;
  get?(): Promise<unknown>;
}
