import type { ApiVersion, LoadPlace, LoadReporterReport, LoadTally } from "@xdskit/protocol";
import type { ServerConfig } from "../config/client-config.ts";

/** To whom load is reported. */
export interface LoadReportingOptions {
  /** One of `config.servers`, or what `loadServerOf` found; unless given, the best server of the client's own configuration. */
  readonly server?: ServerConfig;
  /** Of the method; that of the client's own configuration unless given. */
  readonly apiVersion?: ApiVersion;
  /** Called with what happens on the stream, for logs. What it throws is thrown as one that nobody catches. */
  readonly onReport?: (report: LoadReporterReport) => void;
}

/**
 * Counts what becomes of requests, and reports it to one server, as often and as far as that asks for it (C-LRS-01, C-LRS-04). The stream is
 * opened at once, and again whenever it ends; what is counted meanwhile is not lost (C-LRS-05, C-LRS-07).
 */
export interface LoadReporting {
  /** A request is sent. */
  start(place: LoadPlace): LoadCall;
  /** A request was dropped before it was sent: a text is a cluster; the category is one of its drop policies, or none. */
  drop(place: string | Pick<LoadPlace, "cluster" | "service">, category?: string): void;
  /** Reports nothing any more; what was counted since the last report is lost. */
  close(): void;
}

/** A request under way; the first of the two that is called counts. */
export interface LoadCall {
  /** Metrics are what the endpoint said of itself, by name, such as `cpu_utilization`. */
  succeed(metrics?: Readonly<Record<string, number>>): void;
  fail(metrics?: Readonly<Record<string, number>>): void;
}

/** What counts into a tally until it is closed. */
export function openLoadReporting(tally: LoadTally, closed: () => void): LoadReporting {
  let isOpen = true;
  return {
    start(place) {
      if (!isOpen) return uncounted;
      const load = tally.start(place);
      return {
        succeed: (metrics) => load.finish("succeeded", metrics),
        fail: (metrics) => load.finish("failed", metrics),
      };
    },
    drop(place, category) {
      if (isOpen) tally.drop(typeof place === "string" ? { cluster: place } : place, category);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      closed();
    },
  };
}

const uncounted: LoadCall = { succeed() {}, fail() {} };
