import type { Dirent } from "node:fs";
import { join, sep } from "node:path";
import { type FileRole, isIgnoredName, roleOf } from "../layout.ts";
import type { Problem } from "../problem.ts";
import { stampOf } from "./file-stamp.ts";
import { asyncFileSystem, type FileSystem } from "./file-system.ts";
import { problem, systemCodeOf, unreadable } from "./file-system-problem.ts";
import { PathMap } from "./path-map.ts";

/** A file with resources or settings. */
export interface TreeFile {
  readonly role: Extract<FileRole, { kind: "resources" | "settings" }>;
  /** Its stamp when last checked; undefined: not checked, the reader does. */
  readonly stamp: string | undefined;
}

/**
 * The folders and files below a directory by relative path ("" is the directory, "/" the separator). Checks only the
 * paths that it is given.
 */
export class DirectoryTree {
  readonly files: PathMap<TreeFile> = new PathMap();
  /** The paths of files that were checked or are gone, until the reader takes them out: only these are to be read. */
  readonly unread: Set<string> = new Set();
  /** Real paths of folders by path, for watching them. */
  readonly folders: PathMap<string> = new PathMap();
  readonly #problems = new PathMap<Problem>();
  readonly #directory: string;
  readonly #fileSystem: FileSystem;

  constructor(directory: string, fileSystem: FileSystem = asyncFileSystem) {
    this.#directory = directory;
    this.#fileSystem = fileSystem;
  }

  get problems(): readonly Problem[] {
    return [...this.#problems.values()];
  }

  /** Forgets everything. */
  clear(): void {
    for (const path of this.files.keys()) this.unread.add(path);
    this.files.clear();
    this.folders.clear();
    this.#problems.clear();
  }

  /**
   * Checks everything again. Returns a problem, and forgets everything, if the directory cannot be read. Takes stamps
   * only of files that were read before, because reading takes them too.
   */
  async walk(): Promise<Problem | undefined> {
    const before = new Map(this.files);
    this.clear();
    try {
      const real = await this.#fileSystem.realpath(this.#directory);
      const entries = await this.#fileSystem.readdir(real);
      await this.#visitFolder({ path: "", real, entries, above: [], before });
    } catch (error) {
      const systemCode = systemCodeOf(error);
      if (systemCode === undefined) throw error;
      this.clear();
      return missingDirectory(systemCode);
    }
    return undefined;
  }

  /** Checks one path again: a file or folder that may be new, changed or gone. */
  async look(path: string): Promise<void> {
    const before = new Map<string, TreeFile>();
    const known = this.files.get(path);
    if (known !== undefined) before.set(path, known);
    if (this.folders.has(path)) this.#forgetFolder(path, before);
    if (this.files.delete(path)) this.unread.add(path);
    this.#problems.delete(path);
    const slash = path.lastIndexOf("/");
    const parent = this.folders.get(path.slice(0, Math.max(0, slash)));
    if (parent === undefined) return; // found when its parent folder is
    await this.#visitUnknown({ path, above: this.#realFoldersAbove(path), before });
  }

  #forgetFolder(folder: string, before: Map<string, TreeFile>): void {
    for (const [path, file] of this.files.take(folder)) {
      before.set(path, file);
      this.unread.add(path);
    }
    this.folders.take(folder);
    this.#problems.take(folder);
  }

  #realFoldersAbove(path: string): readonly string[] {
    const parts = path.split("/");
    return parts.map((_, index) => this.folders.get(parts.slice(0, index).join("/")) ?? "");
  }

  async #visitFolder({ path, real, entries, above, before }: Folder): Promise<void> {
    this.folders.set(path, real);
    const inside = [...above, real];
    for (const entry of entries) {
      if (isIgnoredName(entry.name)) continue;
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) await this.#enter(below, join(real, entry.name), inside, before);
      else if (entry.isFile() && before.get(below)?.stamp === undefined && !entry.name.includes("\ufffd")) {
        this.#noteFile(below, undefined);
      } else await this.#visitUnknown({ path: below, above: inside, before });
    }
  }

  /** Visits an entry of unknown kind, or a file whose stamp is wanted. */
  async #visitUnknown({ path, above, before }: Visit): Promise<void> {
    const absolute = join(this.#directory, path);
    try {
      const found = await this.#fileSystem.stat(absolute);
      if (found.isDirectory()) await this.#enter(path, await this.#fileSystem.realpath(absolute), above, before);
      else if (found.isFile()) this.#noteFile(path, before.get(path)?.stamp === undefined ? undefined : stampOf(found));
      else this.#noteOddity(path);
    } catch (error) {
      const systemCode = systemCodeOf(error);
      if (systemCode === undefined) throw error;
      await this.#noteFailure(path, systemCode);
    }
  }

  async #enter(
    path: string,
    real: string,
    above: readonly string[],
    before: ReadonlyMap<string, TreeFile>,
  ): Promise<void> {
    if (above.some((folder) => folder === real || folder.startsWith(withSeparator(real)))) {
      const message = "expected folders that end somewhere, got a symbolic link to a folder that it is in";
      this.#problems.set(path, problem("SYMLINK_CYCLE", path, message, { hint: "remove the link" }));
      return;
    }
    try {
      await this.#visitFolder({ path, real, entries: await this.#fileSystem.readdir(real), above, before });
    } catch (error) {
      const systemCode = systemCodeOf(error);
      if (systemCode === undefined) throw error;
      if (systemCode === "ENOENT") {
        await this.#noteBadName(path, "folder");
        return; // unless its name is bad, it was removed after its parent was read
      }
      this.folders.set(path, real);
      this.#problems.set(path, unreadable(path, "folder", systemCode));
    }
  }

  #noteFile(path: string, stamp: string | undefined): void {
    const role = roleOf(path);
    if (role.kind === "resources" || role.kind === "settings") {
      this.files.set(path, { role, stamp });
      this.unread.add(path);
    } else if (role.kind === "misplaced") {
      this.#problems.set(path, problem("FOLDER_MISPLACED", path, role.why, { hint: role.hint }));
    } else if (role.meant !== undefined) this.#problems.set(path, ignored(path, role.meant));
  }

  #noteOddity(path: string): void {
    if (!concernsUs(path)) return;
    const message = "expected a regular file, got a device, a socket or a pipe";
    this.#problems.set(path, problem("FILE_NOT_REGULAR", path, message));
  }

  async #noteFailure(path: string, systemCode: string): Promise<void> {
    if (systemCode === "ENOENT" && (await this.#noteBadName(path, "file"))) return;
    if (!concernsUs(path)) return;
    if (systemCode === "ENOENT" && !(await this.#isLink(path))) return; // removed
    this.#problems.set(path, unreadable(path, "file", systemCode));
  }

  /** Whether an entry cannot be found because its name is not UTF-8; notes that if it is a folder, or concerns us. */
  async #noteBadName(path: string, what: "file" | "folder"): Promise<boolean> {
    if (!path.includes("\ufffd")) return false;
    const entry = await listed(join(this.#directory, path), this.#fileSystem);
    if (entry === undefined) return false;
    const kind = entry.isDirectory() ? "folder" : what;
    if (kind === "file" && !concernsUs(path)) return true;
    const message = `expected a ${kind} name in UTF-8, got one that is not`;
    this.#problems.set(path, problem("FILE_NAME_INVALID", path, message, { hint: `rename the ${kind}` }));
    return true;
  }

  /** Whether there is something, although what it leads to is not there. */
  async #isLink(path: string): Promise<boolean> {
    try {
      await this.#fileSystem.lstat(join(this.#directory, path));
      return true;
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
      return false;
    }
  }
}

interface Visit {
  readonly path: string;
  /** The real paths of the enclosing folders. */
  readonly above: readonly string[];
  readonly before: ReadonlyMap<string, TreeFile>;
}

interface Folder extends Visit {
  readonly real: string;
  readonly entries: readonly Dirent[];
}

function concernsUs(path: string): boolean {
  return roleOf(path).kind !== "ignored";
}

/** The entry of a folder whose name reads like this. */
async function listed(absolute: string, fileSystem: FileSystem): Promise<Dirent | undefined> {
  const cut = absolute.lastIndexOf(sep);
  try {
    const name = absolute.slice(cut + 1);
    return (await fileSystem.readdir(absolute.slice(0, cut) || sep)).find((entry) => entry.name === name);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined; // the folder is removed too
  }
}

function ignored(path: string, meant: string): Problem {
  const hint = `rename it to end in ${meant} to have it read`;
  const message = "expected an extension that is known, the file is ignored";
  return { code: "FILE_IGNORED", severity: "warning", file: path, message, hint };
}

function missingDirectory(systemCode: string): Problem {
  if (systemCode === "ENOENT") {
    const message = "expected a directory, there is none at this path";
    return problem("SOURCE_DIRECTORY_MISSING", ".", message, { hint: "create it, or give the path of another one" });
  }
  if (systemCode === "ENOTDIR") {
    const message = "expected a directory, got a file";
    return problem("SOURCE_DIRECTORY_MISSING", ".", message, { hint: "give the path of the directory it is in" });
  }
  return { ...unreadable(".", "folder", systemCode), code: "SOURCE_DIRECTORY_UNREADABLE" };
}

function withSeparator(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}
