import { aFunction, aName, mistake, nearestName, problemsIn, quote, type Rule } from "@xdskit/protocol/internal";
import { argumentsError } from "../error.ts";
import type { ServerReport } from "./port.ts";

/** The events of a server by kind. */
export type ServerEvents = {
  readonly [K in ServerReport["kind"]]: Extract<ServerReport, { readonly kind: K }> & {
    /** When it happened. */
    readonly at: Date;
  };
};

/** Every kind of event; the values mean nothing. */
const kinds: Readonly<Record<ServerReport["kind"], 1>> = {
  ...{ "node-connected": 1, "node-moved": 1, "request-classified": 1, "response-sent": 1, "heartbeat-sent": 1 },
  ...{ "response-acked": 1, "response-nacked": 1, "poller-met": 1, "poller-forgotten": 1 },
  ...{ "polled-at-old-version": 1, "wait-began": 1, "wait-ended": 1, "order-overdue": 1 },
  ...{ "client-unprotected": 1, "access-denied": 1, anomaly: 1, "connection-opened": 1, "connection-closed": 1 },
  ...{ "connection-refused": 1, "connection-broken": 1, "stream-opened": 1, "stream-closed": 1 },
  ...{ "request-received": 1, "response-queued": 1, "stream-stalled": 1, "stream-drained": 1, committed: 1 },
  ...{ converted: 1, "v2-refused": 1, "admin-refused": 1, "admin-change": 1, "page-refused": 1 },
  ...{ "slice-flushed": 1, "limit-hit": 1, "history-restored": 1, "history-problem": 1, "ledger-resumed": 1 },
  ...{
    "ledger-recorded": 1,
    "ledger-role": 1,
    "store-away": 1,
    "store-copy-in-place": 1,
    "client-unchecked": 1,
    "connections-moved": 1,
    "store-back": 1,
  },
  ...{ "ledger-problem": 1, "ledger-recovered": 1 },
  ...{ "files-written": 1, "files-problem": 1, "files-source": 1, "files-unfaithful": 1 },
  ...{ "load-reporter-connected": 1, "load-reporter-disconnected": 1, "load-reported": 1, "certificate-ended": 1 },
  ...{ "tls-reloaded": 1, "tls-refused": 1, "tls-held": 1, ready: 1, draining: 1 },
  ...{ "listener-failed": 1, "invariant-broken": 1, "worker-ready": 1, "worker-ended": 1 },
  ...{ "worker-unresponsive": 1, "worker-responsive": 1 },
};
const anEvent: Rule = (kind) => {
  if (typeof kind !== "string") return aName(kind);
  if (Object.hasOwn(kinds, kind)) return [];
  const nearest = nearestName(kind, Object.keys(kinds));
  const hint = nearest === undefined ? undefined : `did you mean "${nearest}"?`;
  return [mistake("", `expected the name of an event, got ${quote(kind)}`, hint)];
};
const ofOn = [
  ["event", anEvent],
  ["listener", aFunction],
] as const;

/** One call of `on`: a listener may be registered several times. */
interface Registration {
  readonly listener: (event: never) => unknown;
}

/** The listeners of the embedding program. */
export class Listeners {
  readonly #byKind = new Map<ServerReport["kind"], Set<Registration>>();

  /** Calls the listener for every event of a kind until the function it returns is called. */
  on<K extends ServerReport["kind"]>(kind: K, listener: (event: ServerEvents[K]) => unknown): () => void {
    const problems = problemsIn(ofOn, [kind, listener]);
    if (problems.length > 0) throw argumentsError("on", problems);
    const registrations = this.#byKind.get(kind) ?? new Set();
    const registration = { listener };
    this.#byKind.set(kind, registrations.add(registration));
    return () => {
      registrations.delete(registration);
    };
  }

  /** Whether anybody listens to a kind of event. */
  hasAny(kind: ServerReport["kind"]): boolean {
    return (this.#byKind.get(kind)?.size ?? 0) > 0;
  }

  /**
   * Calls every listener, even if one throws, and returns the first exception. `rejected` is called later for each
   * listener whose promise rejects.
   */
  tell(report: ServerReport, at: Date, rejected: (reason: unknown) => void): { readonly thrown: unknown } | undefined {
    const registrations = this.#byKind.get(report.kind);
    if (registrations === undefined) return undefined;
    // Not a spread, which would take ten times as long. Listeners are kept under the kind that they take.
    const event = Object.assign({}, report, { at }) as never;
    let failure: { readonly thrown: unknown } | undefined;
    for (const { listener } of [...registrations]) {
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
