/** Waits with a signal that is aborted with the given one, or when its time is over. */
export async function untilEnded<T>(
  { signal, timeoutMs }: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined },
  wait: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not `AbortSignal.any`: the given one may live as long as the process, and would keep something of each wait.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs).unref();
  signal?.addEventListener("abort", end);
  if (signal?.aborted === true) end();
  try {
    return await wait(ending.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}
