import type { MetricReading, MetricValue } from "../../observe/metric-readings.ts";
import { groupByName, mergeValues } from "../../observe/metric-sums.ts";
import { type MetricRow, metricTable } from "../../observe/metric-table.ts";

/** The metrics of all processes as those of one server. */
export function mergeMetrics(
  own: readonly MetricReading[],
  workers: readonly (readonly MetricReading[])[],
): readonly MetricReading[] {
  const byName = groupByName(workers.flat());
  return own.map((reading) => mergeReadings(reading, byName.get(reading.name) ?? []));
}

function mergeReadings(own: MetricReading, workers: readonly MetricReading[]): MetricReading {
  const { merge }: MetricRow = metricTable[own.name];
  switch (merge) {
    case "primary":
      return own;
    case "worker":
      return workers.at(-1) ?? own;
    case "sum":
    case "max":
      return { ...own, values: mergeValues(merge, [own, ...workers]) };
    default:
      return merge satisfies never;
  }
}

/** In Prometheus' text format. */
export function printMetrics(metrics: readonly MetricReading[]): string {
  return metrics
    .map(({ name, help, type, values }) => {
      const lines = values.map((value) => `${value.metricName ?? name}${labelsOf(value)} ${print(value.value)}`);
      return [
        `# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}`,
        `# TYPE ${name} ${type}`,
        ...lines,
        "",
      ];
    })
    .map((lines) => lines.join("\n"))
    .join("\n");
}

function labelsOf({ labels }: MetricValue): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"');
}

function print(value: number): string {
  if (Number.isNaN(value)) return "Nan";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
}
