import type { ServerReport, Telemetry } from "../hub/port.ts";

/** Receives every report of one kind and its time. Runs on every response: must be cheap, must not throw. */
export type Observer<K extends ServerReport["kind"]> = (
  report: Extract<ServerReport, { readonly kind: K }>,
  at: Date,
) => void;

/** Distributes reports to observers: metrics, delivery times, the log. */
export interface ObservedTelemetry extends Telemetry {
  /** Adds an observer for the life of the server. Observers of a kind run in the order they were added. */
  observe<K extends ServerReport["kind"]>(kind: K, observer: Observer<K>): void;
}

/** Creates a telemetry without observers; a report then costs one map lookup. */
export function createTelemetry(): ObservedTelemetry {
  // Each list holds observers of its own key's kind only; the type of a map cannot say that.
  const observers = new Map<ServerReport["kind"], ((report: never, at: Date) => void)[]>();
  return {
    report(report, at) {
      const called = observers.get(report.kind);
      if (called === undefined) return;
      for (const observer of called) observer(report as never, at);
    },
    observe(kind, observer) {
      observers.set(kind, [...(observers.get(kind) ?? []), observer]);
    },
  };
}
