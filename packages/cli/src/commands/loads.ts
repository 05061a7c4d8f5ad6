import type { LoadAnswer, LoadsAnswer, LocalityLoadAnswer } from "@xdskit/server";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { formatAge } from "../output/age.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { formatTable } from "../output/table.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";

export interface LoadsFlags extends AdminFlags {
  readonly cluster?: string;
  readonly output: "table" | "json";
}

export async function loads(flags: LoadsFlags, { io, colorsOf }: CommandContext): Promise<ExitCode> {
  const answer = await askAdmin<LoadsAnswer>("/api/v1/loads", { cluster: flags.cluster }, flags, io);
  if (flags.output === "json") io.stdout.write(formatJson(answer));
  else if (answer.items.length === 0) io.stderr.write("xds: no client reported any load\n");
  else {
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    io.stdout.write(formatLoads(answer.items, { colors: colorsOf(io.stdout), width, now: io.now() }));
  }
  return exitCode.ok;
}

interface Row {
  readonly load: LoadAnswer;
  /** Undefined for a cluster that reports only drops. */
  readonly at: LocalityLoadAnswer | undefined;
}

function formatLoads(
  items: readonly LoadAnswer[],
  { colors, width, now }: { readonly colors: Colors; readonly width: number | undefined; readonly now: Date },
): string {
  const rows = items.flatMap((load): readonly Row[] =>
    load.localities.length === 0 ? [{ load, at: undefined }] : load.localities.map((at) => ({ load, at })),
  );
  return formatTable(
    rows,
    [
      { title: "CLUSTER", text: ({ load: { cluster } }) => cluster },
      { title: "SERVICE", text: ({ load: { service = "" } }) => service },
      { title: "LOCALITY", text: ({ at }) => localityOf(at) },
      { title: "REQUESTS", text: ({ at }) => String(at?.issued ?? 0) },
      { title: "OK", text: ({ at }) => String(at?.succeeded ?? 0) },
      {
        title: "FAILED",
        text: ({ at }) => String(at?.failed ?? 0),
        color: (text) => (text.trim() === "0" ? text : colors.red(text)),
      },
      { title: "DROPPED", text: ({ load: { dropped } }) => String(dropped) },
      { title: "OPEN", text: ({ at }) => String(at?.inProgress ?? 0) },
      { title: "PER SECOND", text: ({ at }) => String(Math.round((at?.requestsPerSecond ?? 0) * 10) / 10) },
      { title: "CLIENTS", text: ({ at }) => String(at?.reporters ?? 0) },
      { title: "AGE", text: ({ load: { lastReportAt } }) => formatAge(lastReportAt, now) },
    ],
    { colors, width },
  );
}

function localityOf(at: LocalityLoadAnswer | undefined): string {
  if (at === undefined) return "";
  const place = [at.region, at.zone, at.subZone].join("/").replace(/\/+$/, "");
  return at.priority === 0 ? place : `${place} (priority ${at.priority})`;
}
