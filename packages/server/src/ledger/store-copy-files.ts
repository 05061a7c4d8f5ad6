import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createWhole, diskFiles } from "./ledger-files.ts";

/** Undefined: there is no such file. */
export async function readTextFile(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw cause;
  });
}

/** Puts a text in place of a file. Resolves when it is durable; at no moment is there a part of it. */
export async function replaceTextFile(directory: string, name: string, text: string): Promise<void> {
  await createWhole(diskFiles(directory), name, (file) => file.append(Buffer.from(text)));
}

/** Removes the directories in a directory whose names begin so, but one. */
export async function removeOthers(directory: string, prefix: string, but: string): Promise<void> {
  for (const name of await readdir(directory))
    if (name.startsWith(prefix) && name !== but) await removeDirectory(join(directory, name));
}

export async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
