/**
 * A computation that yields after each item, or after several with their number, so that it can be spread over turns of
 * the event loop.
 */
export type Steps<T> = Generator<number | undefined, T>;

/** So many items are one step where an item takes less than a step, which all computations around it take part in. */
export const ITEMS_A_STEP = 16;

/** Finishes a computation at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
