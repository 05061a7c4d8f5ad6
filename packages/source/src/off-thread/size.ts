import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isIgnoredName, roleOf } from "../layout.ts";

/** The size up to which a directory is read without a thread, in bytes: that takes less time than starting one. */
export const IN_THREAD_BYTES: number = 128 * 1024;

/** So many entries are looked at; a directory whose resources are behind others seems small. */
const MOST_ENTRIES = 2_000;

/** Whether the files of a directory seem to be more than is read without a thread. Takes a few milliseconds at most. */
export function seemsLarge(directory: string): boolean {
  let bytes = 0;
  let entries = 0;
  const folders = [""];
  for (const folder of folders) {
    for (const entry of entriesOf(join(directory, folder))) {
      if (++entries > MOST_ENTRIES) return false;
      if (isIgnoredName(entry.name)) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else if (roleOf(path).kind === "resources") bytes += sizeOf(join(directory, path));
      if (bytes > IN_THREAD_BYTES) return true;
    }
  }
  return false;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
