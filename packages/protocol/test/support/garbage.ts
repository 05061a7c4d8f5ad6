import { setImmediate as nextTurn } from "node:timers/promises";
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

/** How many of these objects somebody still holds on to. */
export async function heldOf(refs: readonly WeakRef<object>[]): Promise<number> {
  await collectGarbage();
  return refs.filter((ref) => ref.deref() !== undefined).length;
}
