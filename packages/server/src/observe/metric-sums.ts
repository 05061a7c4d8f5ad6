import type { MetricReading, MetricValue } from "./metric-readings.ts";
import { type MetricMerge, type MetricName, type MetricRow, metricTable } from "./metric-table.ts";

/** The readings of each metric. */
export function groupByName(readings: readonly MetricReading[]): ReadonlyMap<MetricName, readonly MetricReading[]> {
  const byName = new Map<MetricName, MetricReading[]>();
  for (const reading of readings) {
    const known = byName.get(reading.name);
    if (known === undefined) byName.set(reading.name, [reading]);
    else known.push(reading);
  }
  return byName;
}

/** Adds the values with the same labels; with `max`, only counters are added, and of others the largest one counts. */
export function mergeValues(
  merge: Extract<MetricMerge, "sum" | "max">,
  readings: readonly MetricReading[],
): readonly MetricValue[] {
  const values = new Map<string, MetricValue>();
  for (const { type, values: read } of readings) {
    for (const value of read) {
      const key = `${value.metricName ?? ""}${JSON.stringify(value.labels)}`;
      const known = values.get(key)?.value ?? 0;
      const isSum = merge === "sum" || isCounter(type, value);
      values.set(key, { ...value, value: isSum ? known + value.value : Math.max(known, value.value) });
    }
  }
  return [...values.values()];
}

/** The sums of the counters among the readings, those of histograms and summaries included. */
export function sumCounters(readings: readonly MetricReading[]): readonly MetricReading[] {
  return [...groupByName(readings).values()].flatMap((ofOne) => {
    const [reading] = ofOne;
    if (reading === undefined || !isMerged(reading.name)) return [];
    const values = mergeValues("sum", ofOne).filter((value) => isCounter(reading.type, value));
    return values.length === 0 ? [] : [{ ...reading, values }];
  });
}

function isMerged(name: MetricName): boolean {
  const { merge }: MetricRow = metricTable[name];
  return merge === "sum" || merge === "max";
}

/** Whether a value only grows. */
function isCounter(type: string, { metricName = "" }: MetricValue): boolean {
  return type === "counter" || type === "histogram" || (type === "summary" && /_(?:sum|count)$/.test(metricName));
}
