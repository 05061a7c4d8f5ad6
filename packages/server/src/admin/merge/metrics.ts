import type { MetricReading, MetricValue } from "../../observe/metric-readings.ts";
import { type MetricName, type MetricRow, metricTable } from "../../observe/metric-table.ts";

/** The metrics of all processes as those of one server. */
export function mergeMetrics(
  own: readonly MetricReading[],
  workers: readonly (readonly MetricReading[])[],
): readonly MetricReading[] {
  const byName = new Map<MetricName, MetricReading[]>();
  for (const reading of workers.flat()) {
    const readings = byName.get(reading.name) ?? [];
    byName.set(reading.name, readings);
    readings.push(reading);
  }
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

function mergeValues(merge: "sum" | "max", readings: readonly MetricReading[]): readonly MetricValue[] {
  const values = new Map<string, MetricValue>();
  for (const value of readings.flatMap((reading) => reading.values)) {
    const key = `${value.metricName ?? ""}${labelsOf(value)}`;
    const known = values.get(key);
    // Observations are counted, also of what the largest one counts of.
    const isSum = merge === "sum" || /_(?:sum|count)$/.test(value.metricName ?? "");
    const merged = isSum ? (known?.value ?? 0) + value.value : Math.max(known?.value ?? 0, value.value);
    values.set(key, { ...value, value: merged });
  }
  return [...values.values()];
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
