import { format, median } from "../figures.ts";
import type { ClientCell, ClientSubject } from "./cells.ts";
import type { ClientMeasurement } from "./measure-client.ts";

const head = [
  "clusters",
  "client",
  "start, ms",
  "CPU for it, ms",
  "first sync, ms",
  "CPU for it, ms",
  "changes, ms",
  "CPU for them, ms",
  "held beyond its bytes, bytes",
  "resident for each, bytes",
];

/** Formats medians of one cell's runs as a Markdown table, a row per client. */
export function clientTable(cell: ClientCell, measurements: readonly ClientMeasurement[]): string {
  const subjects = [...new Set(measurements.map((one) => one.subject))];
  return [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => " --- ").join("|")}|`,
    ...subjects.map((subject) => row(cell, subject, measurements)),
  ].join("\n");
}

function row(cell: ClientCell, subject: ClientSubject, all: readonly ClientMeasurement[]): string {
  const own = all.filter((one) => one.subject === subject);
  const columns = [
    median(own.map((one) => one.startMs)),
    median(own.map((one) => one.startCpuMs)),
    median(own.map((one) => one.firstSyncMs)),
    median(own.map((one) => one.firstSyncCpuMs)),
    median(own.map((one) => median(one.changeMs))),
    median(own.map((one) => median(one.changeCpuMs))),
    median(own.map((one) => one.heldBytes)),
    median(own.map((one) => one.residentBytes)),
  ];
  return `| ${[nameOf(cell), subject, ...columns.map(format)].join(" | ")} |`;
}

function nameOf({ clusters, variant, asks, changes }: ClientCell): string {
  const asked = asks === "all" ? "" : " by name";
  const changed = changes === 1 ? "1 change" : `${changes.toLocaleString("en")} changes`;
  return `${clusters.toLocaleString("en")}${asked}, ${variant === "sotw" ? "SotW" : "delta"}, ${changed}`;
}
