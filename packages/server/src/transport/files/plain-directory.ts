import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { type FileTarget, forEachAtOnce } from "./file-target.ts";
import type { PrivateFolder } from "./private-folder.ts";
import { flushDirectory, isCode, isTemporary, type NewFile, replaceFile } from "./replace-file.ts";

/** Replaces files one by one. */
export class PlainDirectory implements FileTarget {
  readonly leftBehind: readonly string[];
  readonly #path: string;
  readonly #folder: PrivateFolder;
  /** Listed files, whether they exist or not. */
  readonly #listed: Set<string>;
  /** Files that certainly hold what this writer wrote. */
  readonly #known = new Set<string>();

  private constructor(path: string, folder: PrivateFolder, leftBehind: readonly string[]) {
    this.#path = path;
    this.#folder = folder;
    this.leftBehind = leftBehind;
    this.#listed = new Set(leftBehind);
  }

  /** Throws file system errors. */
  static async open(path: string, folder: PrivateFolder): Promise<PlainDirectory> {
    const leftBehind = await folder.list();
    for (const each of new Set([".", ...leftBehind.map((file) => dirname(file))]))
      await removeTemporary(join(path, each));
    return new PlainDirectory(path, folder, leftBehind);
  }

  async write(groups: readonly (readonly NewFile[])[]): Promise<readonly string[]> {
    const changed: string[] = [];
    try {
      for (const { path } of groups.flat()) this.#listed.add(path);
      await this.#folder.keepList(this.#listed);
      for (const group of groups) changed.push(...(await this.#writeGroup(group)));
    } catch (error) {
      // Whatever caused the failure may have changed other files.
      this.#known.clear();
      throw error;
    }
    return changed;
  }

  async remove(paths: readonly string[]): Promise<readonly string[]> {
    const removed: string[] = [];
    await forEachAtOnce(paths, async (path) => {
      this.#known.delete(path);
      try {
        await rm(join(this.#path, path));
        removed.push(path);
      } catch (error) {
        if (!isCode(error, "ENOENT", "ENOTDIR")) throw error;
      }
      this.#listed.delete(path);
    });
    await this.#folder.keepList(this.#listed);
    return removed.sort();
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }

  async #writeGroup(files: readonly NewFile[]): Promise<readonly string[]> {
    const folders = new Set(files.map(({ path }) => dirname(join(this.#path, path))));
    for (const folder of folders) this.#expectNew(await mkdir(folder, { recursive: true }));
    const changed: string[] = [];
    await forEachAtOnce(files, async ({ path, content, isSecret }) => {
      const full = join(this.#path, path);
      if (this.#known.has(path) || !(await holds(full, content))) {
        await replaceFile(full, content, isSecret);
        changed.push(path);
      }
      this.#known.add(path);
    });
    for (const folder of changed.length === 0 ? [] : folders) await flushDirectory(folder);
    return changed;
  }

  /** Throws if a folder that had to be made held files of this writer. */
  #expectNew(made: string | undefined): void {
    if (made === undefined) return;
    const below = resolve(made) + sep;
    const isGone = [...this.#known].some((path) => resolve(this.#path, path).startsWith(below));
    if (isGone) throw new Error(`${made} was removed by another program; all files are written again`);
  }
}

async function holds(path: string, content: Uint8Array): Promise<boolean> {
  try {
    return (await readFile(path)).equals(content);
  } catch {
    // An unreadable file is replaced, or that fails with the reason.
    return false;
  }
}

/** Removes half-written files of a killed writer. */
async function removeTemporary(folder: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (isCode(error, "ENOENT", "ENOTDIR")) return;
    throw error;
  }
  for (const name of names) if (isTemporary(name)) await rm(join(folder, name), { force: true });
}
