/** Calls a listener; its exceptions are rethrown as uncaught, so that they do not disturb the client. */
export function tell<T>(listener: ((told: T) => void) | undefined, told: T): void {
  try {
    listener?.(told);
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
