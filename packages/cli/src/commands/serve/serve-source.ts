import { join } from "node:path";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { createServer, type ManagementServer, type ManagementServerOptions, XdsError } from "@xdskit/server";
import { createPrimary } from "@xdskit/server/internal";
import type { Problem, ResourceSource, SettingsContent } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../../exit-code.ts";
import { aborted, unlessAborted } from "../../interruption.ts";
import { mostConnections, openFileLimit } from "../../open-files.ts";
import type { CommandLog } from "../../output/log.ts";
import { formatProblems } from "../../output/problems.ts";
import { formatAddress, formatReachedAddress, reachedHost } from "../../settings/address.ts";
import { describeAccess, findExposure } from "../../settings/exposure.ts";
import { fuseSettingsOf } from "../../settings/fuse-settings.ts";
import { createOriginReader } from "../../settings/git-origin.ts";
import { retentionOf } from "../../settings/history-settings.ts";
import { openStore } from "../../settings/ledger-store.ts";
import { requireReadableFiles } from "../../settings/readable-files.ts";
import type { SettingValues } from "../../settings/resolve-settings.ts";
import { serverOptionsOf } from "../../settings/server-options.ts";
import type { SourcePlace } from "../../settings/source-place.ts";
import { stateDirOf } from "../../settings/state-dir.ts";
import type { CommandContext } from "../context.ts";
import type { BegunLoad } from "./begun-load.ts";
import { findHistories, type Histories, rememberSource } from "./histories.ts";
import { rememberSettings, requireServable } from "./missing-directory.ts";
import { recording } from "./publishing.ts";
import { createServeLog, logFormatOf } from "./serve-log.ts";
import { Service } from "./service.ts";
import { suggestCommands } from "./suggest.ts";
import { trustOf } from "./trust.ts";
import { applyWith, renewWorkers, type WorkerSetup, workerCountOf, workersOf } from "./workers.ts";

/** How long clients may take to disconnect after the server starts to drain. */
const DRAIN_GRACE_MS = 2_000;
/** With fewer open files allowed, clients may soon be too many. */
const FEW_OPEN_FILES = 1_024;

/** What is to be served. */
export interface ToServe {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly place: SourcePlace;
  readonly file: SettingsContent;
  readonly values: SettingValues;
  readonly api: EnvoyApi;
  /** Undefined: a store is followed. */
  readonly source: ResourceSource | undefined;
  /** The first load of the source, if it is under way. */
  readonly begun: BegunLoad | undefined;
}

export async function serveSource(
  { flags, place, file, values, api, source, begun }: ToServe,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const { directory, shown } = place;
  const url = values.text("store");
  const openFiles = openFileLimit();
  const options = serverOptionsOf(values, file.listeners, directory, { mostConnections: mostConnections(openFiles) });
  await requireReadableFiles(values, file.listeners, directory);
  const served = { source: place.module ?? directory, listen: values.text("listen") };
  const stateDir = stateDirOf(values, io.env, served.source);
  await requireServable(place, stateDir);
  const log = createServeLog(values, context);
  const onProblem = (text: string): void => log.write("ledger-problem", { reason: text });
  const copyDirectory = stateDir === undefined ? undefined : join(stateDir, "store-copy");
  const store =
    url === undefined ? undefined : await openStore(url, { cwd: io.cwd, env: io.env, onProblem, copyDirectory });
  const setupOf = (read: WorkerSetup["file"]): WorkerSetup => ({
    ...{ flags, cwd: io.cwd, directory },
    file: { settings: read.settings, places: read.places, listeners: read.listeners },
    log: { format: logFormatOf(values, context), hasColors: context.colorsOf(io.stderr).isColorSupported },
  });
  const workers = workerCountOf(values);
  const serverOptions: ManagementServerOptions = {
    ...options,
    ...{ api, log, refreshSource: async () => await service?.refresh(io.interrupted) },
    placesOf: async (asked) => (await service?.placesOf(asked)) ?? asked.map(() => undefined),
    ...(stateDir !== undefined && { stateDir }),
    ledger: {
      fuses: fuseSettingsOf(values),
      retention: retentionOf(values),
      ...(store !== undefined
        ? {
            store,
            publishes: source === undefined ? ("never" as const) : ("lease" as const),
            balancesConnections: values.flag("balance-connections") ?? true,
          }
        : stateDir !== undefined && { directory: join(stateDir, "ledger") }),
    },
  };
  const divided =
    workers === undefined ? undefined : create(() => createPrimary(serverOptions, workersOf(workers, setupOf(file))));
  const server = divided ?? create(() => createServer(serverOptions));
  const publishing = recording(server, createOriginReader(directory));
  const isText = logFormatOf(values, context) === "text";
  const parts = { server, publishing, log, context, file, place, isText, onServing: () => onServing() };
  const service = source && new Service({ ...parts, source, ...(divided !== undefined && { applyWith }) });
  if (begun !== undefined) service?.begin(begun);
  const histories = stateDir === undefined || store !== undefined ? undefined : await findHistories(stateDir, served);
  const started = await unlessAborted(start(server), io.interrupted);
  if (started === undefined) {
    log.write("stopping", { signal: String(io.interrupted.reason) });
    await server.close();
    log.write("stopped", {});
    return exitCode.ok;
  }
  // A directory that another server uses is that server's.
  const isOurs = store !== undefined || server.ledger?.directory !== undefined;
  if (isOurs) {
    await rememberSettings(stateDir, file);
    await rememberSource(stateDir, served);
  }
  const { address, addresses, adminAddress } = started;
  warnOfFewOpenFiles(log, openFiles, values, options.limits?.maxConnections);
  const adminListen = adminAddress === undefined ? undefined : formatAddress(adminAddress);
  const more = addresses.length === 1 ? undefined : addresses.slice(1).map(formatAddress).join(",");
  log.write("serving", {
    ...{ address: formatAddress(address), more_addresses: more, admin: adminListen },
    directory: source === undefined ? undefined : shown,
  });
  if (isOurs && histories !== undefined && stateDir !== undefined)
    logHistories(log, stateDir, histories, values.originOf("state-dir") === undefined);
  warnOfExposure(findExposure({ options, file }), { isText, log, context, shown: place.shownDirectory });
  const who = describeAccess({ options, file }, values.text("client-status") ?? "loopback");
  if (isText) io.stdout.write(formatAccess(who));
  else log.write("access", Object.fromEntries(who.map(([caller, may]) => [fieldOf[caller] ?? caller, may])));
  const certificate = values.text("tls.cert");
  const trust =
    certificate === undefined
      ? undefined
      : await trustOf({ cert: certificate, ca: values.text("tls.ca") }, reachedHost(address));
  const adminCertificate = values.text("admin-tls.cert");
  const adminTrust =
    adminCertificate === undefined || adminAddress === undefined
      ? undefined
      : await trustOf({ cert: adminCertificate, ca: values.text("admin-tls.ca") }, reachedHost(adminAddress));
  const onServing = (): void => {
    // A pipe gets JSON lines only; under `npm start`, which pipes the output, a person reads it.
    if (io.interrupted.aborted || !(isText || io.env["npm_lifecycle_event"] !== undefined)) return;
    const listen = formatReachedAddress(address);
    const admin = adminAddress && {
      address: formatReachedAddress(adminAddress),
      socketPath: values.text("admin-socket"),
      trust: adminTrust,
    };
    const needsClientCertificate =
      values.text("tls.ca") !== undefined && values.flag("tls.require-client-certificate") !== false;
    io.stdout.write(suggestCommands({ listen, admin, env: io.env, trust, needsClientCertificate }));
  };
  const again = (): void => void service?.publishAgain().catch(() => undefined);
  server.on("ledger-role", ({ role }) => role === "publisher" && again());
  server.on("store-back", again);
  io.onHangup(() => {
    log.write("hangup", {});
    void Promise.all([server.reloadCertificates(), service?.reload(io.interrupted)]);
    if (divided !== undefined)
      void renewWorkers(divided, {
        sources: { flags, env: io.env, cwd: io.cwd, directory },
        source: source === undefined ? undefined : place,
        ...{ setupOf, log },
      });
  });
  try {
    if (service === undefined) {
      server.reportSource({ state: "good", problems: [] });
      onServing();
      await aborted(io.interrupted);
    } else {
      // An interruption does not wait for a long load.
      await Promise.race([service.load(), aborted(io.interrupted)]);
      await service.follow(io.interrupted);
    }
    log.write("stopping", { signal: String(io.interrupted.reason) });
    await server.drain({ graceMs: DRAIN_GRACE_MS });
  } finally {
    await server.close();
  }
  log.write("stopped", {});
  return exitCode.ok;
}

const fieldOf: Readonly<Record<string, string>> = {
  "clients on loopback": "loopback",
  "clients elsewhere": "elsewhere",
  "client status": "client_status",
  "admin API": "admin",
};

/** Warns if connections are limited by the files that the process may have open, in a way that may surprise. */
function warnOfFewOpenFiles(
  log: CommandLog,
  limit: number | undefined,
  values: SettingValues,
  connections: number | undefined,
): void {
  if (limit === undefined) return;
  const isSet = values.originOf("limits.max-connections") !== undefined;
  const isLowered = isSet && connections !== values.number("limits.max-connections");
  if (limit < FEW_OPEN_FILES || isLowered) log.write("few-open-files", { limit, connections });
}

function formatAccess(who: readonly (readonly [string, string])[]): string {
  const width = Math.max(...who.map(([caller]) => caller.length));
  return ["Access in force:", ...who.map(([caller, may]) => `  ${caller.padEnd(width)}   ${may}`), ""].join("\n");
}

/** Says whether the history goes on; one at another address matters only if nobody named the directory. */
function logHistories(log: CommandLog, directory: string, { isNew, others }: Histories, isDefault: boolean): void {
  log.write("history-opened", { ledger: isNew ? "new" : "continued", directory });
  if (!isNew || !isDefault) return;
  for (const other of others) log.write("history-elsewhere", { ...other });
}

interface WarnedOf {
  readonly isText: boolean;
  readonly log: CommandLog;
  readonly context: CommandContext;
  /** The directory as problems show it. */
  readonly shown: string;
}

function warnOfExposure(problems: readonly Problem[], { isText, log, context, shown }: WarnedOf): void {
  const { stderr } = context.io;
  if (isText) stderr.write(formatProblems(problems, shown, context.colorsOf(stderr)));
  else
    for (const { file, line, column, path, code, message, hint } of problems)
      log.write("warning", { file, line, column, path, code, text: message, hint });
}

function create<S extends ManagementServer>(make: () => S): S {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof XdsError)) throw cause;
    throw new CommandError(exitCode.usage, cause.message);
  }
}

async function start(server: ManagementServer): ReturnType<ManagementServer["listen"]> {
  try {
    return await server.listen();
  } catch (cause) {
    if (!(cause instanceof XdsError)) throw cause;
    const hint = cause.code === "LISTEN_FAILED" ? `choose another with ${listenFlags(cause.cause)}` : undefined;
    const reason = cause.cause instanceof Error ? cause.cause.message : "";
    const why = cause.message.includes(reason) ? "" : ` (${reason})`;
    throw new CommandError(exitCode.problems, `${cause.message}${why}`, hint);
  }
}

/** The flags of an address where the server cannot listen: only sockets have no port, and paths that are too long. */
function listenFlags(cause: unknown): string {
  const { port, code } = (cause ?? {}) as { readonly port?: unknown; readonly code?: unknown };
  return port === -1 || code === "ENAMETOOLONG" ? "--admin-socket" : "--listen or --admin";
}
