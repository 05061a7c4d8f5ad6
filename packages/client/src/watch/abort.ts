type Aborted = (reason: unknown) => void;

/** Callbacks by signal. Each signal gets one listener: Node.js warns of a leak above ten. */
const waiting = new WeakMap<AbortSignal, Set<Aborted>>();

/** Calls back with the reason when a signal is aborted; not if it was aborted before. The result cancels that. */
export function onceAborted(signal: AbortSignal, aborted: Aborted): () => void {
  const all = waiting.get(signal) ?? listenTo(signal);
  // The same function may be passed twice.
  const own: Aborted = (reason) => aborted(reason);
  all.add(own);
  return () => void all.delete(own);
}

function listenTo(signal: AbortSignal): Set<Aborted> {
  const all = new Set<Aborted>();
  waiting.set(signal, all);
  signal.addEventListener(
    "abort",
    () => {
      const reason: unknown = signal.reason;
      for (const aborted of all) aborted(reason);
    },
    { once: true },
  );
  return all;
}
