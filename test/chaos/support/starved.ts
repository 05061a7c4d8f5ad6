import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/**
 * How long each of these processes has been ready to run and had no processor, in milliseconds: of its threads, the one that
 * waited longest. The kernel counts it, so it is known what a busy machine did, and need not be guessed.
 */
function starvedMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  try {
    return Math.max(0, ...readdirSync(tasks).map((task) => waited(`${tasks}/${task}/schedstat`)));
  } catch {
    return 0; // it has ended
  }
}

function waited(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0; // the thread has ended
  }
}

/**
 * Measures how long something waited for processors on its way through groups of processes: in each, the one that waited
 * longest. Returns what was waited so far, in milliseconds.
 */
export function watchStarvation(groups: readonly (readonly number[])[]): () => number {
  const before = new Map(groups.flat().map((pid) => [pid, starvedMs(pid)]));
  const since = (pid: number): number => Math.max(0, starvedMs(pid) - (before.get(pid) ?? 0));
  return () => groups.reduce((sum, pids) => sum + Math.max(0, ...pids.map(since)), 0);
}

/** However busy the machine is, nobody may take so many times as long. */
const MOST_EXCUSED = 6;

/** Resolves when `missing` finds nobody, with how long that took, of which nobody was `starved`. */
export async function everybody(
  does: string,
  withinMs: number,
  starved: () => number,
  missing: () => Promise<readonly string[]>,
): Promise<number> {
  const began = performance.now();
  for (;;) {
    const last = await missing().catch((cause: unknown) => [String(cause)]);
    const elapsedMs = Math.round(performance.now() - began);
    const starvedMs = Math.min(elapsedMs, Math.round(starved()));
    const ms = elapsedMs - starvedMs;
    if (last.length === 0) return ms;
    if (ms > withinMs || elapsedMs > MOST_EXCUSED * withinMs) {
      const late = `${ms} ms, and ${starvedMs} ms without a processor`;
      throw new Error(`after ${late}: not everybody ${does}: ${last.slice(0, 10).join("; ")}`);
    }
    await pause(50);
  }
}
