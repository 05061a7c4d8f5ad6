import type { Load } from "./loaded-state.ts";

/**
 * The loads of a watch until the signal is aborted or `return` is called. A generator alone would finish its pending
 * `next` before a `return`, so that `return` waited for the next change.
 */
export function untilReturn(
  signal: AbortSignal,
  watch: (signal: AbortSignal) => AsyncGenerator<Load, undefined>,
): AsyncIterableIterator<Load, undefined> {
  const ending = new AbortController();
  const end = (): void => ending.abort(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  const loads = watch(ending.signal);
  const letGo = (): void => signal.removeEventListener("abort", end);
  return {
    async next() {
      try {
        const result = await loads.next();
        if (result.done === true) letGo();
        return result;
      } catch (cause) {
        letGo();
        throw cause;
      }
    },
    return: () => {
      letGo();
      ending.abort();
      return loads.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
