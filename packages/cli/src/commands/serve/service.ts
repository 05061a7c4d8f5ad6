import type { ManagementServer } from "@xdskit/server";
import {
  type AskedResource,
  type Load,
  type LoadedState,
  type Problem,
  problemCounts,
  type ResourcePlace,
  type ResourceSource,
  type SettingsContent,
  sameLoad,
} from "@xdskit/source";
import { describeLoad } from "../../output/describe-load.ts";
import type { CommandLog } from "../../output/log.ts";
import { countProblems, formatProblems } from "../../output/problems.ts";
import { withStatusLine } from "../../output/status-line.ts";
import type { SourcePlace } from "../../settings/source-place.ts";
import type { CommandContext } from "../context.ts";
import { BegunLoad } from "./begun-load.ts";
import type { Publishing } from "./publishing.ts";

/** Errors, and warnings, of one load that are printed. */
const MAX_TOLD = 50;

/** After how long a change that was refused is published again, in milliseconds. */
const RETRY_MS = 15_000;

/** Identifies a warning even if it moved to another line. */
function identify({ file, path, code, message }: Problem): string {
  return [file, path ?? "", code, message].join("\n");
}

/** How many problems are not shown, with those that a load leaves out. */
function notShown(all: readonly Problem[], shown: readonly Problem[]): number {
  const { errors, warnings } = problemCounts(all);
  return errors + warnings - shown.filter(({ omitted }) => omitted === undefined).length;
}

/** Files of one load that are named for having more or fewer resources. */
const MAX_RECOUNTED = 10;

/** Undefined where no file has more or fewer resources. */
function describeRecounted(recounted: Load["recounted"]): readonly string[] | undefined {
  if (recounted === undefined) return undefined;
  const named = recounted.slice(0, MAX_RECOUNTED).map(({ file, before, after }) => `${file}: ${before} to ${after}`);
  const more = recounted.length - named.length;
  return more === 0 ? named : [...named, `and ${more} more files`];
}

/** What a `Service` needs. */
export interface ServiceParts {
  readonly server: Pick<ManagementServer, "reportSource">;
  readonly publishing: Publishing;
  readonly source: ResourceSource;
  readonly log: CommandLog;
  readonly context: CommandContext;
  /** The settings that the server started with. */
  readonly file: Pick<SettingsContent, "settings" | "listeners">;
  readonly place: Pick<SourcePlace, "shown" | "shownDirectory">;
  readonly isText: boolean;
  /** What puts a changed setting in force; absent: a restart. */
  readonly applyWith?: (setting: string) => "SIGHUP" | "restart";
  /** Called when the first state is committed and clients are served. */
  onServing(): void;
}

/** Commits each load of the directory to the server, or reports why it cannot. */
export class Service {
  readonly #parts: ServiceParts;
  #inForce: LoadedState | undefined;
  #last: Load | undefined;
  #hadErrors = false;
  #turn: Promise<void> = Promise.resolve();
  #toldSettings: ReadonlyMap<string, string>;
  #toldWarnings: ReadonlySet<Problem> = new Set();
  #begun: BegunLoad | undefined;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#toldSettings = textsOf(parts.file);
  }

  /** The next `load` takes in what was begun. */
  begin(begun: BegunLoad): void {
    this.#begun = begun;
    this.#prepare(begun);
  }

  async load(): Promise<void> {
    const begun = this.#begun ?? this.#prepare(new BegunLoad(this.#parts.source));
    this.#begun = undefined;
    const { load, endedAt, tookMs } = await withStatusLine(this.#parts.context.io, (update) => {
      begun.showWith((progress) => update(() => describeLoad(progress)));
      return begun.ended;
    });
    const { beganAt } = begun;
    await this.#take({ ...load, reading: { noticedAt: beganAt, beganAt, endedAt } }, tookMs);
  }

  #prepare(begun: BegunLoad): BegunLoad {
    const { publishing } = this.#parts;
    if (publishing.prepare !== undefined) begun.prepareWith((resources) => publishing.prepare?.(resources));
    return begun;
  }

  /** Loads again without a change, as on SIGHUP. The signal cancels it without an error. */
  async reload(signal: AbortSignal): Promise<void> {
    await this.load().catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
    });
  }

  /** Publishes what the source had last, because now it can be recorded. */
  async publishAgain(): Promise<void> {
    if (this.#last !== undefined) await this.#take(this.#last, undefined);
  }

  /** Takes in what changed until now, if anything did. The signal cancels it without an error. */
  async refresh(signal: AbortSignal): Promise<void> {
    const load = await this.#parts.source.load().catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
    });
    if (load !== undefined) await this.#takeNew(load);
  }

  /** Where resources are in the source; undefined where that is not known. */
  async placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[]> {
    return (await this.#parts.source.placesOf?.(asked)) ?? asked.map(() => undefined);
  }

  /** Commits every change; resolves when the signal is aborted. */
  async follow(signal: AbortSignal): Promise<void> {
    const { source, publishing } = this.#parts;
    for await (const load of source.watch(signal, (resources) => publishing.prepare?.(resources))) {
      if (signal.aborted) return;
      await this.#takeNew(load);
    }
  }

  /** The watch finds again what a refresh took in, and the other way round. */
  async #takeNew(load: Load): Promise<void> {
    if (this.#last === undefined || !sameLoad(this.#last, load)) await this.#take(load, undefined);
    // What a refresh asks for may have been taken in by the watch, and not be in force yet.
    else await this.#turn;
  }

  /** Takes in one load after the other. */
  #take(load: Load, tookMs: number | undefined): Promise<void> {
    this.#last = load;
    const turn = this.#turn.then(() => this.#publish(load, tookMs));
    // One that fails is told to who waits for it, and the next one goes on.
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Nothing tells when what was refused could be recorded, such as a disk that has room again. */
  #retryLater(load: Load): void {
    const retry = setTimeout(() => {
      if (this.#last === load) void this.#take(load, undefined).catch(() => undefined);
    }, RETRY_MS);
    retry.unref();
  }

  async #publish(load: Load, tookMs: number | undefined): Promise<void> {
    const { log, publishing } = this.#parts;
    const { state, problems } = load;
    const hadErrors = this.#hadErrors;
    this.#hadErrors = state === undefined;
    this.#tellProblems(problems);
    const { errors, warnings } = problemCounts(problems);
    if (state === undefined) {
      this.#report("failed", problems);
      log.write("load-failed", { errors, warnings, in_force: this.#describeInForce() });
      return;
    }
    const before = this.#inForce;
    this.#tellSettings(state);
    const refusals = await publishing.publish(state, before, load.reading);
    if (refusals.length > 0) {
      this.#tellProblems([...refusals, ...problems]);
      this.#report("failed", [...refusals, ...problems]);
      this.#retryLater(load);
      return;
    }
    this.#inForce = state;
    this.#report("good", problems);
    const { resources, files, layers } = state;
    const took = tookMs === undefined ? undefined : Math.round(tookMs);
    if (hadErrors) log.write("corrected", {});
    const recounted = describeRecounted(load.recounted);
    log.write("loaded", { resources, files, layers: layers.size, warnings, took_ms: took, recounted });
    if (before?.access !== undefined && state.access === undefined) log.write("access-rules-removed", {});
    if (before === undefined) this.#parts.onServing();
  }

  /** Reports the source to the server; a problem of the directory itself has its name as the file. */
  #report(state: "good" | "failed", problems: Load["problems"]): void {
    const { server, place } = this.#parts;
    const named = problems.map((one) => (one.file === "." ? { ...one, file: place.shownDirectory } : one));
    server.reportSource({ state, problems: named });
  }

  #describeInForce(): string {
    const inForce = this.#parts.publishing.describeInForce(this.#inForce);
    return inForce ?? "nothing: no client is served until the errors are fixed";
  }

  /** Reports problems; a warning is reported once, not again with every load. */
  #tellProblems(problems: Load["problems"]): void {
    const before = this.#toldWarnings;
    const warnings = new Set(problems.filter(({ severity }) => severity === "warning"));
    this.#toldWarnings = warnings;
    // Warnings of unchanged files are the same objects; only the others are compared by their text.
    const unmatched = problems.filter((problem) => problem.severity === "error" || !before.has(problem));
    const isNew = unmatched.some(({ severity }) => severity === "warning");
    const known = new Set(isNew ? [...before].filter((problem) => !warnings.has(problem)).map(identify) : []);
    const fresh = unmatched.filter((problem) => problem.severity === "error" || !known.has(identify(problem)));
    const shown = [
      ...fresh.filter(({ severity }) => severity === "error").slice(0, MAX_TOLD),
      ...fresh.filter(({ severity }) => severity === "warning").slice(0, MAX_TOLD),
    ];
    if (this.#parts.isText) this.#printProblems(fresh, shown);
    else this.#logProblems(fresh, shown);
  }

  #printProblems(fresh: Load["problems"], shown: Load["problems"]): void {
    const { context, place } = this.#parts;
    const { stderr } = context.io;
    if (fresh.length === 0) return;
    stderr.write(formatProblems(shown, place.shownDirectory, context.colorsOf(stderr)));
    const rest = notShown(fresh, shown);
    const more = rest === 0 ? "" : `, ${rest} of them not shown: \`xds validate ${place.shown}\` shows all`;
    stderr.write(`${countProblems(fresh)}${more}\n`);
  }

  #logProblems(fresh: Load["problems"], shown: Load["problems"]): void {
    const { log } = this.#parts;
    for (const { severity, file, line, column, path, code, message, hint } of shown) {
      log.write(severity === "error" ? "problem" : "warning", { file, line, column, path, code, text: message, hint });
    }
    if (fresh.length > shown.length) log.write("problems-cut", { not_shown: notShown(fresh, shown) });
  }

  /** Logs changed settings that need a restart or SIGHUP; groups, client and access rules take effect with their load. */
  #tellSettings(state: LoadedState): void {
    const then = this.#toldSettings;
    const now = textsOf(state);
    this.#toldSettings = now;
    const keys = [...new Set([...then.keys(), ...now.keys()])];
    const changed = keys.filter((key) => now.get(key) !== then.get(key));
    const { log, applyWith = () => "restart" } = this.#parts;
    for (const how of ["SIGHUP", "restart"] as const) {
      const settings = changed.filter((key) => applyWith(key) === how).join(",");
      if (settings !== "") log.write("settings-changed", { settings, apply_with: how });
    }
  }
}

/** The settings that a server is created from, as text to compare; positions in the file do not matter. */
function textsOf({
  settings,
  listeners,
}: Pick<SettingsContent, "settings" | "listeners">): ReadonlyMap<string, string> {
  const plain = listeners.map(({ line: _line, column: _column, ...listener }) => listener);
  const entries = [...Object.entries(settings), ...(plain.length === 0 ? [] : [["listeners", plain] as const])];
  return new Map(entries.map(([key, value]) => [key, JSON.stringify(value)]));
}
