import { link, lstat, mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FileTarget, forEachAtOnce } from "./file-target.ts";
import { flushDirectory, isCode, isTemporary, type NewFile, writeFlushed } from "./replace-file.ts";

/** The link that clients read through, as in Kubernetes volumes. */
const DATA = "..data";
const NEXT = "..data_tmp";
/** Milliseconds that a generation stays after the next one, for readers. */
const KEPT_MS = 5_000;

/**
 * Writes generations: each is an immutable directory, and the link `..data` is swapped to the new one. The names that
 * clients use are links through it. Generations share unchanged files.
 */
export class LinkedDirectory implements FileTarget {
  readonly leftBehind: readonly string[];
  readonly #path: string;
  readonly #old = new Map<string, NodeJS.Timeout>();
  #current: string | undefined;
  #files: ReadonlySet<string>;
  #generation = 0;

  private constructor(path: string, current: string | undefined, files: readonly string[]) {
    this.#path = path;
    this.#current = current;
    this.#files = new Set(files);
    this.leftBehind = files;
  }

  /** Throws file system errors. */
  static async open(path: string): Promise<LinkedDirectory> {
    const current = await readLink(join(path, DATA));
    const files = current === undefined ? [] : await listFiles(join(path, current), "");
    for (const name of await readdir(path)) {
      const isGeneration = /^\.\.\d/.test(name) && name !== current;
      if (isGeneration || name === NEXT) await rm(join(path, name), { recursive: true, force: true });
    }
    return new LinkedDirectory(path, files.length === 0 ? undefined : current, files);
  }

  async write(groups: readonly (readonly NewFile[])[]): Promise<readonly string[]> {
    const files = groups.flat();
    await this.#swap(files, new Set());
    return files.map(({ path }) => path);
  }

  async remove(paths: readonly string[]): Promise<readonly string[]> {
    const gone = new Set(paths.filter((path) => this.#files.has(path)));
    if (gone.size > 0) await this.#swap([], gone);
    return [...gone].sort();
  }

  async close(): Promise<void> {
    for (const [name, timer] of this.#old) {
      clearTimeout(timer);
      await rm(join(this.#path, name), { recursive: true, force: true });
    }
    this.#old.clear();
  }

  async #swap(files: readonly NewFile[], gone: ReadonlySet<string>): Promise<void> {
    await mkdir(this.#path, { recursive: true });
    const name = this.#nextName();
    const kept = this.#keptBut(new Set([...gone, ...files.map(({ path }) => path)]));
    const all = [...kept, ...files.map(({ path }) => path)];
    try {
      const tops = new Set(all.map((path) => path.split("/")[0] ?? path));
      for (const top of tops) await this.#requireNoFolder(top);
      await this.#build(name, files, kept);
      for (const top of tops) await this.#linkThrough(top);
      await rm(join(this.#path, NEXT), { force: true });
      await symlink(name, join(this.#path, NEXT));
      await rename(join(this.#path, NEXT), join(this.#path, DATA));
    } catch (error) {
      await rm(join(this.#path, name), { recursive: true, force: true }).catch(() => undefined);
      throw error;
    }
    await flushDirectory(this.#path);
    this.#retire(this.#current);
    this.#current = name;
    this.#files = new Set(all);
  }

  async #build(name: string, files: readonly NewFile[], kept: readonly string[]): Promise<void> {
    const root = join(this.#path, name);
    const folders = new Set([...kept, ...files.map(({ path }) => path)].map((path) => dirname(join(root, path))));
    await mkdir(root, { recursive: true });
    for (const folder of folders) await mkdir(folder, { recursive: true });
    await forEachAtOnce(kept, async (path) => {
      await link(join(this.#path, this.#current ?? name, path), join(root, path));
    }).catch((error: unknown) => {
      // The generation was removed from outside: the next one is written in full.
      this.#current = undefined;
      this.#files = new Set();
      throw error;
    });
    await forEachAtOnce(files, async ({ path, content, isSecret }) => {
      await writeFlushed(join(root, path), content, isSecret);
    });
    for (const folder of new Set([root, ...folders])) await flushDirectory(folder);
  }

  /** Paths of the current generation without the replaced ones. */
  #keptBut(replaced: ReadonlySet<string>): readonly string[] {
    return [...this.#files].filter((path) => !replaced.has(path));
  }

  /** Before the first link is changed: a client that had some of the new generation would get no changes of the others. */
  async #requireNoFolder(top: string): Promise<void> {
    const path = join(this.#path, top);
    if ((await lstat(path).catch(() => undefined))?.isDirectory() === true)
      throw new Error(`expected a link at ${path}, got a folder: empty the directory, or write to another one`);
  }

  /** Creates a client-visible link before the swap, because the new generation's references must resolve at once. */
  async #linkThrough(top: string): Promise<void> {
    const target = join(DATA, top);
    const path = join(this.#path, top);
    if ((await readLink(path)) === target) return;
    await rm(`${path}${NEXT}`, { force: true });
    await symlink(target, `${path}${NEXT}`);
    await rename(`${path}${NEXT}`, path);
  }

  #retire(name: string | undefined): void {
    if (name === undefined) return;
    const timer = setTimeout(() => {
      this.#old.delete(name);
      void rm(join(this.#path, name), { recursive: true, force: true }).catch(() => undefined);
    }, KEPT_MS);
    timer.unref();
    this.#old.set(name, timer);
  }

  #nextName(): string {
    const time = new Date().toISOString().replaceAll(/[-:]/g, "_").replace("T", "_").replace("Z", "");
    return `..${time}.${process.pid}.${++this.#generation}`;
  }
}

async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isCode(error, "ENOENT", "EINVAL")) return undefined;
    throw error;
  }
}

async function listFiles(root: string, below: string): Promise<readonly string[]> {
  const files: string[] = [];
  try {
    for (const name of await readdir(join(root, below))) {
      const path = below === "" ? name : `${below}/${name}`;
      if ((await lstat(join(root, path))).isDirectory()) files.push(...(await listFiles(root, path)));
      else if (!isTemporary(name)) files.push(path);
    }
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
  }
  return files;
}
