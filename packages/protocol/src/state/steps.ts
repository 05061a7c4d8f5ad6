/** A computation that yields after each item, so that it can be spread over turns of the event loop. */
export type Steps<T> = Generator<undefined, T>;

/** Finishes a computation at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
