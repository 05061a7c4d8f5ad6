import { constants } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../problem.ts";
import { stampOf } from "./file-stamp.ts";
import { asyncFileSystem, type FileSystem, type OpenFile } from "./file-system.ts";
import { problem, systemCodeOf, unreadable } from "./file-system-problem.ts";

/** The result of reading a file. */
export type FileReading =
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly stamp: string }
  /** The file was written while it was read. */
  | { readonly kind: "changing" }
  | { readonly kind: "gone" }
  /** The stamp is undefined if it could not be taken; the file is then tried every time. */
  | { readonly kind: "refused"; readonly problem: Problem; readonly stamp: string | undefined };

const SETTLE_ATTEMPTS = 40;
const SETTLE_MS = 25;

/**
 * Reads a regular file of at most `maxBytes` bytes, as of one moment; into `memory` if it is large enough. `file` is its
 * name in problems.
 */
export async function readWholeFile(
  absolute: string,
  file: string,
  maxBytes: number,
  files: FileSystem = asyncFileSystem,
  memory?: Uint8Array,
): Promise<FileReading> {
  let handle: OpenFile;
  try {
    // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
    handle = await files.open(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return refusal(error, file);
  }
  try {
    return await readOpenFile(handle, file, maxBytes, memory);
  } catch (error) {
    return refusal(error, file);
  } finally {
    await handle.close();
  }
}

/** Reads a file, and retries if it is written meanwhile; fails if that never stops. */
export async function readSettledFile(
  absolute: string,
  file: string,
  maxBytes: number,
): Promise<Exclude<FileReading, { kind: "changing" }>> {
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) {
    const reading = await readWholeFile(absolute, file, maxBytes);
    if (reading.kind !== "changing") return reading;
    await sleep(SETTLE_MS);
  }
  return { kind: "refused", problem: alwaysChanging(file), stamp: undefined };
}

/** The problem of a file that is written all the time. */
export function alwaysChanging(file: string): Problem {
  const message = "expected a file that is finished, it is written to all the time";
  return problem("FILE_CHANGING", file, message, { hint: "write it under another name and rename it when it is done" });
}

async function readOpenFile(
  handle: OpenFile,
  file: string,
  maxBytes: number,
  memory: Uint8Array | undefined,
): Promise<FileReading> {
  const before = await handle.stat();
  const stamp = stampOf(before);
  if (!before.isFile()) {
    const message = "expected a regular file, got a device, a socket or a pipe";
    return { kind: "refused", stamp, problem: problem("FILE_NOT_REGULAR", file, message) };
  }
  if (Number(before.size) > maxBytes) return { kind: "refused", stamp, problem: tooLarge(file, before.size, maxBytes) };
  const bytes = await handle.readFile(Number(before.size), memory);
  const after = await handle.stat();
  if (stampOf(after) !== stamp || BigInt(bytes.length) !== before.size) return { kind: "changing" };
  return { kind: "read", bytes, stamp };
}

function refusal(error: unknown, file: string): FileReading {
  const systemCode = systemCodeOf(error);
  if (systemCode === undefined) throw error;
  if (systemCode === "ENOENT") return { kind: "gone" };
  return { kind: "refused", problem: unreadable(file, "file", systemCode), stamp: undefined };
}

/** Whether a file was refused for its size. */
export function isTooLarge(reading: FileReading): boolean {
  return reading.kind === "refused" && reading.problem.code === "FILE_TOO_LARGE";
}

function tooLarge(file: string, size: bigint, maxBytes: number): Problem {
  const message = `expected at most ${mebibytes(maxBytes)} MiB in one file, got ${mebibytes(Number(size))} MiB`;
  const hint = "split the file, or raise limits.max-file-bytes";
  return problem("FILE_TOO_LARGE", file, message, { hint });
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1).replace(/\.0$/, "");
}
