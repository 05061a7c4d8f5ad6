import type { Cell } from "./cells.ts";
import { CHANGE_COLUMNS, changeColumns } from "./changes.ts";
import { format, median } from "./figures.ts";
import type { Measurement, Subject } from "./measure.ts";

/** Formats medians as a Markdown table, a row per server and cell. */
export function table(
  results: readonly { readonly cell: Cell; readonly measurements: readonly Measurement[] }[],
): string {
  const head = ["resources x streams", "server", "first sync, ms", ...CHANGE_COLUMNS];
  const more = ["reconnect, ms", "reconnect, MB", "1 name more, ms", "KB a stream", "peak MB"];
  const lines = results.flatMap(({ cell, measurements }) =>
    [...new Set(measurements.map((one) => one.subject))].map((subject) => row(cell, subject, measurements)),
  );
  const separator = `|${[...head, ...more].map(() => " --- ").join("|")}|`;
  return [`| ${[...head, ...more].join(" | ")} |`, separator, ...lines].join("\n");
}

function row(cell: Cell, subject: Subject, all: readonly Measurement[]): string {
  const own = all.filter((one) => one.subject === subject);
  const of = (pick: (one: Measurement) => number | undefined): string => {
    const values = own.flatMap((one) => pick(one) ?? []);
    return values.length === 0 ? "" : format(median(values));
  };
  const name = nameOf(subject);
  const columns = [
    of((one) => one.firstSyncMs),
    ...changeColumns(own.map((one) => one.changes)),
    of((one) => one.reconnectMs),
    of((one) => one.reconnectBytes && one.reconnectBytes / 1e6),
    of((one) => one.moreMs),
    of((one) => one.streamKb),
    of((one) => one.peakMb),
  ];
  return `| ${[cell.name, name, ...columns].join(" | ")} |`;
}

function nameOf(subject: Subject): string {
  if (subject === "floor") return "(nothing to decide)";
  if (subject === "before") return "xdskit, version before";
  return subject === "xdskit" ? "xdskit" : `go-control-plane, ${subject} cache`;
}
