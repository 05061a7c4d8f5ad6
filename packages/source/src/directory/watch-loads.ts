import type { Load } from "../loaded-state.ts";
import type { Attention } from "./attention.ts";

/** What a source does in each round of a watch. */
export interface WatchSteps {
  /** Whether to load while it is still quiet for too short a time, and to load again if the burst goes on. */
  readonly isEager: boolean;
  /** Starts checks for changes that the system does not report; returns how to end them. */
  readonly poll: () => () => void;
  /** Loads what may have changed and follows what it read; undefined once the watch ends. */
  readonly look: (paths: ReadonlySet<string>) => Promise<Load | undefined>;
  readonly isSame: (a: Load, b: Load) => boolean;
  /** Whether a load is told although the burst goes on, because the next one does not say it again. */
  readonly mustTell?: (load: Load) => boolean;
}

/** What `watchLoads` asks of an `Attention`. */
export type BurstAttention = Pick<
  Attention,
  "untilCalled" | "untilReadable" | "untilQuiet" | "takePaths" | "isContinued" | "endBurst"
> &
  Partial<Pick<Attention, "noticedAtMs">>;

/** Yields a load for each burst of changes that led to another one than `last`. Ends with the signal. */
export async function* watchLoads(
  attention: BurstAttention,
  signal: AbortSignal,
  last: Load | undefined,
  { isEager, poll, look, isSame, mustTell = never }: WatchSteps,
): AsyncIterable<Load> {
  let yielded = last;
  while (!signal.aborted) {
    const endPoll = poll();
    await attention.untilCalled();
    endPoll();
    await (isEager ? attention.untilReadable() : attention.untilQuiet());
    if (signal.aborted) return;
    const beganAtMs = performance.now();
    const load = await look(attention.takePaths());
    if (load === undefined || (!mustTell(load) && (await attention.isContinued()))) continue;
    if (signal.aborted) return;
    const endedAtMs = performance.now();
    const { noticedAtMs = beganAtMs } = attention;
    attention.endBurst();
    if (yielded !== undefined && isSame(yielded, load)) continue;
    yielded = load;
    const [noticedAt, beganAt, endedAt] = [dateOf(noticedAtMs), dateOf(beganAtMs), dateOf(endedAtMs)];
    yield { ...load, reading: { noticedAt, beganAt, endedAt } };
  }
}

function never(): boolean {
  return false;
}

function dateOf(performanceMs: number): Date {
  return new Date(Date.now() - (performance.now() - performanceMs));
}
