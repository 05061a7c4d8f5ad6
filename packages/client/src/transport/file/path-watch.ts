import { type FSWatcher, lstatSync, statSync, watch } from "node:fs";
import { basename, join } from "node:path";
import { entryOf, type WatchPoint, watchPointsOf } from "./watch-points.ts";

/** A file that is followed, and what counts as a change of it. */
export interface WatchedFile {
  readonly path: string;
  /** Something else at the path: by a move, a link, and, unless `moves`, a write. */
  readonly on: "changes" | "moves";
  /** Only what is moved into this directory counts, whatever it is (C-FS-10). */
  readonly directory: string | undefined;
}

/** As it was when it was looked at. */
interface FollowedFile extends WatchedFile {
  readonly points: readonly WatchPoint[];
  readonly identity: string;
}

/** What the system offers: calls back with "rename" or "change", and the name of the entry. */
export type WatchDirectory = (
  directory: string,
  listener: (event: string, name: string | null) => void,
) => Pick<FSWatcher, "close" | "on" | "unref">;

/** How often the files are looked at where the system does not tell. */
const POLL_MS = 1_000;

/** The real one. */
export const watchDirectory: WatchDirectory = (directory, listener) => watch(directory, listener);

/**
 * Hears of changes of files. Directories are watched, not files: a file that is renamed over is another one. Where a directory
 * cannot be watched (no watches left, a network file system), its files are looked at every second. Keeps no process alive.
 */
export class PathWatch {
  readonly #onChange: () => void;
  readonly #watchDirectory: WatchDirectory;
  #files: readonly FollowedFile[] = [];
  #watchers = new Map<string, Pick<FSWatcher, "close">>();
  #isBlind = false;
  #isClosed = false;
  #poll: NodeJS.Timeout | undefined;

  constructor(onChange: () => void, watchDirectory: WatchDirectory) {
    this.#onChange = onChange;
    this.#watchDirectory = watchDirectory;
  }

  /** Follows these files and no others, as they are now: what changes from now on is told. */
  follow(files: readonly WatchedFile[]): void {
    if (this.#isClosed) return;
    this.#isBlind = false;
    // What is remembered first cannot be newer than what is watched.
    this.#files = files.map((file) => ({ ...file, points: pointsOf(file), identity: identityOf(file) }));
    const directories = new Set(this.#files.flatMap(directoriesOf));
    for (const [directory, watcher] of this.#watchers) if (!directories.has(directory)) this.#drop(directory, watcher);
    for (const directory of directories) if (!this.#watchers.has(directory)) this.#add(directory);
    if (this.#isBlind) this.#startPolling();
    else this.#stopPolling();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopPolling();
    for (const [directory, watcher] of this.#watchers) this.#drop(directory, watcher);
  }

  #add(directory: string): void {
    try {
      const watcher = this.#watchDirectory(directory, (event, name) => this.#hear(directory, event, name));
      watcher.on("error", () => this.#lose(directory));
      watcher.unref();
      this.#watchers.set(directory, watcher);
    } catch {
      // It is not there, or the system has no watch for it: then somebody has to look.
      this.#isBlind = true;
    }
  }

  #drop(directory: string, watcher: Pick<FSWatcher, "close">): void {
    this.#watchers.delete(directory);
    watcher.close();
  }

  #lose(directory: string): void {
    const watcher = this.#watchers.get(directory);
    if (watcher !== undefined) this.#drop(directory, watcher);
    this.#onChange();
  }

  #hear(directory: string, event: string, name: string | null): void {
    if (!this.#watchers.has(directory)) return;
    // The directory itself was moved or removed: there may be another one of its name.
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
    // A directory that was not there may be there now.
    this.follow(this.#files);
    if (changed) this.#onChange();
  }
}

/** Whether what happened to an entry is a change of a file. */
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

/** What is another one when a file has changed in the way that counts; "" where there is none. */
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
    // It is not there, which is an identity as well.
    return "";
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
