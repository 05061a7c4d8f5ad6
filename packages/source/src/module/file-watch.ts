import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { stampOf } from "../directory/file-stamp.ts";

/** How far the clock of file systems may lag behind, in milliseconds. */
const CLOCK_STEP_MS = 20;

/** Reports changes of a set of files. It watches their folders, because files are often replaced by a rename. */
export class FileWatch {
  readonly #onChange: (path: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #files: ReadonlySet<string> = new Set();
  #stamps: ReadonlyMap<string, string | undefined> = new Map();

  constructor(onChange: (path: string) => void) {
    this.#onChange = onChange;
  }

  /** Watches these files only. Reports files that were not watched until now at once if they changed since `sinceMs`. */
  async follow(files: ReadonlySet<string>, sinceMs: number): Promise<void> {
    const before = this.#files;
    const watched = new Set(this.#watchers.keys());
    this.#files = files;
    const folders = new Set([...files].map((file) => dirname(file)));
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder);
    this.#stamps = await stampsOf(files);
    const unseen = [...files].filter((file) => !before.has(file) || !watched.has(dirname(file)));
    const changedAt = await Promise.all(unseen.map((file) => stat(file).catch(() => undefined)));
    for (const [index, file] of unseen.entries()) {
      if ((changedAt[index]?.ctimeMs ?? 0) >= sinceMs - CLOCK_STEP_MS) this.#onChange(file);
    }
  }

  /** Reports changes that the system did not, as in some network file systems. */
  async look(): Promise<void> {
    const before = this.#stamps;
    this.#stamps = await stampsOf(this.#files);
    for (const [file, stamp] of this.#stamps) if (before.get(file) !== stamp) this.#onChange(file);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => this.#hear(folder, name));
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder does not exist or cannot be watched; `look` finds its changes.
    }
  }

  #hear(folder: string, name: string | null): void {
    for (const file of this.#files) {
      if (dirname(file) === folder && (name === null || basename(file) === name)) this.#onChange(file);
    }
  }
}

async function stampsOf(files: ReadonlySet<string>): Promise<ReadonlyMap<string, string | undefined>> {
  const stamp = async (file: string): Promise<[string, string | undefined]> => {
    return [file, await stat(file, { bigint: true }).then(stampOf, () => undefined)];
  };
  return new Map(await Promise.all([...files].map(stamp)));
}
