import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects all that nothing holds. What a weak reference gave lives until the turn of the event loop is over. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await nextTurn();
    collect();
  }
}

/** How often what is held longer than expected is collected once more. */
const MORE_ROUNDS = 20;

/**
 * How many of these objects somebody still holds on to. Code that is being optimized in the background may hold some for a
 * moment, so that more than expected are looked at again.
 */
export async function heldOf(refs: readonly WeakRef<object>[], expected = 0): Promise<number> {
  for (let round = 0; ; round++) {
    await collectGarbage();
    const held = refs.filter((ref) => ref.deref() !== undefined).length;
    if (held <= expected || round === MORE_ROUNDS) return held;
    await pause(25);
  }
}
