import { XdsClientError } from "../error.ts";

/** Calls with the reason once a signal is aborted; not if it was before. What is returned ends that. */
export function onceAborted(signal: AbortSignal, aborted: (reason: Error) => void): () => void {
  const listener = (): void => {
    const reason: unknown = signal.reason;
    aborted(reason instanceof Error ? reason : new XdsClientError("CLOSED", "given up", { cause: reason }));
  };
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
