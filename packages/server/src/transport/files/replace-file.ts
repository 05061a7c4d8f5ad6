import { randomBytes } from "node:crypto";
import { type FileHandle, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A file to write. */
export interface NewFile {
  /** Path below the directory. */
  readonly path: string;
  readonly content: Uint8Array;
  /** Readable by its owner only, because it holds secrets (client-behaviours J10). */
  readonly isSecret: boolean;
}

/** Suffix of a file that is being written; no client file has it. */
const TEMPORARY = ".xds-tmp";

export function isTemporary(name: string): boolean {
  return name.endsWith(TEMPORARY);
}

/**
 * Replaces a file atomically: writes beside it, flushes, verifies and renames, so that no reader sees a partial file
 * (S-FS-14). Throws file system errors; then the old file is still there.
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

/** Writes and flushes a new file and verifies its content: half a `.pb` may be a valid one (J4). */
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

/** Replaces a less important file atomically, without a flush: it may be lost in a power failure. */
export async function replaceQuickly(path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}${TEMPORARY}`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

/** Makes renames in a directory durable, where the file system can. */
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

/** Whether an error is a file system error with one of these codes. */
export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
