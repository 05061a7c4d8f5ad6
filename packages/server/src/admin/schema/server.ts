import type { SourceProblem } from "../../observe/source-status.ts";
import type {
  EmptiedAnswer,
  ExpiringAnswer,
  HeldTrustAnswer,
  LayerAnswer,
  LayersAnswer,
  LimitAnswer,
  LostReplicaAnswer,
  MissingAnswer,
  ReadyAnswer,
  ReplicaAnswer,
  ReplicasAnswer,
  ServerAnswer,
  SourceAnswer,
  StoreAnswer,
  StoreCopyAnswer,
  WorkerAnswer,
} from "../answers/server.ts";
import { page, typed } from "./page.ts";
import { revision } from "./revisions.ts";
import { choice, count, list, named, object, optional, type SchemaOf, text, time, truth } from "./schema.ts";

export const readyAnswer: SchemaOf<ReadyAnswer> = named(
  "Ready",
  object<ReadyAnswer>({ ready: truth, draining: truth, reasons: list(text) }),
);

const limit: SchemaOf<LimitAnswer> = named(
  "Limit",
  object<LimitAnswer>({ name: text, value: count, used: optional(count), hits: count }),
);

export const serverAnswer: SchemaOf<ServerAnswer> = named(
  "Server",
  object<ServerAnswer>({
    version: text,
    controlPlane: text,
    address: optional(text),
    startedAt: time,
    uptimeSeconds: count,
    revision: count,
    ready: truth,
    draining: truth,
    reasons: list(text),
    connections: count,
    streams: count,
    source: object<ServerAnswer["source"]>({
      ...{ state: text, since: time, errors: count, warnings: count },
      differs: optional(text),
    }),
    ledger: optional(
      object<NonNullable<ServerAnswer["ledger"]>>({
        number: count,
        inMemoryReason: optional(text),
        store: optional(
          object<StoreAnswer>({
            ...{ role: text, roleSince: time, head: count, lag: count },
            lagSince: optional(time),
            ...{ awaySince: optional(time), awayReason: optional(text) },
            copy: optional(object<StoreCopyAnswer>({ number: count, inPlace: truth, problem: optional(text) })),
            ...{ stoppedSince: optional(time), stopReason: optional(text) },
          }),
        ),
        held: optional(revision),
        missing: object<NonNullable<ServerAnswer["ledger"]>["missing"]>({
          total: count,
          resources: list(object<MissingAnswer>({ layer: text, ...typed, name: text })),
        }),
        waiting: optional(
          object<NonNullable<NonNullable<ServerAnswer["ledger"]>["waiting"]>>({
            total: count,
            deletions: list(object<MissingAnswer>({ layer: text, ...typed, name: text })),
          }),
        ),
        emptied: optional(
          object<NonNullable<NonNullable<ServerAnswer["ledger"]>["emptied"]>>({
            total: count,
            resources: list(
              object<EmptiedAnswer>({
                ...{ layer: text, ...typed, name: text, number: count, until: time },
                ...{ file: optional(text), line: optional(count) },
              }),
            ),
          }),
        ),
      }),
    ),
    heldTrust: optional(list(object<HeldTrustAnswer>({ id: text, files: list(text), message: text, since: time }))),
    expiring: optional(
      object<NonNullable<ServerAnswer["expiring"]>>({
        total: count,
        certificates: list(
          object<ExpiringAnswer>({
            ...{ use: text, file: optional(text), line: optional(count), layer: optional(text), type: optional(text) },
            ...{ shortName: optional(text), name: optional(text), subject: text, expiresAt: time, isExpired: truth },
          }),
        ),
      }),
    ),
    limits: list(limit),
    writes: object<ServerAnswer["writes"]>({ stalledStreams: count, bufferedBytes: count }),
    encoder: object<ServerAnswer["encoder"]>({
      segmentsEncoded: count,
      framesEncoded: count,
      bodiesEncoded: count,
      bytesEncoded: count,
    }),
    workers: optional(
      list(
        object<WorkerAnswer>({
          ...{ worker: count, pid: optional(count), state: text, startedAt: optional(time) },
          ...{ connections: count, streams: count, residentBytes: count },
        }),
      ),
    ),
    process: object<ServerAnswer["process"]>({ pid: count, node: text, residentBytes: count }),
  }),
);

export const replicasAnswer: SchemaOf<ReplicasAnswer> = named(
  "Replicas",
  object<ReplicasAnswer>({
    head: count,
    problem: optional(text),
    replicas: list(
      object<ReplicaAnswer>({
        ...{ id: text, name: text, address: optional(text), version: text, role: text, startedAt: time },
        ...{ number: count, numberSince: time, lag: count, lagSince: optional(time), stoppedSince: optional(time) },
        ...{ nodes: count, deployed: count },
      }),
    ),
    lost: optional(
      list(
        object<LostReplicaAnswer>({
          ...{ id: text, name: text, address: optional(text), version: text, role: text, startedAt: time },
          ...{ number: count, nodes: count },
        }),
      ),
    ),
  }),
);

export const layersAnswer: SchemaOf<LayersAnswer> = page(
  "Layers",
  named(
    "Layer",
    object<LayerAnswer>({
      name: text,
      types: list(
        object<LayerAnswer["types"][number]>({ ...typed, resources: count, version: text, changedAt: count }),
      ),
    }),
  ),
);

const problem: SchemaOf<SourceProblem> = named(
  "Problem",
  object<SourceProblem>({
    code: text,
    severity: choice("error", "warning"),
    file: text,
    line: optional(count),
    column: optional(count),
    excerpt: optional(text),
    path: optional(text),
    message: text,
    hint: optional(text),
    related: optional(
      object<NonNullable<SourceProblem["related"]>>({ file: text, line: optional(count), column: optional(count) }),
    ),
    omitted: optional(object<NonNullable<SourceProblem["omitted"]>>({ errors: count, warnings: count })),
  }),
);

export const sourceAnswer: SchemaOf<SourceAnswer> = named(
  "Source",
  object<SourceAnswer>({
    state: choice("loading", "good", "failed"),
    since: time,
    problems: list(problem),
    total: count,
  }),
);
