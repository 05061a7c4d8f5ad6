import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** How many of these objects somebody still holds on to. */
export async function heldOf(refs: readonly WeakRef<object>[]): Promise<number> {
  // An object that was looked at lives until the current job ends.
  await new Promise(setImmediate);
  collectGarbage();
  return refs.filter((ref) => ref.deref() !== undefined).length;
}
