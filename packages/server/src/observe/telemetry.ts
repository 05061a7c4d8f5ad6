import type { ServerReport, Telemetry } from "../hub/port.ts";

/** Told of every report of one kind, and when it happened. Called for every response: must be cheap, must not throw. */
export type Observer<K extends ServerReport["kind"]> = (
  report: Extract<ServerReport, { readonly kind: K }>,
  at: Date,
) => void;

/** One report in, many observers out: metrics, times of deliveries, the log. */
export interface ObservedTelemetry extends Telemetry {
  /** Observers of a kind are called in the order they came, for as long as the server lives. */
  observe<K extends ServerReport["kind"]>(kind: K, observer: Observer<K>): void;
}

/** A telemetry without observers, which costs a look into a map for each report. */
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
