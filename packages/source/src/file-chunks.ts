import type { LayerFile } from "./file-content.ts";
import { compareText } from "./problem.ts";

/**
 * Neighbouring files of a load. The same object while none of them changes, so that what is derived of a chunk is
 * remembered, and a change costs one chunk instead of all files.
 */
export interface FileChunk {
  readonly files: readonly LayerFile[];
}

/** Remembers what is derived of each chunk. */
export function rememberFor<T>(derive: (chunk: FileChunk) => T): (chunk: FileChunk) => T {
  const known = new WeakMap<FileChunk, { readonly value: T }>();
  return (chunk) => {
    const before = known.get(chunk);
    if (before !== undefined) return before.value;
    const value = derive(chunk);
    known.set(chunk, { value });
    return value;
  };
}

/** The most files and resources of a chunk together, unless it is a single file. */
const MOST_IN_CHUNK = 512;

interface Bucket {
  readonly files: LayerFile[];
  /** How many files and resources it has. */
  size: number;
  /** Undefined: changed since it was last asked for. */
  chunk: FileChunk | undefined;
}

/** Files sorted by path, in chunks. */
export class SortedFiles {
  #buckets: Bucket[] = [];
  #chunks: readonly FileChunk[] | undefined = [];

  /** The chunks in order; the same list while nothing changes. */
  get chunks(): readonly FileChunk[] {
    this.#chunks ??= this.#buckets.map((bucket) => {
      bucket.chunk ??= { files: [...bucket.files] };
      return bucket.chunk;
    });
    return this.#chunks;
  }

  /** Adds a file, or replaces the one at its path. */
  set(file: LayerFile): void {
    const at = this.#bucketOf(file.file);
    const bucket = this.#buckets[at];
    if (bucket === undefined) {
      this.#buckets.push({ files: [file], size: sizeOf(file), chunk: undefined });
      this.#chunks = undefined;
      return;
    }
    const index = indexIn(bucket, file.file);
    const before = bucket.files[index];
    const isKnown = before?.file === file.file;
    bucket.files.splice(index, isKnown ? 1 : 0, file);
    bucket.size += sizeOf(file) - (isKnown ? sizeOf(before) : 0);
    this.#touch(bucket);
    if (bucket.size > MOST_IN_CHUNK && bucket.files.length > 1) this.#split(at, bucket);
  }

  delete(path: string): void {
    const at = this.#bucketOf(path);
    const bucket = this.#buckets[at];
    if (bucket === undefined) return;
    const index = indexIn(bucket, path);
    const file = bucket.files[index];
    if (file?.file !== path) return;
    bucket.files.splice(index, 1);
    bucket.size -= sizeOf(file);
    this.#touch(bucket);
    if (bucket.files.length === 0) this.#buckets.splice(at, 1);
  }

  clear(): void {
    this.#buckets = [];
    this.#chunks = undefined;
  }

  #touch(bucket: Bucket): void {
    bucket.chunk = undefined;
    this.#chunks = undefined;
  }

  #split(at: number, { files }: Bucket): void {
    const middle = Math.ceil(files.length / 2);
    const halves = [files.slice(0, middle), files.slice(middle)].map((half): Bucket => {
      return { files: half, size: half.reduce((sum, file) => sum + sizeOf(file), 0), chunk: undefined };
    });
    this.#buckets.splice(at, 1, ...halves);
  }

  /** The last bucket that begins at or before a path, or the first. */
  #bucketOf(path: string): number {
    const after = firstIndex(this.#buckets.length, (index) => {
      const first = this.#buckets[index]?.files[0];
      return first !== undefined && compareText(first.file, path) > 0;
    });
    return Math.max(0, after - 1);
  }
}

function sizeOf({ content }: LayerFile): number {
  return 1 + content.resources.length;
}

/** Where a path is in a bucket, or belongs. */
function indexIn({ files }: Bucket, path: string): number {
  return firstIndex(files.length, (index) => {
    const file = files[index];
    return file !== undefined && compareText(file.file, path) >= 0;
  });
}

/** The first index that is reached, in a sequence where all after it are too. */
export function firstIndex(length: number, isReached: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
