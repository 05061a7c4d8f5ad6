import type { FileChunk } from "./file-chunks.ts";

/** A file that has another number of resources than in the load before. */
export interface RecountedFile {
  readonly file: string;
  /** 0: there was no such file. */
  readonly before: number;
  /** 0: it is gone, or has none. */
  readonly after: number;
}

/** The files whose number of resources differs, in the order of the chunks; chunks that are the same object are not looked into. */
export function recountedFiles(before: readonly FileChunk[], after: readonly FileChunk[]): readonly RecountedFile[] {
  const old = countsIn(before, new Set(after));
  const recounted: RecountedFile[] = [];
  for (const [file, count] of countsIn(after, new Set(before))) {
    const was = old.get(file) ?? 0;
    if (was !== count) recounted.push({ file, before: was, after: count });
    old.delete(file);
  }
  for (const [file, count] of old) if (count > 0) recounted.push({ file, before: count, after: 0 });
  return recounted;
}

function countsIn(chunks: readonly FileChunk[], except: ReadonlySet<FileChunk>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const chunk of chunks) {
    if (except.has(chunk)) continue;
    for (const { file, content } of chunk.files) counts.set(file, content.resources.length);
  }
  return counts;
}
