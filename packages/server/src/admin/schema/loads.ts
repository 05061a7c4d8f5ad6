import type {
  LoadAnswer,
  LoadReporterAnswer,
  LoadReportersAnswer,
  LoadsAnswer,
  LocalityLoadAnswer,
} from "../answers/loads.ts";
import { nodeIdentity } from "./nodes.ts";
import { page } from "./page.ts";
import {
  choice,
  count,
  decimal,
  either,
  list,
  named,
  object,
  optional,
  record,
  type SchemaOf,
  text,
  time,
  truth,
} from "./schema.ts";

const results = object<{ readonly issued: number; readonly succeeded: number; readonly failed: number }>({
  issued: count,
  succeeded: count,
  failed: count,
});

export const loadsAnswer: SchemaOf<LoadsAnswer> = page(
  "Loads",
  named(
    "Load",
    object<LoadAnswer>({
      cluster: text,
      service: optional(text),
      dropped: count,
      droppedBy: optional(record(count)),
      lastReportAt: time,
      localities: list(
        object<LocalityLoadAnswer>({
          region: text,
          zone: text,
          subZone: text,
          priority: count,
          issued: count,
          succeeded: count,
          failed: count,
          inProgress: count,
          requestsPerSecond: decimal,
          reporters: count,
          connections: optional(
            object<NonNullable<LocalityLoadAnswer["connections"]>>({ active: count, new: count, failed: count }),
          ),
          metrics: optional(
            record(object<{ readonly requests: number; readonly total: number }>({ requests: count, total: decimal })),
          ),
          endpoints: optional(record(results)),
        }),
      ),
    }),
  ),
);

export const loadReportersAnswer: SchemaOf<LoadReportersAnswer> = page(
  "LoadReporters",
  named(
    "LoadReporter",
    object<LoadReporterAnswer>({
      peer: text,
      node: optional(nodeIdentity),
      reports: count,
      openedAt: time,
      lastReportAt: optional(time),
      asked: optional(
        object<NonNullable<LoadReporterAnswer["asked"]>>({
          clusters: either(choice("all"), list(text)),
          intervalMs: count,
          endpoints: truth,
        }),
      ),
    }),
  ),
);
