/**
 * Values by relative path ("" is the root, "/" the separator). Takes out a folder at the cost of what is below it,
 * whatever else there is.
 */
export class PathMap<Value> extends Map<string, Value> {
  /** By folder: the paths directly in it that have a value, or lead to one. */
  readonly #inside = new Map<string, Set<string>>();

  override set(path: string, value: Value): this {
    if (!this.has(path)) this.#link(path);
    return super.set(path, value);
  }

  override delete(path: string): boolean {
    if (!super.delete(path)) return false;
    this.#unlink(path);
    return true;
  }

  override clear(): void {
    super.clear();
    this.#inside.clear();
  }

  /** Takes out this path and everything below it. */
  take(path: string): ReadonlyMap<string, Value> {
    const taken = new Map<string, Value>();
    const paths = [path];
    for (let next = paths.pop(); next !== undefined; next = paths.pop()) {
      for (const inside of this.#inside.get(next) ?? []) paths.push(inside);
      if (this.has(next)) taken.set(next, this.get(next) as Value);
    }
    for (const one of taken.keys()) this.delete(one);
    return taken;
  }

  #link(path: string): void {
    for (let below = path; below !== ""; ) {
      const folder = folderOf(below);
      const inside = this.#inside.get(folder) ?? new Set();
      if (inside.has(below)) return;
      this.#inside.set(folder, inside.add(below));
      below = folder;
    }
  }

  #unlink(path: string): void {
    for (let below = path; below !== "" && !this.has(below) && !this.#inside.has(below); ) {
      const folder = folderOf(below);
      const inside = this.#inside.get(folder);
      inside?.delete(below);
      if (inside?.size === 0) this.#inside.delete(folder);
      below = folder;
    }
  }
}

/** Whether a path is in one of these folders, the root left out. */
export function isInside(path: string, folders: ReadonlySet<string>): boolean {
  for (let folder = folderOf(path); folder !== ""; folder = folderOf(folder)) if (folders.has(folder)) return true;
  return false;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
