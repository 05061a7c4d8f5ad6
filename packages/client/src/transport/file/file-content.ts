import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** The content of a file, or why it cannot be read. */
export type FileContent = { readonly bytes: Uint8Array } | { readonly problem: string };

/** Reads a file of at most `maxBytes` bytes. Never rejects. */
export async function readContent(path: string, maxBytes: number): Promise<FileContent> {
  return await withFile(path, async (file, size) => {
    if (size > maxBytes) return { problem: `expected at most ${maxBytes} bytes, got ${size}` };
    return { bytes: await file.readFile() };
  });
}

/** Why a file cannot be read; undefined if it can. Never rejects. */
export async function findFileProblem(path: string): Promise<string | undefined> {
  const found = await withFile(path, async () => ({ problem: undefined }));
  return found.problem;
}

async function withFile<T>(
  path: string,
  use: (file: FileHandle, size: number) => Promise<T>,
): Promise<T | { readonly problem: string }> {
  try {
    // Does not block on a pipe without a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { problem: "expected a file, got something else" };
      return await use(file, stats.size);
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return { problem: code === "ENOENT" || code === "ENOTDIR" ? "there is no such file" : `cannot be read: ${code}` };
  }
}
