import {
  type BigIntStats,
  closeSync,
  type Dirent,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { type FileHandle, open, readdir, realpath, stat } from "node:fs/promises";

type Awaitable<T> = T | Promise<T>;

/** An open file. */
export interface OpenFile {
  stat(): Awaitable<BigIntStats>;
  /** Reads a file of that size, or something of another length if it has another one by now. */
  readFile(byteLength: number): Awaitable<Uint8Array>;
  close(): Awaitable<void>;
}

/** What is read of the file system. */
export interface FileSystem {
  open(path: string, flags: number): Awaitable<OpenFile>;
  stat(path: string): Awaitable<BigIntStats>;
  realpath(path: string): Awaitable<string>;
  readdir(path: string): Awaitable<Dirent[]>;
}

/** Reads without blocking the thread. */
export const asyncFileSystem: FileSystem = {
  async open(path, flags) {
    const handle = await open(path, flags);
    return {
      stat: () => handle.stat({ bigint: true }),
      readFile: (byteLength) => readAtOnce(handle, byteLength),
      close: () => handle.close(),
    };
  },
  stat: (path) => stat(path, { bigint: true }),
  realpath: (path) => realpath(path),
  readdir: (path) => readdir(path, { withFileTypes: true }),
};

/** Reads a file with one call, if it has the expected length: each call waits for a turn of the event loop. */
async function readAtOnce(handle: FileHandle, expected: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(expected + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    length += bytesRead;
    if (bytesRead === 0 || length >= expected) return buffer.subarray(0, length);
  }
}

/** Blocks, for a thread without other work: a small file takes a tenth of the time. */
export const syncFileSystem: FileSystem = {
  open(path, flags) {
    const descriptor = openSync(path, flags);
    return {
      stat: () => fstatSync(descriptor, { bigint: true }),
      readFile: () => readFileSync(descriptor),
      close: () => closeSync(descriptor),
    };
  },
  stat: (path) => statSync(path, { bigint: true }),
  realpath: (path) => realpathSync.native(path),
  readdir: (path) => readdirSync(path, { withFileTypes: true }),
};
