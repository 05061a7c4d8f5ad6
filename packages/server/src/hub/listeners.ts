import type { ServerReport } from "./port.ts";

/** The events of a server by kind. */
export type ServerEvents = {
  readonly [K in ServerReport["kind"]]: Extract<ServerReport, { readonly kind: K }> & {
    /** When it happened. */
    readonly at: Date;
  };
};

type Listener = (event: never) => unknown;

/** The listeners of the embedding program. */
export class Listeners {
  readonly #byKind = new Map<ServerReport["kind"], Set<Listener>>();

  /** Calls the listener for every event of a kind until the function it returns is called. */
  on<K extends ServerReport["kind"]>(kind: K, listener: (event: ServerEvents[K]) => unknown): () => void {
    const listeners = this.#byKind.get(kind) ?? new Set();
    this.#byKind.set(kind, listeners.add(listener));
    return () => {
      listeners.delete(listener);
    };
  }

  /**
   * Calls every listener, even if one throws, and returns the first exception. `rejected` is called later for each
   * listener whose promise rejects.
   */
  tell(report: ServerReport, at: Date, rejected: (reason: unknown) => void): { readonly thrown: unknown } | undefined {
    const listeners = this.#byKind.get(report.kind);
    if (listeners === undefined || listeners.size === 0) return undefined;
    const event = { ...report, at } as never; // listeners are kept under the kind that they take
    let failure: { readonly thrown: unknown } | undefined;
    for (const listener of [...listeners]) {
      try {
        const returned = listener(event);
        if (isThenable(returned)) returned.then(undefined, rejected);
      } catch (thrown) {
        failure ??= { thrown };
      }
    }
    return failure;
  }
}

/** Whether a listener returned a promise: its rejection must be handled, or it would end the process. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
