import { Gauge, type Registry } from "prom-client";
import { type MetricName, type MetricRow, metricTable } from "./metric-table.ts";

/** A gauge of the table; with `collect`, one that is read at every scrape. */
export function gauge(
  name: MetricName,
  registry: Registry,
  collect?: (set: (value: number, ...labels: readonly string[]) => void) => void | Promise<void>,
): Gauge<string> {
  const row: MetricRow = metricTable[name];
  const common = { name, help: row.help, labelNames: [...row.labels], registers: [registry] };
  if (collect === undefined) return new Gauge(common);
  return new Gauge({
    ...common,
    collect(): void | Promise<void> {
      this.reset();
      return collect((value, ...labels) => {
        if (labels.length === 0) this.set(value);
        else this.labels(...labels).set(value);
      });
    },
  });
}
