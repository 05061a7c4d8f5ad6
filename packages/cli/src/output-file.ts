import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Writes a part of a file; resolves when the next part can be written. */
export type WritePart = (bytes: Uint8Array) => Promise<void>;

/**
 * Writes a file that the user named. A regular file is replaced atomically, with permissions of `mode`; a symbolic link
 * is followed; anything else, such as a device or a FIFO, is written into. Rejects with the errors of `fill` and with
 * file system errors, which have a `path`; then a regular file is unchanged.
 */
export async function writeOutputFile<T>(
  path: string,
  mode: number,
  fill: (write: WritePart) => Promise<T>,
): Promise<T> {
  const stats = await unlessAbsent(stat(path));
  if (stats === undefined || stats.isFile()) return await replaceFile(await targetOf(path), mode, fill);
  return await filled(await open(path, "w"), path, fill);
}

async function replaceFile<T>(path: string, mode: number, fill: (write: WritePart) => Promise<T>): Promise<T> {
  const temporary = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomBytes(6).toString("hex")}.xds-tmp`);
  const removeAtExit = (): void => rmSync(temporary, { force: true });
  process.on("exit", removeAtExit);
  try {
    const handle = await open(temporary, "wx", mode);
    const result = await filled(handle, path, async (write) => {
      const value = await fill(write);
      await handle.sync();
      return value;
    });
    await rename(temporary, path);
    return result;
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  } finally {
    process.off("exit", removeAtExit);
  }
}

/** Calls `fill` and closes the file. */
async function filled<T>(handle: FileHandle, path: string, fill: (write: WritePart) => Promise<T>): Promise<T> {
  try {
    return await fill(async (bytes) => {
      // Node names no file in the error of a write.
      await handle.writeFile(bytes).catch((cause: unknown) => {
        throw cause instanceof Error ? Object.assign(cause, { path }) : cause;
      });
    });
  } finally {
    await handle.close();
  }
}

/** What a path leads to, which need not exist: a link may dangle. */
async function targetOf(path: string): Promise<string> {
  const existing = await unlessAbsent(realpath(path));
  if (existing !== undefined) return existing;
  const directory = await realpath(dirname(path));
  const link = await unlessAbsent(readlink(path));
  return link === undefined ? join(directory, basename(path)) : await targetOf(resolve(directory, link));
}

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
}
