import type { NewFile } from "./replace-file.ts";

/** A directory that files are written to. One call at a time. */
export interface FileTarget {
  /** Writes files, group after group. Resolves with the changed paths. Throws file system errors. */
  write(groups: readonly (readonly NewFile[])[]): Promise<readonly string[]>;
  /** Removes files. Resolves with the paths that existed. */
  remove(paths: readonly string[]): Promise<readonly string[]>;
  /** Paths of files that an earlier writer left. */
  readonly leftBehind: readonly string[];
  close(): Promise<void>;
}

/** Files written in parallel: flushing waits for the disk, not the CPU. */
const AT_ONCE = 32;

/** Calls `work` for every item, several at a time. After a failure starts no more and throws the first error. */
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
