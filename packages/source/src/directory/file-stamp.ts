import type { BigIntStats } from "node:fs";

/**
 * What changes when a file does: its size, its times, and which file it is. The time of the last status change is in it
 * because tools that copy files set the other time back.
 */
export function stampOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
}
