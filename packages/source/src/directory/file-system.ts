import {
  type BigIntStats,
  closeSync,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { type FileHandle, lstat, open, readdir, realpath, stat } from "node:fs/promises";

type Awaitable<T> = T | Promise<T>;

/** An open file. */
export interface OpenFile {
  stat(): Awaitable<BigIntStats>;
  /**
   * Reads a file of that size, or something of another length if it has another one by now; into the given memory if
   * that is more.
   */
  readFile(byteLength: number, memory?: Uint8Array): Awaitable<Uint8Array>;
  close(): Awaitable<void>;
}

/** What is read of the file system. */
export interface FileSystem {
  /** Whether reading blocks the thread, which has no other work then. */
  readonly blocks: boolean;
  open(path: string, flags: number): Awaitable<OpenFile>;
  stat(path: string): Awaitable<BigIntStats>;
  /** Of a link itself, and not of what it leads to. */
  lstat(path: string): Awaitable<BigIntStats>;
  realpath(path: string): Awaitable<string>;
  readdir(path: string): Awaitable<Dirent[]>;
}

/** Reads without blocking the thread. */
export const asyncFileSystem: FileSystem = {
  blocks: false,
  async open(path, flags) {
    const handle = await open(path, flags);
    return {
      stat: () => handle.stat({ bigint: true }),
      readFile: (byteLength, memory) => readAtOnce(handle, memoryFor(byteLength, memory), byteLength),
      close: () => handle.close(),
    };
  },
  stat: (path) => stat(path, { bigint: true }),
  lstat: (path) => lstat(path, { bigint: true }),
  realpath: (path) => realpath(path),
  readdir: (path) => readdir(path, { withFileTypes: true }),
};

/**
 * Memory for a file and a little more: one byte tells that it is longer than expected, and the rest lets a large file
 * grow in it. A small file would hold much memory for nothing.
 */
function memoryFor(byteLength: number, memory: Uint8Array | undefined): Uint8Array {
  const isFit = memory !== undefined && memory.length > byteLength && memory.length < 2 * byteLength;
  return isFit ? memory : Buffer.allocUnsafeSlow(byteLength + Math.floor(byteLength / 64) + 1);
}

/** Reads a file with one call, if it has the expected length: each call waits for a turn of the event loop. */
async function readAtOnce(handle: FileHandle, buffer: Uint8Array, expected: number): Promise<Uint8Array> {
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (bytesRead === 0 || length >= expected) return buffer.subarray(0, length);
  }
}

/** Blocks, for a thread without other work: a small file takes a tenth of the time. */
export const syncFileSystem: FileSystem = {
  blocks: true,
  open(path, flags) {
    const descriptor = openSync(path, flags);
    return {
      stat: () => fstatSync(descriptor, { bigint: true }),
      readFile: (byteLength, memory) => readNow(descriptor, memoryFor(byteLength, memory), byteLength),
      close: () => closeSync(descriptor),
    };
  },
  stat: (path) => statSync(path, { bigint: true }),
  lstat: (path) => lstatSync(path, { bigint: true }),
  realpath: (path) => realpathSync.native(path),
  readdir: (path) => readdirSync(path, { withFileTypes: true }),
};

function readNow(descriptor: number, buffer: Uint8Array, expected: number): Uint8Array {
  let length = 0;
  for (;;) {
    const bytesRead = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += bytesRead;
    if (bytesRead === 0 || length >= expected) return buffer.subarray(0, length);
  }
}
