/** What a listener throws is no business of the client's, and must not keep it from going on. */
export function tell<T>(listener: ((told: T) => void) | undefined, told: T): void {
  try {
    listener?.(told);
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
