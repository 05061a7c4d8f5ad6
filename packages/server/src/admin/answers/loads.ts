import type { NodeAnswerIdentity } from "./nodes.ts";
import type { Page } from "./page.ts";

/** `GET /api/v1/loads` */
export type LoadsAnswer = Page<LoadAnswer>;

/**
 * The load of one cluster. Counts are sums since the server started; requests in progress come from each client's
 * newest report.
 */
export interface LoadAnswer {
  readonly cluster: string;
  /** The EDS service name, if it differs from `cluster`. */
  readonly service?: string;
  readonly dropped: number;
  readonly droppedBy?: Readonly<Record<string, number>>;
  readonly lastReportAt: string;
  readonly localities: readonly LocalityLoadAnswer[];
}

export interface LocalityLoadAnswer {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
  readonly priority: number;
  readonly issued: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly inProgress: number;
  /** Requests issued per second, in the newest interval of each client. */
  readonly requestsPerSecond: number;
  /** Number of clients whose newest report contains the locality. */
  readonly reporters: number;
  readonly connections?: { readonly active: number; readonly new: number; readonly failed: number };
  readonly metrics?: Readonly<Record<string, { readonly requests: number; readonly total: number }>>;
  /** Counts per endpoint, where endpoint reports are requested. */
  readonly endpoints?: Readonly<
    Record<string, { readonly issued: number; readonly succeeded: number; readonly failed: number }>
  >;
}

/** `GET /api/v1/load-reporters` */
export type LoadReportersAnswer = Page<LoadReporterAnswer>;

export interface LoadReporterAnswer {
  readonly peer: string;
  /** Absent before its first report. */
  readonly node?: NodeAnswerIdentity;
  readonly reports: number;
  readonly openedAt: string;
  readonly lastReportAt?: string;
  readonly asked?: {
    readonly clusters: "all" | readonly string[];
    readonly intervalMs: number;
    readonly endpoints: boolean;
  };
}
