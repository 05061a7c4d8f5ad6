import { nextTurn } from "../../next-turn.ts";

/** Messages from this many bytes are decoded in slices of the event loop, and processed in the turn after. */
export const LARGE_BYTES: number = 256 * 1024;
/** How long such a slice takes, in milliseconds. */
const SLICE_MS = 5;

/** Decodes a message that comes in parts, and lets others have their turns meanwhile. */
export async function inSlices<T>(parts: Generator<void, T, void>): Promise<T> {
  for (let endAt = performance.now() + SLICE_MS; ; ) {
    const { done, value } = parts.next();
    if (done !== true && performance.now() < endAt) continue;
    await nextTurn();
    if (done === true) return value;
    endAt = performance.now() + SLICE_MS;
  }
}
