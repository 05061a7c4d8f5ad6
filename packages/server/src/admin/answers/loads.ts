import type { NodeAnswerIdentity } from "./nodes.ts";
import type { Page } from "./page.ts";

/** `GET /api/v1/loads` */
export type LoadsAnswer = Page<LoadAnswer>;

/** What clients report of one cluster. Counts are sums since the server began; what is in progress is the newest word of each client. */
export interface LoadAnswer {
  readonly cluster: string;
  /** The name that its endpoints have, if it is another. */
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
  /** Issued in a second, in the newest interval of each client. */
  readonly requestsPerSecond: number;
  /** Clients whose newest report speaks of it. */
  readonly reporters: number;
  readonly connections?: { readonly active: number; readonly new: number; readonly failed: number };
  readonly metrics?: Readonly<Record<string, { readonly requests: number; readonly total: number }>>;
  /** Where reports for each endpoint are asked for. */
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
