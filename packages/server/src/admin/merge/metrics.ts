import type { MetricReading, MetricValue } from "../../observe/metric-readings.ts";
import { metricTable } from "../../observe/metric-table.ts";

/** What only the primary knows, or what is the same in all processes. */
const OF_PRIMARY: ReadonlySet<string> = new Set([
  ...["xds_server_info", "xds_server_revision", "xds_server_revision_age_seconds", "xds_server_ready"],
  ...["xds_server_draining", "xds_server_layers", "xds_server_snapshot_resources", "xds_server_limit"],
  ...["xds_server_commits_total", "xds_server_commit_seconds", "process_start_time_seconds"],
  ...["xds_server_certificate_expiry_timestamp_seconds", "xds_server_certificates_expiring"],
  ...["xds_server_missing_resources", "xds_server_workers", "xds_server_worker_ends_total"],
]);
const OF_PRIMARY_BY_START = ["xds_server_ledger_", "xds_server_store_", "xds_server_source_", "xds_server_files_"];
/** Of which the worst process counts. */
const WORST: ReadonlySet<string> = new Set([
  ...["xds_server_limit_used", "xds_server_conversions_incomplete", "xds_server_event_loop_lag_seconds"],
]);
const RESIDENT = "process_resident_memory_bytes";

/** The metrics of all processes as those of one server. */
export function mergeMetrics(
  own: readonly MetricReading[],
  workers: readonly { readonly worker: number; readonly answer: readonly MetricReading[] }[],
): readonly MetricReading[] {
  const byName = new Map<string, MetricReading[]>();
  for (const reading of workers.flatMap(({ answer }) => answer)) {
    const readings = byName.get(reading.name) ?? [];
    byName.set(reading.name, readings);
    readings.push(reading);
  }
  const resident: MetricReading = {
    name: "xds_server_worker_resident_memory_bytes",
    help: metricTable["xds_server_worker_resident_memory_bytes"].help,
    type: "gauge",
    values: workers.map(({ worker, answer }) => ({
      labels: { worker: String(worker) },
      value: answer.find(({ name }) => name === RESIDENT)?.values[0]?.value ?? 0,
    })),
  };
  const merged = own.map((reading) => {
    const { name } = reading;
    if (isOfPrimary(name)) return reading;
    return mergeReadings([reading, ...(byName.get(name) ?? [])], WORST.has(name));
  });
  return merged.map((reading) => (reading.name === resident.name ? resident : reading));
}

function isOfPrimary(name: string): boolean {
  return OF_PRIMARY.has(name) || OF_PRIMARY_BY_START.some((start) => name.startsWith(start));
}

function mergeReadings(readings: readonly MetricReading[], isWorst: boolean): MetricReading {
  const values = new Map<string, MetricValue>();
  for (const value of readings.flatMap((reading) => reading.values)) {
    const key = `${value.metricName ?? ""}${labelsOf(value)}`;
    const known = values.get(key);
    // Observations are counted, also of what the worst one counts of.
    const isSum = !isWorst || /_(?:sum|count)$/.test(value.metricName ?? "");
    const merged = isSum ? (known?.value ?? 0) + value.value : Math.max(known?.value ?? 0, value.value);
    values.set(key, { ...value, value: merged });
  }
  const [{ name, help, type } = { name: "", help: "", type: "" }] = readings;
  return { name, help, type, values: [...values.values()] };
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
