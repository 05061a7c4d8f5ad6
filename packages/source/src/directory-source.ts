import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { Attention } from "./directory/attention.ts";
import type { HowToLook } from "./directory/directory-reading.ts";
import type { Progress } from "./directory/file-cache.ts";
import { FolderWatch } from "./directory/folder-watch.ts";
import { alwaysChanging } from "./directory/read-file.ts";
import type { Load } from "./loaded-state.ts";
import { DirectoryReader } from "./off-thread/directory-reader.ts";
import { type Problem, sameProblems, sortProblems } from "./problem.ts";
import { type Patience, usualPatience } from "./quiet.ts";
import type { ValidationLevel } from "./read-resource.ts";

/** What a source is made from. What is given here goes before what `xdskit.yaml` says. */
export interface DirectorySourceOptions {
  readonly directory: string;
  readonly api: EnvoyApi;
  /** What breaking a validation rule of Envoy's messages leads to. Default: `warn`. */
  readonly validation?: ValidationLevel;
  /** Size of one file. Default: 64 MiB. */
  readonly maxFileBytes?: number;
  /** A directory without resources is an empty state. Default: it is a problem. */
  readonly allowEmpty?: boolean;
  /** Warns of what v2 cannot express of resources of v3, and v3 of those of v2 (S-TYP-10). Default: it does not. */
  readonly findsVersionLoss?: boolean;
  /** How long to wait for more changes. Default: 50 ms of quiet, 1 s in all. */
  readonly patience?: Patience;
  /**
   * How often to look at everything even if nobody says that it changed. Default: every 5 s, and less often where a look
   * takes long.
   */
  readonly pollMs?: number;
  /**
   * Reads a directory of more than 128 KiB in a thread of its own, so that nothing else has to wait for it. The thread
   * makes an `EnvoyApi` of its own, with these descriptors; it ends with the watch. Default: everything is read here.
   */
  readonly offThread?: { readonly descriptors: readonly Uint8Array[] };
}

/** A directory of resource files. */
export interface DirectorySource {
  /**
   * Reads what changed since the last call; everything at first. Never throws for what is in the directory. Where a thread
   * reads it, a load that lasts when the watch ends is given up, with an `AbortError`.
   */
  load(onProgress?: (progress: Progress) => void): Promise<Load>;
  /**
   * A load whenever what the directory holds, or what is wrong with it, has changed and it is quiet again; first of all
   * a load if there was none yet. Ends with the signal. One watch at a time.
   */
  watch(signal: AbortSignal): AsyncIterable<Load>;
}

const EVERYTHING: ReadonlySet<string> = new Set([""]);
const POLL_MS = 5000;
const POLL_UNWATCHED_MS = 2000;
const POLL_MISSING_MS = 250;
/** A look takes at most this part of the time, or five of it where nobody says what changed. */
const POLL_SHARE = 0.01;
/** How soon a thread that ended is followed by another, which may end as well: for at most this part of the time. */
const RESTART_MS = 500;
const RESTART_SHARE = 0.1;
const CHANGING_RETRY_MS = 50;
const CHANGING_LIMIT_MS = 5000;

/** A source that reads a directory. Nothing is read until `load` or `watch`. */
export function createDirectorySource(options: DirectorySourceOptions): DirectorySource {
  return new WatchedDirectory(options);
}

class WatchedDirectory implements DirectorySource {
  readonly #directory: string;
  readonly #reader: DirectoryReader;
  readonly #patience: Patience;
  readonly #pollMs: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #last: Load | undefined;
  #lookMs = 0;

  constructor(options: DirectorySourceOptions) {
    const {
      directory,
      api,
      validation,
      maxFileBytes,
      allowEmpty,
      findsVersionLoss = false,
      patience,
      pollMs,
      offThread,
    } = options;
    this.#directory = resolve(directory);
    const fixed = { validation, maxFileBytes, allowEmpty, findsVersionLoss };
    this.#reader = new DirectoryReader({ directory: this.#directory, api, ...fixed }, offThread);
    this.#patience = patience ?? usualPatience;
    this.#pollMs = pollMs;
  }

  load(onProgress?: (progress: Progress) => void): Promise<Load> {
    return this.#inTurn(() => this.#look(EVERYTHING, { isPatient: false, ...(onProgress && { onProgress }) }));
  }

  async *watch(signal: AbortSignal): AsyncIterable<Load> {
    const attention = new Attention(this.#patience, signal);
    const folders = new FolderWatch(this.#directory, (path) => attention.call(path));
    const close = (): void => this.#reader.close();
    signal.addEventListener("abort", close, { once: true });
    let told = this.#last;
    try {
      folders.follow(this.#reader.folders);
      attention.call(""); // what changed between the last load and now
      while (!signal.aborted) {
        const cancelPoll = this.#poll(attention, folders);
        await attention.untilCalled();
        cancelPoll();
        const paths = await attention.untilQuiet();
        if (signal.aborted) return;
        const looked = await this.#inTurn(() => this.#look(paths, { isPatient: true })).catch(unlessAborted(signal));
        if (looked === undefined) return;
        for (const path of folders.follow(this.#reader.folders)) attention.call(path.startsWith("..") ? "" : path);
        if (attention.isContinued) continue;
        attention.endBurst();
        const load = withWatchProblem(looked, folders.refused);
        if (told !== undefined && sameLoad(told, load)) continue;
        told = load;
        yield load;
      }
    } finally {
      signal.removeEventListener("abort", close);
      close();
      folders.close();
    }
  }

  /** Calls for a look at everything after a while: what nobody says is found all the same, only later. */
  #poll(attention: Attention, folders: FolderWatch): () => void {
    const isMissing = this.#reader.folders.size === 0;
    const share = folders.refused.size > 0 ? POLL_SHARE * 5 : POLL_SHARE;
    const usualMs = folders.refused.size > 0 ? POLL_UNWATCHED_MS : POLL_MS;
    const isReaderEnded = this.#last?.problems[0]?.code === "SOURCE_READER_ENDED";
    const afterMs = isReaderEnded
      ? Math.max(RESTART_MS, this.#lookMs / RESTART_SHARE)
      : (this.#pollMs ?? (isMissing ? POLL_MISSING_MS : Math.max(usualMs, this.#lookMs / share)));
    const timer = setTimeout(() => attention.call(""), afterMs);
    return () => clearTimeout(timer);
  }

  /** Looks until no file is being written to. */
  async #look(paths: ReadonlySet<string>, how: HowToLook): Promise<Load> {
    const beganAtMs = performance.now();
    let { load, changing } = await this.#reader.look(paths, how);
    if (paths.has("")) this.#lookMs = performance.now() - beganAtMs;
    while (changing.length > 0 && performance.now() - beganAtMs < CHANGING_LIMIT_MS) {
      await sleep(CHANGING_RETRY_MS);
      ({ load, changing } = await this.#reader.look(new Set(changing), how));
    }
    this.#last = changing.length === 0 ? load : stillChanging(load, changing);
    return this.#last;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#turn;
    const { promise, resolve: done } = withResolver();
    this.#turn = promise;
    await before;
    try {
      return await work();
    } finally {
      done();
    }
  }
}

/** What a look comes to that was given up. */
function unlessAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolvePromise: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolvePromise = done;
  });
  return { promise, resolve: resolvePromise };
}

/** Whether both say the same: the parts of a state are the same objects as long as they are equal. */
function sameLoad(a: Load, b: Load): boolean {
  if (a === b) return true;
  if (!sameProblems(a.problems, b.problems)) return false;
  if (a.state === undefined || b.state === undefined) return a.state === b.state;
  const { layers } = b.state;
  return (
    a.state.settings === b.state.settings &&
    a.state.placement === b.state.placement &&
    a.state.layers.size === layers.size &&
    [...a.state.layers].every(([layer, resources]) => layers.get(layer) === resources)
  );
}

function stillChanging(load: Load, changing: readonly string[]): Load {
  return { state: undefined, problems: sortProblems([...load.problems, ...changing.map(alwaysChanging)]) };
}

function withWatchProblem(load: Load, refused: ReadonlyMap<string, string>): Load {
  const [first] = refused.values();
  if (first === undefined) return load;
  const unwatched: Problem = {
    code: "SOURCE_UNWATCHED",
    severity: "warning",
    file: ".",
    message: `the system does not tell of changes in ${refused.size === 1 ? "one folder" : `${refused.size} folders`} (${first}), they are looked for from time to time`,
    ...(first === "ENOSPC" ? { hint: "raise fs.inotify.max_user_watches" } : {}),
  };
  return { ...load, problems: sortProblems([...load.problems, unwatched]) };
}
