/** A metric with its values, for another process. */
export interface MetricReading {
  readonly name: string;
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

/** What prom-client says of its metrics, without its types. */
export function readMetrics(metrics: readonly object[]): readonly MetricReading[] {
  return metrics.map((metric) => {
    const { name, help, type, values } = metric as MetricReading;
    return { name, help, type: String(type), values };
  });
}
