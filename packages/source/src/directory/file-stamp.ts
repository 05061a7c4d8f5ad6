import type { BigIntStats } from "node:fs";

/**
 * A value that changes with the file: size, times and inode. It includes the status change time because tools that copy
 * files reset the modification time.
 */
export function stampOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
}
