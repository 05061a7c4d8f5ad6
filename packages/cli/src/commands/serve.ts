import { resolve } from "node:path";
import { createManagementServer, type ManagementServer, XdsError } from "@xdskit/server";
import {
  createDirectorySource,
  type DirectorySource,
  type Load,
  type LoadedState,
  readSettings,
  transactionBetween,
} from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { type CommandLog, createLog } from "../output/log.ts";
import { countProblems, formatProblems, plural } from "../output/problems.ts";
import { createProgressLine } from "../output/progress.ts";
import { formatAddress } from "../settings/address.ts";
import { loadApi } from "../settings/load-api.ts";
import { resolveSettings, type SettingValues } from "../settings/resolve-settings.ts";
import { serverOptionsOf } from "../settings/server-options.ts";
import { addSettingFlags } from "../settings/setting-flag.ts";
import { validationOf } from "../settings/validation.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";
import { suggestCommands } from "./suggest.ts";
import { shownPath } from "./validate.ts";

/** How long clients have to leave when the server is told to stop. */
const DRAIN_GRACE_MS = 2_000;

/** `xds serve DIR`: serves a directory, and every change in it, until it is told to stop. */
export const addServeCommand: AddCommand = (program, context) => {
  const command = program
    .command("serve")
    .summary("serve a directory of resources")
    .description(
      "Serve a directory of resources to Envoy and gRPC clients. A change in the directory takes effect whole, " +
        "without a restart; with an error anywhere in it, what was good before stays in force.",
    )
    .argument("<dir>", "directory to serve; its xdskit.yaml may hold any of the settings")
    .action((directory: string, flags: Readonly<Record<string, unknown>>) =>
      context.perform(() => serve(directory, flags, context)),
    );
  addSettingFlags(command);
  command.addHelpText(
    "after",
    "\nEach setting is a flag, the environment variable in brackets, and a key of xdskit.yaml; a flag goes\n" +
      "before a variable, and that before the file. Without resources, or with an error in the first load,\n" +
      "clients are refused (UNAVAILABLE) until that is mended.",
  );
  addExamples(command, [
    ["xds serve config", "serve ./config at 127.0.0.1:18000, the admin API at 127.0.0.1:18001"],
    ["xds serve config --listen :18000 --tls-cert tls.crt --tls-key tls.key", "to the network, over TLS"],
  ]);
};

async function serve(
  directory: string,
  flags: Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const path = resolve(io.cwd, directory);
  const { settings } = await readSettings(path);
  const { values, troubles } = resolveSettings({ flags, env: io.env, file: settings, cwd: io.cwd, directory: path });
  if (troubles.length > 0) throw new CommandError(exitCode.usage, troubles.join("\n"));
  const api = await loadApi(values.list("descriptors"));
  const log = createServeLog(values, context);
  const server = createManagementServer({ ...serverOptionsOf(values, api), log });
  const source = createDirectorySource({
    directory: path,
    api,
    validation: validationOf(values),
    maxFileBytes: values.number("limits.max-file-bytes") ?? Number.POSITIVE_INFINITY,
    allowEmpty: values.flag("allow-empty") ?? false,
  });
  const started = await start(server);
  const admin = started.adminAddress === undefined ? undefined : formatAddress(started.adminAddress);
  const shown = shownPath(path, io.cwd);
  const isText = logFormatOf(values, context) === "text";
  const service = new Service({ server, source, log, context, directory: shown, isText });
  log.write("serving", { address: formatAddress(started.address), admin, directory: shown });
  try {
    await service.load();
    // Who reads a pipe wants lines of JSON and nothing else; `npm start` is for people, whatever it writes to.
    if (isText || io.env["npm_lifecycle_event"] !== undefined) {
      const listen = formatAddress(started.address);
      io.stdout.write(suggestCommands({ listen, admin, env: io.env, isTls: values.text("tls.cert") !== undefined }));
    }
    await service.follow(io.interrupted);
    log.write("stopping", { signal: String(io.interrupted.reason) });
    await server.drain({ graceMs: DRAIN_GRACE_MS });
  } finally {
    await server.close();
  }
  return exitCode.ok;
}

function createServeLog(values: SettingValues, context: CommandContext): CommandLog {
  return createLog({
    level: values.text("log.level") ?? "info",
    format: logFormatOf(values, context),
    output: context.io.stderr,
    colors: context.colorsOf(context.io.stderr),
  });
}

/** Lines for people in a terminal, JSON for whatever reads a pipe, unless somebody chose. */
function logFormatOf(values: SettingValues, { io }: CommandContext): "text" | "json" {
  if (values.isGiven("log.format")) return values.text("log.format") === "json" ? "json" : "text";
  return io.stderr.isTerminal ? "text" : "json";
}

async function start(server: ManagementServer): ReturnType<ManagementServer["start"]> {
  try {
    return await server.start();
  } catch (cause) {
    if (!(cause instanceof XdsError)) throw cause;
    const hint = cause.code === "LISTEN_FAILED" ? "choose another with --listen or --admin" : undefined;
    const why = cause.cause instanceof Error ? ` (${cause.cause.message})` : "";
    throw new CommandError(exitCode.problems, `${cause.message}${why}`, hint);
  }
}

/** Errors, and warnings, that are told of one load. */
const MAX_TOLD = 50;

/** The same warning again, even if lines above it moved it. */
function identify({ file, path, code, message }: Load["problems"][number]): string {
  return [file, path ?? "", code, message].join("\n");
}

interface ServiceParts {
  readonly server: ManagementServer;
  readonly source: DirectorySource;
  readonly log: CommandLog;
  readonly context: CommandContext;
  /** As it is printed. */
  readonly directory: string;
  readonly isText: boolean;
}

/** Brings each load of the directory into force, or says why not. */
class Service {
  readonly #parts: ServiceParts;
  #inForce: LoadedState | undefined;
  #toldWarnings: ReadonlySet<string> = new Set();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async load(): Promise<void> {
    const { source, context } = this.#parts;
    const line = createProgressLine(context.io.stderr);
    const startedAt = performance.now();
    const load = await source.load(line.update);
    line.clear();
    this.#take(load, performance.now() - startedAt);
  }

  /** Ends with the signal. */
  async follow(signal: AbortSignal): Promise<void> {
    for await (const load of this.#parts.source.watch(signal)) {
      if (signal.aborted) return;
      this.#take(load, undefined);
    }
  }

  #take({ state, problems }: Load, tookMs: number | undefined): void {
    const { server, log } = this.#parts;
    this.#tellProblems(problems);
    const errors = problems.filter(({ severity }) => severity === "error").length;
    const warnings = problems.length - errors;
    if (state === undefined) {
      server.reportSource({ state: "failed", problems });
      log.write("load-failed", { errors, warnings, in_force: this.#describeInForce() });
      return;
    }
    const before = this.#inForce;
    this.#tellSettings(before, state);
    this.#inForce = state;
    server.reportSource({ state: "good", problems });
    server.place(state.placement);
    const transaction = transactionBetween(before, state);
    // The first commit makes the server ready, even one that changes nothing.
    if (transaction !== undefined || before === undefined) server.commit(transaction ?? { changes: [] });
    const { resources, files, layers } = state;
    const took = tookMs === undefined ? undefined : Math.round(tookMs);
    log.write("loaded", { resources, files, layers: layers.size, warnings, took_ms: took });
  }

  #describeInForce(): string {
    if (this.#inForce === undefined) return "nothing: nobody is served until the errors are mended";
    return `the last good state, revision ${this.#parts.server.revision} with ${plural(this.#inForce.resources, "resource")}`;
  }

  /** Warnings are told once, not again with every change; of very many problems, the first ones. */
  #tellProblems(problems: Load["problems"]): void {
    const known = this.#toldWarnings;
    this.#toldWarnings = new Set(problems.filter(({ severity }) => severity === "warning").map(identify));
    const fresh = problems.filter((problem) => problem.severity === "error" || !known.has(identify(problem)));
    const shown = [
      ...fresh.filter(({ severity }) => severity === "error").slice(0, MAX_TOLD),
      ...fresh.filter(({ severity }) => severity === "warning").slice(0, MAX_TOLD),
    ];
    if (this.#parts.isText) this.#printProblems(fresh, shown);
    else this.#logProblems(fresh, shown);
  }

  #printProblems(fresh: Load["problems"], shown: Load["problems"]): void {
    const { context, directory } = this.#parts;
    const { stderr } = context.io;
    if (fresh.length === 0) return;
    stderr.write(formatProblems(shown, directory, context.colorsOf(stderr)));
    const rest = fresh.length - shown.length;
    const more = rest === 0 ? "" : `, ${rest} of them not shown: \`xds validate ${directory}\` shows all`;
    stderr.write(`${countProblems(fresh)}${more}\n`);
  }

  #logProblems(fresh: Load["problems"], shown: Load["problems"]): void {
    const { log } = this.#parts;
    for (const { severity, file, line, column, path, code, message, hint } of shown) {
      log.write(severity === "error" ? "problem" : "warning", { file, line, column, path, code, text: message, hint });
    }
    if (fresh.length > shown.length) log.write("problems-cut", { not_shown: fresh.length - shown.length });
  }

  /** Groups take effect with their load; what a server is made from does not. */
  #tellSettings(before: LoadedState | undefined, { settings }: LoadedState): void {
    if (before === undefined) return;
    const keys = new Set([...Object.keys(before.settings), ...Object.keys(settings)]);
    const now = new Map(Object.entries(settings));
    const then = new Map(Object.entries(before.settings));
    const changed = [...keys].filter((key) => JSON.stringify(now.get(key)) !== JSON.stringify(then.get(key)));
    if (changed.length > 0) this.#parts.log.write("settings-changed", { settings: changed.join(",") });
  }
}
