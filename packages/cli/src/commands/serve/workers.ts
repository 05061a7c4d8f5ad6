import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { PrimaryServer, WorkersOptions } from "@xdskit/server/internal";
import { readSettings, type SettingsContent, settingsFile } from "@xdskit/source";
import type { CommandLog } from "../../output/log.ts";
import { findConflicts } from "../../settings/conflicts.ts";
import { resolveSettings, type SettingSources, type SettingValues } from "../../settings/resolve-settings.ts";
import type { SourcePlace } from "../../settings/source-place.ts";

/** How long the clients of a worker that is replaced may take to disconnect. */
const DRAIN_GRACE_MS = 2_000;

/** What a worker process makes its settings from, as its primary did. */
export interface WorkerSetup {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly file: Pick<SettingsContent, "settings" | "places" | "listeners">;
  readonly cwd: string;
  readonly directory: string;
  readonly log: { readonly format: "text" | "json"; readonly hasColors: boolean };
}

/** How many processes serve clients; undefined: this one does. */
export function workerCountOf(values: SettingValues): number | undefined {
  const count = values.text("workers") === "auto" ? availableParallelism() : (values.number("workers") ?? 1);
  return count === 1 ? undefined : count;
}

export function workersOf(count: number, setup: WorkerSetup): WorkersOptions {
  return { count, setup, entry: fileURLToPath(new URL("./worker-main.js", import.meta.url)) };
}

/** Settings that only workers apply, by their beginnings. What the primary also needs takes a restart. */
const OF_WORKERS = [
  ...["control-plane", "require-node", "client-status", "v2", "http2", "load-reports.", "edition", "switches"],
  ...["make-before-break", "order-limit", "ttl-without-feature", "rest.", "tls.", "max-", "limits."],
];
/** Limits of reading the directory. */
const OF_PRIMARY: readonly string[] = ["limits.max-file-bytes", "limits.module-timeout"];

/** What puts a changed setting in force on a server with workers. */
export function applyWith(setting: string): "SIGHUP" | "restart" {
  const isOfWorkers = !OF_PRIMARY.includes(setting) && OF_WORKERS.some((start) => setting.startsWith(start));
  return isOfWorkers ? "SIGHUP" : "restart";
}

export interface WorkersToRenew {
  readonly sources: Omit<SettingSources, "file">;
  /** Undefined: a store is followed. */
  readonly source: SourcePlace | undefined;
  readonly setupOf: (file: WorkerSetup["file"]) => WorkerSetup;
  readonly log: CommandLog;
}

/** Restarts the workers one by one with the settings as they are now. If those have errors, the workers stay. */
export async function renewWorkers(
  server: PrimaryServer,
  { sources, source, setupOf, log }: WorkersToRenew,
): Promise<void> {
  const startedAt = performance.now();
  try {
    const file = await readSettings(sources.directory);
    const [error] = file.problems.filter(({ severity }) => severity === "error");
    if (error !== undefined) throw new Error(`${error.file}: ${error.message}`);
    const { values, troubles } = resolveSettings({ ...sources, file });
    if (troubles.length > 0) throw new Error(troubles.join("; "));
    const conflicts = await findConflicts(values, source);
    const [conflict] = [
      ...conflicts.problems.map(({ message }) => `${settingsFile}: ${message}`),
      ...conflicts.troubles,
    ];
    if (conflict !== undefined) throw new Error(conflict);
    await server.rollWorkers(setupOf(file), { graceMs: DRAIN_GRACE_MS });
    log.write("workers-restarted", { took_ms: Math.round(performance.now() - startedAt) });
  } catch (cause) {
    log.write("workers-kept", { reason: cause instanceof Error ? cause.message : String(cause) });
  }
}
