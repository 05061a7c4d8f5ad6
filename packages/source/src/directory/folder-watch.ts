import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isIgnoredName, isVolumeSwap } from "../layout.ts";
import { systemCodeOf } from "./file-system-problem.ts";
import { PathMap } from "./path-map.ts";

/**
 * Reports which paths below a directory may have changed. It watches each folder by its real path: watching files
 * misses renames over them, and recursive watching misses swapped links.
 */
export class FolderWatch {
  readonly #directory: string;
  readonly #onChange: (path: string) => void;
  readonly #watchers = new PathMap<{ readonly watcher: FSWatcher; readonly real: string }>();
  readonly #refused = new Map<string, string>();
  /** What the directory was when its watch began. */
  #identity: string | undefined;

  /** `onChange` receives the path that may have changed; "" stands for everything. */
  constructor(directory: string, onChange: (path: string) => void) {
    this.#directory = directory;
    this.#onChange = onChange;
  }

  /** Folders that the system cannot watch, with the reason; their changes are not reported. */
  get refused(): ReadonlyMap<string, string> {
    return this.#refused;
  }

  /**
   * Watches these folders (path to real path) and the parent of the directory, and no others. Returns the newly watched
   * ones, whose earlier changes were missed.
   */
  follow(folders: ReadonlyMap<string, string>): readonly string[] {
    const wanted = new Map([...folders].map(([path, real]) => [path, real] as const));
    wanted.set("..", dirname(this.#directory));
    const root = folders.get("");
    // A directory behind a link is replaced in its own parent folder.
    if (root !== undefined && root !== this.#directory) wanted.set("../..", dirname(root));
    // Nobody tells of a folder further above that is replaced: every watch is then of what is no longer at its path.
    if (root !== undefined && this.#watchers.has("") && identityOf(root) !== this.#identity) this.close();
    for (const [path, { watcher, real }] of this.#watchers) {
      if (wanted.get(path) === real) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    for (const path of this.#refused.keys()) if (!wanted.has(path)) this.#refused.delete(path);
    return [...wanted].filter(([path, real]) => this.#add(path, real)).map(([path]) => path);
  }

  /** Drops the watch of a folder that may have been replaced by another. */
  forget(path: string): void {
    if (path !== "") {
      for (const { watcher } of this.#watchers.take(path).values()) watcher.close();
      return;
    }
    for (const [watched, { watcher }] of this.#watchers) {
      if (watched.startsWith("..")) continue;
      watcher.close();
      this.#watchers.delete(watched);
    }
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** True if the folder is newly watched. */
  #add(path: string, real: string): boolean {
    if (this.#watchers.has(path)) return false;
    if (path === "") this.#identity = identityOf(real);
    try {
      const watcher = watch(real, (event, name) => this.#hear(path, real, event, name));
      watcher.on("error", (error) => this.#lose(path, error));
      this.#watchers.set(path, { watcher, real });
      this.#refused.delete(path);
      return true;
    } catch (error) {
      this.#refuse(path, error);
      return false;
    }
  }

  #hear(folder: string, real: string, event: string, name: string | null): void {
    if (folder === ".." || folder === "../..") {
      const ours = folder === ".." ? basename(this.#directory) : basename(this.#watchers.get("")?.real ?? "");
      if (name !== null && name !== ours) return;
      if (event === "rename") this.forget("");
      this.#onChange("");
    } else if (name === null || isVolumeSwap(name)) this.#onChange(folder);
    else if (!isIgnoredName(name)) {
      const path = join(folder, name);
      // The watch may now be of another folder with the same name; a folder's own end is reported under its own name.
      const isMaybeOwnEnd = event === "rename" && basename(real) === name && !this.#watchers.has(path);
      if (event === "rename") this.forget(isMaybeOwnEnd ? folder : path);
      // The folder of a link to this one does not tell.
      if (isMaybeOwnEnd) this.#onChange(folder);
      this.#onChange(path);
    }
  }

  #lose(path: string, error: unknown): void {
    this.#watchers.get(path)?.watcher.close();
    this.#watchers.delete(path);
    this.#refuse(path, error);
    this.#onChange(path.startsWith("..") ? "" : path);
  }

  #refuse(path: string, error: unknown): void {
    const systemCode = systemCodeOf(error);
    if (systemCode === undefined) throw error;
    // A removed folder needs no watch; the next check finds out.
    if (systemCode !== "ENOENT" && systemCode !== "ENOTDIR") this.#refused.set(path, systemCode);
  }
}

/** The device and inode of a folder; undefined if it has gone. */
function identityOf(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
