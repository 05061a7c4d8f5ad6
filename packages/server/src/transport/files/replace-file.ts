import { randomBytes } from "node:crypto";
import { type FileHandle, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** What a file is to hold, and who may read it. */
export interface NewFile {
  /** Below the directory. */
  readonly path: string;
  readonly content: Uint8Array;
  /** Readable by its owner only: there are secrets in it (client-behaviours J10). */
  readonly isSecret: boolean;
}

/** The end of the name of a file that is being written; no client's file ends so. */
const TEMPORARY = ".xds-tmp";

export function isTemporary(name: string): boolean {
  return name.endsWith(TEMPORARY);
}

/**
 * Puts a file in the place of the one that is there: written beside it, flushed, read again, and renamed over it, so that no reader
 * ever sees a part of it (S-FS-14). Throws what the file system throws; then what was there is still there.
 */
export async function replaceFile(path: string, content: Uint8Array, isSecret: boolean): Promise<void> {
  const temporary = join(
    dirname(path),
    `.${basename(path).slice(0, 100)}.${randomBytes(6).toString("hex")}${TEMPORARY}`,
  );
  try {
    await writeFlushed(temporary, content, isSecret);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Writes a new file to the disk, and makes sure that it can be read as it was written: half a `.pb` may be a valid one (J4). */
export async function writeFlushed(path: string, content: Uint8Array, isSecret: boolean): Promise<void> {
  const file = await open(path, "wx", isSecret ? 0o600 : 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  const written = await readFile(path);
  if (!written.equals(content)) throw new Error(`${path} does not hold what was written to it`);
}

/** Replaces a file of no consequence: a reader never sees a part of it, but after a loss of power it may be gone. */
export async function replaceQuickly(path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}${TEMPORARY}`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

/** Makes renames in a directory last. Not every file system can. */
export async function flushDirectory(path: string): Promise<void> {
  let directory: FileHandle | undefined;
  try {
    directory = await open(path, "r");
    await directory.sync();
  } catch (error) {
    if (!isCode(error, "EINVAL", "EISDIR", "EPERM", "ENOTSUP")) throw error;
  } finally {
    await directory?.close();
  }
}

/** Whether an error is one of the file system, with one of these codes. */
export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
