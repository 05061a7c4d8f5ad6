import { type FSWatcher, lstatSync, statSync, watch } from "node:fs";
import { basename, join } from "node:path";
import { entryOf, type WatchPoint, watchPointsOf } from "./watch-points.ts";

/** A followed file, and what counts as a change. */
export interface WatchedFile {
  readonly path: string;
  /** A new file at the path by a move or a link; with `changes` also a write. */
  readonly on: "changes" | "moves";
  /** Only a move into this directory counts, whatever is moved (C-FS-10). */
  readonly directory: string | undefined;
}

/** The file as of the last check. */
interface FollowedFile extends WatchedFile {
  readonly points: readonly WatchPoint[];
  readonly identity: string;
}

/**
 * Watches a directory, as `watch` of `node:fs` does: calls back with "rename" or "change" and the name of the entry.
 */
export type WatchDirectory = (
  directory: string,
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on" | "unref">;

/** The polling interval where the system cannot watch, in milliseconds. */
const POLL_MS = 1_000;
/** How often watched directories are compared with those at their paths, in milliseconds. */
const COMPARE_MS = 5_000;

interface WatchedDirectory {
  readonly watcher: Pick<FSWatcher, "close">;
  readonly identity: string;
}

/** `watch` of `node:fs`. */
export const watchDirectory: WatchDirectory = (directory, listener) => watch(directory, listener);

/**
 * Watches files for changes. It watches their directories, because a file that is replaced by a rename is another file.
 * Where a directory cannot be watched (no watches left, a network file system), it polls every second. A directory above
 * them that is replaced causes no event, so it looks every five seconds. Does not keep the process alive.
 */
export class PathWatch {
  readonly #onChange: () => void;
  readonly #watchDirectory: WatchDirectory;
  #files: readonly FollowedFile[] = [];
  #watchers = new Map<string, WatchedDirectory>();
  #isBlind = false;
  #isClosed = false;
  #poll: NodeJS.Timeout | undefined;
  #comparison: NodeJS.Timeout | undefined;

  constructor(onChange: () => void, watchDirectory: WatchDirectory) {
    this.#onChange = onChange;
    this.#watchDirectory = watchDirectory;
  }

  /** Replaces the followed files; reports changes from now on. */
  follow(files: readonly WatchedFile[]): void {
    if (this.#isClosed) return;
    this.#isBlind = false;
    // Recorded before the watch starts, so that the record is never newer than the watch.
    this.#files = files.map((file) => ({ ...file, points: pointsOf(file), identity: identityOf(file) }));
    const directories = new Set(this.#files.flatMap(directoriesOf));
    for (const directory of this.#watchers.keys()) if (!directories.has(directory)) this.#drop(directory);
    for (const directory of directories) if (!this.#watchers.has(directory)) this.#add(directory);
    if (this.#isBlind) this.#startPolling();
    else this.#stopPolling();
    this.#comparison ??= setInterval(() => this.#compare(), COMPARE_MS).unref();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopPolling();
    clearInterval(this.#comparison);
    for (const directory of this.#watchers.keys()) this.#drop(directory);
  }

  #add(directory: string): void {
    try {
      // Before the watch, so that it is never of a newer directory than the watch.
      const identity = identityAt(directory);
      const watcher = this.#watchDirectory(directory, (event, name) => this.#hear(directory, event, name));
      watcher.on("error", () => this.#lose(directory));
      watcher.unref();
      this.#watchers.set(directory, { watcher, identity });
    } catch {
      // The directory is missing, or the system cannot watch it, so it is polled.
      this.#isBlind = true;
    }
  }

  #drop(directory: string): void {
    const watched = this.#watchers.get(directory);
    this.#watchers.delete(directory);
    watched?.watcher.close();
  }

  #lose(directory: string): void {
    this.#drop(directory);
    this.#onChange();
  }

  #compare(): void {
    for (const [directory, { identity }] of this.#watchers)
      if (identity !== identityAt(directory)) this.#lose(directory);
  }

  #hear(directory: string, event: string, name: string | null): void {
    if (!this.#watchers.has(directory)) return;
    // The directory itself was moved or removed; another one may have its name.
    if (event === "rename" && name === basename(directory)) {
      this.#lose(directory);
      return;
    }
    if (name === null || this.#files.some((file) => concerns(file, { directory, event, name }))) this.#onChange();
  }

  #startPolling(): void {
    if (this.#poll !== undefined) return;
    this.#poll = setInterval(() => this.#look(), POLL_MS);
    this.#poll.unref();
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  #look(): void {
    const changed = this.#files.some((file) => file.identity !== identityOf(file));
    // A missing directory may exist now.
    this.follow(this.#files);
    if (changed) this.#onChange();
  }
}

/** Whether an event of an entry concerns a file. */
function concerns(
  file: FollowedFile,
  { directory, event, name }: { readonly directory: string; readonly event: string; readonly name: string },
): boolean {
  if (file.directory !== undefined) {
    return file.directory === directory && event === "rename" && isThere(join(directory, name));
  }
  if (!file.points.some((point) => point.directory === directory && point.name === name)) return false;
  return file.on === "changes" || (event === "rename" && file.identity !== identityOf(file));
}

function directoriesOf(file: FollowedFile): readonly string[] {
  return file.directory === undefined ? file.points.map(({ directory }) => directory) : [file.directory];
}

function pointsOf(file: WatchedFile): readonly WatchPoint[] {
  return file.on === "moves" ? [entryOf(file.path)] : watchPointsOf(file.path);
}

/** A value that differs after a change that counts; "" if the file does not exist. */
function identityOf(file: WatchedFile): string {
  try {
    if (file.directory !== undefined) return String(statSync(file.directory, { bigint: true }).mtimeNs);
    if (file.on === "moves") {
      const { dev, ino } = lstatSync(file.path, { bigint: true });
      return `${dev}:${ino}`;
    }
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file.path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    // A missing file has an identity too.
    return "";
  }
}

/** A value that differs for another directory at the path; "" if there is none. */
function identityAt(directory: string): string {
  try {
    const { dev, ino } = statSync(directory, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    // A missing directory has an identity too.
    return "";
  }
}

/** False too if the directory cannot be searched, or is no longer one. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // An exception in a listener of the system would end the process.
    return false;
  }
}
