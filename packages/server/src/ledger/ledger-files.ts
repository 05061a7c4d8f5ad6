import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** A file of a ledger: it only grows, but for a tail that is cut off. */
export interface LedgerFile {
  /** Undefined: another file has its name by now. */
  size(): Promise<number | undefined>;
  /** Fewer bytes than asked for at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
  /** Appends all of it, or throws with any part of it appended. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when all that was appended or cut off is durable. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): Promise<void>;
}

/** The directory of a ledger. */
export interface LedgerFiles {
  list(): Promise<readonly string[]>;
  /** Creates a file, in place of one with that name. */
  create(name: string): Promise<LedgerFile>;
  open(name: string, mode: "read" | "append"): Promise<LedgerFile>;
  /** Resolves when the new name is durable; the file must be so before. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** The files of a directory on disk. */
export function diskFiles(directory: string): LedgerFiles {
  const pathOf = (name: string): string => join(directory, name);
  return {
    list: () => readdir(directory),
    async create(name) {
      await rm(pathOf(name), { force: true });
      return await DiskFile.of(pathOf(name), await open(pathOf(name), "ax+", 0o600));
    },
    async open(name, mode) {
      const flags = mode === "read" ? constants.O_RDONLY : constants.O_RDWR | constants.O_APPEND;
      return await DiskFile.of(pathOf(name), await open(pathOf(name), flags));
    },
    async rename(from, to) {
      await rename(pathOf(from), pathOf(to));
      await syncDirectory(directory);
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  };
}

/** Creates a file, or replaces it: it has its name only when it is whole and durable. */
export async function createWhole<T>(
  files: LedgerFiles,
  name: string,
  fill: (file: LedgerFile) => Promise<T>,
): Promise<T> {
  const file = await files.create(`${name}.new`);
  let result: T;
  try {
    result = await fill(file);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(`${name}.new`, name);
  return result;
}

class DiskFile implements LedgerFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #inode: Pick<Stats, "ino" | "dev">;

  static async of(path: string, handle: FileHandle): Promise<DiskFile> {
    return new DiskFile(path, handle, await handle.stat());
  }

  private constructor(path: string, handle: FileHandle, inode: Pick<Stats, "ino" | "dev">) {
    this.#path = path;
    this.#handle = handle;
    this.#inode = inode;
  }

  async size(): Promise<number | undefined> {
    const { ino, dev, size } = await stat(this.#path);
    return ino === this.#inode.ino && dev === this.#inode.dev ? size : undefined;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(buffer, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, written);
      written += bytesWritten;
    }
  }

  async sync(): Promise<void> {
    await this.#handle.datasync();
  }

  async truncate(size: number): Promise<void> {
    await this.#handle.truncate(size);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open a directory.
  if (process.platform === "win32") return;
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
