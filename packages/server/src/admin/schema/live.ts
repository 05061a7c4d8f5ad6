import type { NodeCountsAnswer, RevisionTimeAnswer, SampleAnswer, SamplesAnswer } from "../answers/live.ts";
import { count, decimal, list, named, object, optional, type SchemaOf, time } from "./schema.ts";

const nodeCounts = { total: count, nacked: count, waiting: count, pending: count, acked: count };

export const samplesAnswer: SchemaOf<SamplesAnswer> = named(
  "Samples",
  object<SamplesAnswer>({
    intervalSeconds: count,
    items: list(
      object<SampleAnswer>({
        at: time,
        streams: count,
        nodes: object<NodeCountsAnswer>(nodeCounts),
        heapBytes: count,
        residentBytes: count,
        lagMs: decimal,
      }),
    ),
    revisions: list(
      object<RevisionTimeAnswer>({ revision: count, at: optional(time), acks: count, lastAckMs: decimal }),
    ),
  }),
);
