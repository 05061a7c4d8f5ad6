import { XdsClientError } from "../error.ts";

type Aborted = (reason: Error) => void;

/** Who wants to know of a signal. It has one listener of ours: of more than ten Node.js says that they are leaked. */
const waiting = new WeakMap<AbortSignal, Set<Aborted>>();

/** Calls with the reason once a signal is aborted; not if it was before. What is returned ends that. */
export function onceAborted(signal: AbortSignal, aborted: Aborted): () => void {
  const all = waiting.get(signal) ?? listenTo(signal);
  // The same function may be handed over twice.
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
      const cause: unknown = signal.reason;
      const reason = cause instanceof Error ? cause : new XdsClientError("CLOSED", "given up", { cause });
      for (const aborted of all) aborted(reason);
    },
    { once: true },
  );
  return all;
}
