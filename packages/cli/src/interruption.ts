/** Resolves when the signal is aborted. Stops listening when `until` is aborted. */
export function aborted(signal: AbortSignal, until?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener("abort", () => resolve(), { once: true, ...(until !== undefined && { signal: until }) });
  });
}

/** Resolves with the promise's value, or undefined once the signal is aborted; the promise is not cancelled. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, aborted(signal, settled.signal).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}
