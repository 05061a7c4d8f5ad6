import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import { Attention } from "./directory/attention.ts";
import type { HowToLook, SecretFilesMode } from "./directory/directory-reading.ts";
import type { Progress } from "./directory/file-cache.ts";
import { FolderWatch } from "./directory/folder-watch.ts";
import { alwaysChanging } from "./directory/read-file.ts";
import { watchLoads } from "./directory/watch-loads.ts";
import type { Load } from "./loaded-state.ts";
import { DirectoryReader } from "./off-thread/directory-reader.ts";
import { type Problem, sameProblems, sortProblems } from "./problem.ts";
import { type Patience, usualPatience } from "./quiet.ts";
import type { ValidationLevel } from "./read-resource.ts";
import type { AskedResource, ResourcePlace } from "./resource-places.ts";
import { untilReturn } from "./watch-iterator.ts";

/** Options of a directory source. They override `xdskit.yaml`. */
export interface DirectorySourceOptions {
  readonly directory: string;
  readonly api: EnvoyApi;
  /**
   * How violations of Envoy's validation rules count.
   * @default "warn"
   */
  readonly validation?: ValidationLevel;
  /**
   * The size limit of one file, in bytes.
   * @default 64 MiB
   */
  readonly maxFileBytes?: number;
  /**
   * Accept a directory without resources as an empty state.
   * @default false
   */
  readonly allowEmpty?: boolean;
  /**
   * Warn about fields that v2 cannot express of v3 resources, and the reverse (S-TYP-10).
   * @default false
   */
  readonly findsVersionLoss?: boolean;
  /**
   * What to do with files that a Secret names by relative paths: put their content in place of the path, and follow its
   * changes, or leave them to the clients. Absolute paths are always left.
   * @default "read"
   */
  readonly secretFiles?: SecretFilesMode;
  /**
   * How long to wait for further changes.
   * @default 30 ms without a change, 1 s in all
   */
  readonly patience?: Patience;
  /**
   * How often to check the whole directory without change events, in milliseconds.
   * @default 5_000, and less often where a check takes long
   */
  readonly pollMs?: number;
  /**
   * Read a directory of more than 128 KiB in a worker thread, so that it does not block the event loop. The thread
   * creates its own `EnvoyApi` with these descriptors, and ends with the watch.
   * @default no thread
   */
  readonly offThread?: { readonly descriptors: readonly Uint8Array[] };
}

/** A directory of resource files. */
export interface DirectorySource {
  /**
   * Reads everything at first, then what changed since the last call. Never throws for the content of the directory. In
   * a worker thread, a load that is still running when the watch ends, or the source is closed, rejects with an
   * `AbortError`. Where a thread reads, `onResources` is called with the resources as they arrive, some hundred at a
   * time; some may not be in the load.
   */
  load(
    onProgress?: (progress: Progress) => void,
    onResources?: (resources: readonly Resource[]) => void,
  ): Promise<Load>;
  /**
   * Yields a load whenever the content of the directory or its problems changed and writing has paused; the first one
   * at once if there was no load yet. Ends with the signal, or with `return` of its iterator. Only one watch at a time.
   * `onResources`: as for `load`.
   */
  watch(signal: AbortSignal, onResources?: (resources: readonly Resource[]) => void): AsyncIterable<Load>;
  /**
   * Where resources are in the files as they were read last, whether or not that could take effect; undefined where no
   * file has them.
   */
  placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[]>;
  /** Ends the thread that reads, if there is one; the next load starts another. A watch does so when it ends. */
  close(): void;
}

const EVERYTHING: ReadonlySet<string> = new Set([""]);
const POLL_MS = 5000;
const POLL_UNWATCHED_MS = 2000;
const POLL_MISSING_MS = 250;
/** The largest part of the time spent on checks; five times as much where the system reports no changes. */
const POLL_SHARE = 0.01;
/**
 * The shortest pause before an ended worker thread is replaced, in milliseconds; `RESTART_SHARE` limits the time that
 * threads take.
 */
const RESTART_MS = 500;
const RESTART_SHARE = 0.1;
const CHANGING_RETRY_MS = 50;
const CHANGING_LIMIT_MS = 5000;

/** Creates a source of a directory. It reads nothing until `load` or `watch`. */
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
  /** While a watch runs. */
  #folders: FolderWatch | undefined;

  constructor(options: DirectorySourceOptions) {
    const {
      directory,
      api,
      validation,
      maxFileBytes,
      allowEmpty,
      findsVersionLoss = false,
      secretFiles,
      patience,
      pollMs,
      offThread,
    } = options;
    this.#directory = resolve(directory);
    const fixed = { validation, maxFileBytes, allowEmpty, findsVersionLoss, secretFiles };
    this.#reader = new DirectoryReader({ directory: this.#directory, api, ...fixed }, offThread);
    this.#patience = patience ?? usualPatience;
    this.#pollMs = pollMs;
  }

  async load(
    onProgress?: (progress: Progress) => void,
    onResources?: (resources: readonly Resource[]) => void,
  ): Promise<Load> {
    const how: HowToLook = {
      ...{ isPatient: false },
      ...(onProgress && { onProgress }),
      ...(onResources && { onResources }),
    };
    const load = await this.#inTurn(() => this.#look(EVERYTHING, how));
    return this.#folders === undefined ? load : withWatchProblem(load, this.#folders.refused);
  }

  placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[]> {
    return this.#reader.placesOf(asked);
  }

  close(): void {
    this.#reader.close();
  }

  watch(signal: AbortSignal, onResources?: (resources: readonly Resource[]) => void): AsyncIterable<Load> {
    return untilReturn(signal, (ending) => this.#watch(ending, onResources));
  }

  async *#watch(
    signal: AbortSignal,
    onResources?: (resources: readonly Resource[]) => void,
  ): AsyncGenerator<Load, undefined> {
    const attention = new Attention(this.#patience, signal);
    const folders = new FolderWatch(this.#directory, (path) => attention.call(path));
    this.#folders = folders;
    const close = (): void => this.#reader.close();
    signal.addEventListener("abort", close, { once: true });
    const look = async (paths: ReadonlySet<string>): Promise<Load | undefined> => {
      const how: HowToLook = { isPatient: true, ...(onResources && { onResources }) };
      const looked = await this.#inTurn(() => this.#look(paths, how)).catch(unlessAborted(signal));
      if (looked === undefined) return undefined;
      for (const path of folders.follow(this.#reader.folders)) attention.call(path.startsWith("..") ? "" : path);
      return withWatchProblem(looked, folders.refused);
    };
    try {
      folders.follow(this.#reader.folders);
      attention.call(""); // catches changes between the last load and now
      const poll = (): (() => void) => this.#poll(attention, folders);
      const steps = { isEager: true, poll, look, isSame: sameLoad, mustTell: isReaderEnded };
      yield* watchLoads(attention, signal, this.#last, steps);
    } finally {
      signal.removeEventListener("abort", close);
      close();
      folders.close();
      this.#folders = undefined;
    }
  }

  /** Checks the whole directory from time to time, to find changes that the system does not report. */
  #poll(attention: Attention, folders: FolderWatch): () => void {
    const isMissing = this.#reader.folders.size === 0;
    const share = folders.refused.size > 0 ? POLL_SHARE * 5 : POLL_SHARE;
    const usualMs = folders.refused.size > 0 ? POLL_UNWATCHED_MS : POLL_MS;
    const afterMs = isReaderEnded(this.#last)
      ? Math.max(RESTART_MS, this.#lookMs / RESTART_SHARE)
      : (this.#pollMs ?? (isMissing ? POLL_MISSING_MS : Math.max(usualMs, this.#lookMs / share)));
    const timer = setTimeout(() => attention.call(""), afterMs);
    return () => clearTimeout(timer);
  }

  /** Reads until no file is being written. */
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

/** Turns the error of an aborted read into undefined; rethrows others. */
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

/** Whether two loads are equal: unchanged parts of a state are the same objects. */
export function sameLoad(a: Load, b: Load): boolean {
  if (a === b) return true;
  if (!sameProblems(a.problems, b.problems)) return false;
  if (a.state === undefined || b.state === undefined) return a.state === b.state;
  const { layers } = b.state;
  return (
    a.state.settings === b.state.settings &&
    a.state.groups === b.state.groups &&
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
    message: `the system does not report changes in ${refused.size === 1 ? "one folder" : `${refused.size} folders`} (${first}), they are looked for from time to time`,
    ...(first === "ENOSPC" ? { hint: "raise fs.inotify.max_user_watches" } : {}),
  };
  return { ...load, problems: sortProblems([...load.problems, unwatched]) };
}

/** Whether a load found nothing but the end of the thread that reads. */
function isReaderEnded(load: Load | undefined): boolean {
  return load?.problems[0]?.code === "SOURCE_READER_ENDED";
}
