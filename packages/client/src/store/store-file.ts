import { createHash, type Hash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { KeptResource } from "@xdskit/protocol/internal";
import {
  formatResource,
  formatSource,
  formatTrailer,
  HEADER,
  type KeptSource,
  parseStore,
  type StoreContent,
  TRAILER_BYTES,
} from "./store-format.ts";

/** The size of one write. */
const CHUNK_CHARACTERS = 256 * 1024;
/** After this many milliseconds the pending chunk is written, so that other events get a turn. */
const SLICE_MS = 10;

/** The random part of a temporary file's name, which keeps writers apart. */
const SUFFIX_BYTES = 6;
const LEFTOVER = /^\.[0-9a-f]{12}\.new$/;

/** What to write, and what to leave out. */
export interface StoreToWrite {
  readonly sources: readonly KeptSource[];
  readonly isLeftOut: (resource: KeptResource) => boolean;
  readonly maxBytes: number;
}

/** Reads a store; undefined if there is no file. Never rejects. */
export async function readStore(path: string, maxBytes: number): Promise<StoreContent | undefined> {
  try {
    // Does not block on a pipe without a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { problem: "it is no file" };
      if (stats.size > maxBytes) return { problem: `it has ${stats.size} bytes, more than ${maxBytes}` };
      return parseStore(await file.readFile());
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Replaces the store atomically, even on power loss or with concurrent writers. Sources that do not fit are left out,
 * least recently used first, then least recently saved; the result lists their names. Rejects with a system error.
 */
export async function writeStore(path: string, store: StoreToWrite): Promise<readonly string[]> {
  const newPath = `${path}.${randomBytes(SUFFIX_BYTES).toString("hex")}.new`;
  const file = await open(newPath, "wx", 0o600);
  try {
    const leftOut = await writeSources(file, store).finally(() => file.close());
    await rename(newPath, path);
    await syncDirectory(dirname(path));
    return leftOut;
  } catch (error) {
    await rm(newPath, { force: true });
    throw error;
  }
}

/** Removes temporary files of killed writers. Rejects with a system error. */
export async function removeLeftovers(path: string): Promise<void> {
  const directory = dirname(path);
  const name = basename(path);
  for (const entry of await readdir(directory)) {
    const isLeftover = entry.startsWith(name) && LEFTOVER.test(entry.slice(name.length));
    if (isLeftover) await rm(join(directory, entry), { force: true });
  }
}

/** The bytes written so far, and their hash. */
interface Written {
  readonly bytes: number;
  readonly hash: Hash;
}

async function writeSources(
  file: FileHandle,
  { sources, isLeftOut, maxBytes }: StoreToWrite,
): Promise<readonly string[]> {
  const leftOut: string[] = [];
  const limit = maxBytes - TRAILER_BYTES;
  let written = await append(file, { bytes: 0, hash: createHash("sha256") }, HEADER);
  const latestFirst = [...sources].sort((a, b) => b.usedAtMs - a.usedAtMs || b.savedAtMs - a.savedAtMs);
  for (const source of latestFirst) {
    const withSource = await appendSource(file, written, chunksOf(source, isLeftOut), limit);
    if (withSource === undefined) leftOut.push(source.id);
    else written = withSource;
  }
  // A source that did not fit may have written beyond this length.
  await file.truncate(written.bytes);
  await append(file, written, formatTrailer(written.hash.copy().digest("hex")));
  await file.sync();
  return leftOut;
}

/** Undefined if the source does not fit; the next write overwrites it. */
async function appendSource(
  file: FileHandle,
  before: Written,
  chunks: Iterable<string>,
  limit: number,
): Promise<Written | undefined> {
  let written: Written = before;
  for (const chunk of chunks) {
    if (written.bytes + Buffer.byteLength(chunk) > limit) return undefined;
    written = await append(file, written, chunk);
  }
  return written;
}

function* chunksOf(source: KeptSource, isLeftOut: StoreToWrite["isLeftOut"]): Iterable<string> {
  let chunk = formatSource(source);
  let untilMs = performance.now() + SLICE_MS;
  for (const resource of source.resources) {
    if (!isLeftOut(resource)) chunk += formatResource(resource);
    if (chunk.length < CHUNK_CHARACTERS && performance.now() < untilMs) continue;
    yield chunk;
    chunk = "";
    untilMs = performance.now() + SLICE_MS;
  }
  yield chunk;
}

/** A nearly full disk may accept only a part of a write; the next write fails. */
async function append(file: FileHandle, { bytes, hash }: Written, text: string): Promise<Written> {
  const buffer = Buffer.from(text);
  for (let done = 0; done < buffer.length; ) {
    const { bytesWritten } = await file.write(buffer, done, buffer.length - done, bytes + done);
    done += bytesWritten;
  }
  return { bytes: bytes + buffer.length, hash: hash.copy().update(buffer) };
}

/** Makes the rename survive power loss. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r").catch(ignore);
  if (handle === undefined) return;
  try {
    await handle.sync().catch(ignore);
  } finally {
    await handle.close();
  }
}

/** Not every system can sync directories, and the file itself is written. */
function ignore(): undefined {
  return undefined;
}
