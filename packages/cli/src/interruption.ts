/** Resolves when the signal is aborted; at once if it is already. Stops listening when `until` is aborted. */
export function aborted(signal: AbortSignal, until?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener("abort", () => resolve(), { once: true, ...(until !== undefined && { signal: until }) });
  });
}

/** What a promise resolves with, or undefined as soon as the signal is aborted; the promise is left to itself then. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, aborted(signal, settled.signal).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}
