import type { NewFile } from "./replace-file.ts";

/** A directory that files are put into, one way or another. One call at a time. */
export interface FileTarget {
  /** Puts files in place, one after the other where `groups` says so. Resolves with the paths that were changed. Throws what the file system throws. */
  write(groups: readonly (readonly NewFile[])[]): Promise<readonly string[]>;
  /** Takes files away. Resolves with the paths of those that were there. */
  remove(paths: readonly string[]): Promise<readonly string[]>;
  /** Paths of files that an earlier writer left. */
  readonly leftBehind: readonly string[];
  close(): Promise<void>;
}

/** How many files are written at the same time: flushing one takes the disk, not the processor. */
const AT_ONCE = 32;

/** Calls `work` for every item, some at a time. After a failure no more are begun, and the first one is thrown. */
export async function forEachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next++];
      if (item === undefined) return;
      await work(item).catch((error: unknown) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
}
