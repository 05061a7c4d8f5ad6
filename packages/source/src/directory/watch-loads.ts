import type { Load } from "../loaded-state.ts";
import type { Attention } from "./attention.ts";

/** What a source does in each round of a watch. */
export interface WatchSteps {
  /** Starts checks for changes that the system does not report; returns how to end them. */
  readonly poll: () => () => void;
  /** Loads what may have changed and follows what it read; undefined once the watch ends. */
  readonly look: (paths: ReadonlySet<string>) => Promise<Load | undefined>;
  readonly isSame: (a: Load, b: Load) => boolean;
}

/** Yields a load for each burst of changes that led to another one than `last`. Ends with the signal. */
export async function* watchLoads(
  attention: Attention,
  signal: AbortSignal,
  last: Load | undefined,
  { poll, look, isSame }: WatchSteps,
): AsyncIterable<Load> {
  let yielded = last;
  while (!signal.aborted) {
    const endPoll = poll();
    await attention.untilCalled();
    endPoll();
    const paths = await attention.untilQuiet();
    if (signal.aborted) return;
    const load = await look(paths);
    if (load === undefined || signal.aborted) return;
    if (attention.isContinued) continue;
    attention.endBurst();
    if (yielded !== undefined && isSame(yielded, load)) continue;
    yielded = load;
    yield load;
  }
}
