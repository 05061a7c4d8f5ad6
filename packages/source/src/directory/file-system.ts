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
import { open, readdir, realpath, stat } from "node:fs/promises";

type Awaitable<T> = T | Promise<T>;

/** An open file. */
export interface OpenFile {
  stat(): Awaitable<BigIntStats>;
  readFile(): Awaitable<Uint8Array>;
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
      readFile: () => handle.readFile(),
      close: () => handle.close(),
    };
  },
  stat: (path) => stat(path, { bigint: true }),
  realpath: (path) => realpath(path),
  readdir: (path) => readdir(path, { withFileTypes: true }),
};

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
