import type { AccessRules, EntryPoint } from "@xdskit/protocol";
import { entryPoints } from "@xdskit/protocol/internal";
import type { SourceProblem } from "../../observe/source-status.ts";
import type { AccessAnswer, AccessClientAnswer, AccessRulesAnswer } from "../answers/access.ts";
import type { CallerAnswer } from "../answers/caller.ts";
import type {
  DeliveriesAnswer,
  DeliveryAnswer,
  DeliveryFate,
  NackAnswer,
  ResponseAnswer,
  TypeAnswer,
  WaitAnswer,
} from "../answers/deliveries.ts";
import type { NodeCountsAnswer, RevisionTimeAnswer, SampleAnswer, SamplesAnswer } from "../answers/live.ts";
import type {
  LoadAnswer,
  LoadReporterAnswer,
  LoadReportersAnswer,
  LoadsAnswer,
  LocalityLoadAnswer,
} from "../answers/loads.ts";
import type {
  DialectAnswer,
  NodeAnswer,
  NodeAnswerIdentity,
  NodesAnswer,
  StreamAnswer,
  StreamsAnswer,
} from "../answers/nodes.ts";
import type { ErrorAnswer, ErrorDetailAnswer, Page } from "../answers/page.ts";
import type {
  LostNodeAnswer,
  NamedPlaceAnswer,
  ProgressAnswer,
  StragglerAnswer,
  StragglersAnswer,
} from "../answers/progress.ts";
import type {
  ConversionAnswer,
  ConversionsAnswer,
  GraphAnswer,
  GraphNodeAnswer,
  HolderAnswer,
  HoldersAnswer,
  NodeResourceAnswer,
  NodeResourcesAnswer,
  ResourceAnswer,
  ResourcesAnswer,
} from "../answers/resources.ts";
import type {
  ChangeAnswer,
  ContentAnswer,
  DecisionAnswer,
  DifferenceAnswer,
  FuseAnswer,
  NodeHistoryAnswer,
  NodePastAnswer,
  NodeRejectionAnswer,
  PlanAnswer,
  PlanCountAnswer,
  PlanNodeAnswer,
  PlanNodesAnswer,
  RevisionAnswer,
  RevisionDetailAnswer,
  RevisionsAnswer,
} from "../answers/revisions.ts";
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
import {
  anything,
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
  yes,
} from "./schema.ts";

/** Of an answer for the clients of all workers. */
const unresponsiveWorkers = optional(list(count));

function page<T>(name: string, item: SchemaOf<T>): SchemaOf<Page<T>> {
  return named(name, object<Page<T>>({ items: list(item), total: count, next: optional(count), unresponsiveWorkers }));
}

/** The members that every object with a type has. */
const typed = { type: text, shortName: optional(text) };

export const errorAnswer: SchemaOf<ErrorAnswer> = named(
  "Error",
  object<ErrorAnswer>({ error: text, hint: optional(text) }),
);

const errorDetail: SchemaOf<ErrorDetailAnswer> = named(
  "ErrorDetail",
  object<ErrorDetailAnswer>({ code: count, message: text }),
);

export const readyAnswer: SchemaOf<ReadyAnswer> = named(
  "Ready",
  object<ReadyAnswer>({ ready: truth, draining: truth, reasons: list(text) }),
);

const limit: SchemaOf<LimitAnswer> = named(
  "Limit",
  object<LimitAnswer>({ name: text, value: count, used: optional(count), hits: count }),
);

const fuse: SchemaOf<FuseAnswer> = named(
  "Fuse",
  object<FuseAnswer>({ fuse: text, layer: optional(text), type: optional(text), message: text }),
);

const ledgerRecord = {
  number: count,
  kind: text,
  time,
  author: optional(text),
  message: optional(text),
  writer: optional(text),
  git: optional(object<NonNullable<RevisionAnswer["git"]>>({ commit: text, isDirty: truth })),
  of: optional(count),
  to: optional(count),
  added: count,
  changed: count,
  deleted: count,
  placement: truth,
  fuses: optional(list(fuse)),
};

const revision: SchemaOf<RevisionAnswer> = named("Revision", object<RevisionAnswer>(ledgerRecord));

export const revisionsAnswer: SchemaOf<RevisionsAnswer> = named(
  "Revisions",
  object<RevisionsAnswer>({ items: list(revision), head: count, next: optional(count) }),
);

const content = optional(named("Content", object<ContentAnswer>({ version: text, body: optional(anything) })));

const change: SchemaOf<ChangeAnswer> = named(
  "Change",
  object<ChangeAnswer>({
    change: choice("added", "changed", "deleted"),
    layer: text,
    ...typed,
    name: text,
    before: content,
    after: content,
  }),
);

const changes = { changes: list(change), total: count, next: optional(count) };

export const revisionAnswer: SchemaOf<RevisionDetailAnswer> = named(
  "RevisionDetail",
  object<RevisionDetailAnswer>({ ...ledgerRecord, ...changes, decisions: list(revision) }),
);

export const differenceAnswer: SchemaOf<DifferenceAnswer> = named(
  "Difference",
  object<DifferenceAnswer>({ from: count, to: count, ...changes }),
);

type MissingPlace = NonNullable<DecisionAnswer["irretrievable"]>[number];
const irretrievable = optional(list(object<MissingPlace>({ layer: text, type: text, name: text })));

export const planAnswer: SchemaOf<PlanAnswer> = named(
  "Plan",
  object<PlanAnswer>({
    result: choice("unchanged", "applied", "held", "rejected", "refused"),
    head: count,
    reason: optional(text),
    fuses: optional(list(fuse)),
    placement: truth,
    irretrievable,
    counts: list(
      object<PlanCountAnswer>({
        layer: text,
        ...typed,
        ...{ isLive: truth, added: count, changed: count, deleted: count },
      }),
    ),
    nodes: object<PlanNodesAnswer>({
      connected: count,
      affected: count,
      moved: count,
      cutOff: count,
      named: list(object<PlanNodeAnswer>({ id: text, becomes: choice("resources", "layers", "refused", "cut-off") })),
    }),
    ...changes,
  }),
);

export const nodeHistoryAnswer: SchemaOf<NodeHistoryAnswer> = named(
  "NodeHistory",
  object<NodeHistoryAnswer>({
    node: text,
    items: list(
      object<NodePastAnswer>({
        number: count,
        time,
        nacked: optional(object<NodeRejectionAnswer>({ ...typed, reason: text })),
        revision: optional(revision),
      }),
    ),
    total: count,
    next: optional(count),
  }),
);

export const decisionAnswer: SchemaOf<DecisionAnswer> = named(
  "Decision",
  object<DecisionAnswer>({
    result: text,
    number: optional(count),
    reason: optional(text),
    fuses: optional(list(fuse)),
    irretrievable,
  }),
);

export const callerAnswer: SchemaOf<CallerAnswer> = named(
  "Caller",
  object<CallerAnswer>({ name: text, role: optional(choice("viewer", "operator")), mayChange: truth }),
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

export const resourcesAnswer: SchemaOf<ResourcesAnswer> = page(
  "Resources",
  named(
    "Resource",
    object<ResourceAnswer>({
      ...typed,
      name: text,
      constraints: optional(text),
      version: text,
      layer: text,
      bytes: count,
      aliases: optional(list(text)),
      ttlMs: optional(count),
      onDemand: optional(truth),
      references: list(object<ResourceAnswer["references"][number]>({ type: text, name: text })),
      error: optional(errorDetail),
      body: optional(anything),
      problem: optional(text),
    }),
  ),
);

const entryPoint: SchemaOf<EntryPoint> = choice(...entryPoints);

export const accessAnswer: SchemaOf<AccessAnswer> = named(
  "Access",
  object<AccessAnswer>({
    allowed: truth,
    entry: entryPoint,
    node: optional(text),
    layers: list(text),
    type: optional(text),
    name: optional(text),
    reason: text,
    rule: optional(count),
    misses: optional(list(object<{ readonly rule: number; readonly field: string }>({ rule: count, field: text }))),
  }),
);

const texts = optional(list(text));

export const accessRulesAnswer: SchemaOf<AccessRulesAnswer> = named(
  "AccessRules",
  object<AccessRulesAnswer>({
    kind: choice("default", "insecure", "rules", "function"),
    rules: optional(
      object<AccessRules>({
        loopback: optional(choice("trusted", "rules")),
        rules: list(
          object<AccessRules["rules"][number]>({
            name: optional(text),
            identities: list(text),
            entryPoints: optional(list(entryPoint)),
            nodes: texts,
            clusters: texts,
            metadata: optional(record(text)),
            layers: texts,
            types: texts,
            names: texts,
            deny: optional(truth),
          }),
        ),
      }),
    ),
    clientStatus: choice("off", "loopback", "certificate", "everybody"),
  }),
);

export const accessClientsAnswer: SchemaOf<Page<AccessClientAnswer>> = page(
  "AccessClients",
  named(
    "AccessClient",
    object<AccessClientAnswer>({
      entry: entryPoint,
      peer: text,
      identities: list(text),
      node: text,
      cluster: text,
      metadata: record(text),
      types: list(text),
    }),
  ),
);

export const nodeResourcesAnswer: SchemaOf<NodeResourcesAnswer> = page(
  "NodeResources",
  named(
    "NodeResource",
    object<NodeResourceAnswer>({
      ...typed,
      name: text,
      stream: count,
      status: choice("acked", "pending", "nacked", "not-sent", "does-not-exist", "received-error", "unknown"),
      version: optional(text),
      reason: optional(text),
      body: optional(anything),
      problem: optional(text),
    }),
  ),
);

export const holdersAnswer: SchemaOf<HoldersAnswer> = page(
  "Holders",
  named(
    "Holder",
    object<HolderAnswer>({
      node: text,
      status: choice(
        "acked",
        "pending",
        "nacked",
        "not-sent",
        "does-not-exist",
        "received-error",
        "unknown",
        "not-subscribed",
      ),
      version: optional(text),
      error: optional(errorDetail),
    }),
  ),
);

export const graphAnswer: SchemaOf<GraphAnswer> = named(
  "Graph",
  object<GraphAnswer>({
    nodes: list(object<GraphNodeAnswer>({ ...typed, name: text, layer: optional(text), missing: optional(yes) })),
    edges: list(object<GraphAnswer["edges"][number]>({ from: count, to: count })),
    isCut: optional(yes),
  }),
);

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

export const conversionsAnswer: SchemaOf<ConversionsAnswer> = page(
  "Conversions",
  named(
    "Conversion",
    object<ConversionAnswer>({
      ...typed,
      name: text,
      layer: text,
      findings: list(object<ConversionAnswer["findings"][number]>({ path: text, message: text })),
    }),
  ),
);

const locality = object<NonNullable<NodeAnswerIdentity["locality"]>>({ region: text, zone: text, subZone: text });
const identity = { id: text, cluster: text, locality: optional(locality), userAgent: text };

const dialect: SchemaOf<DialectAnswer> = named(
  "Dialect",
  object<DialectAnswer>({
    edition: text,
    editionBy: optional(text),
    client: optional(text),
    listener: optional(text),
    clients: optional(text),
    switches: list(object<DialectAnswer["switches"][number]>({ name: text, value: text, by: text })),
  }),
);

const fate: SchemaOf<DeliveryFate> = choice("acked", "pending", "nacked", "sent", "does-not-exist", "requested");

const wait: SchemaOf<WaitAnswer> = named(
  "Wait",
  object<WaitAnswer>({
    for: choice("cluster", "endpoints", "secret", "content", "users", "release", "return"),
    name: optional(text),
    resources: optional(list(text)),
    type: optional(text),
    shortName: optional(text),
    nacked: optional(truth),
    since: optional(time),
  }),
);

const ttl = choice("told", "not-announced", "unsafe", "v2");

const response = {
  nonce: text,
  version: text,
  revision: count,
  resources: count,
  removed: count,
  sentAt: optional(time),
};

const typeAnswer: SchemaOf<TypeAnswer> = named(
  "Type",
  object<TypeAnswer>({
    ...typed,
    stream: count,
    state: fate,
    isWildcard: truth,
    names: count,
    doesNotExist: list(text),
    errors: optional(
      list(object<ErrorDetailAnswer & { readonly name: string }>({ code: count, message: text, name: text })),
    ),
    sentRevision: optional(count),
    sentVersion: optional(text),
    acked: optional(object<ResponseAnswer & { readonly ackedAt?: string }>({ ...response, ackedAt: optional(time) })),
    nacked: optional(
      object<NackAnswer & { readonly nackedAt?: string }>({
        ...response,
        code: count,
        reason: text,
        names: list(text),
        nackedAt: optional(time),
      }),
    ),
    waits: optional(wait),
    pendingRemovals: optional(list(text)),
    ttl: optional(ttl),
    pending: list(named("Response", object<ResponseAnswer>(response))),
  }),
);

const onStream = {
  stream: count,
  apiVersion: choice("v2", "v3"),
  variant: choice("sotw", "delta"),
  isPoller: optional(yes),
};

export const nodesAnswer: SchemaOf<NodesAnswer> = page(
  "Nodes",
  named(
    "Node",
    object<NodeAnswer>({
      ...identity,
      streams: list(object<NodeAnswer["streams"][number]>({ ...onStream, peer: text, dialect: optional(dialect) })),
      layers: list(text),
      connectedAt: optional(time),
      lastRequestAt: optional(time),
      types: list(typeAnswer),
    }),
  ),
);

const nodeIdentity: SchemaOf<NodeAnswerIdentity> = named("NodeIdentity", object<NodeAnswerIdentity>(identity));

export const streamsAnswer: SchemaOf<StreamsAnswer> = page(
  "Streams",
  named(
    "Stream",
    object<StreamAnswer>({
      ...onStream,
      onlyType: optional(text),
      peer: object<StreamAnswer["peer"]>({ address: text, isTls: truth, names: list(text) }),
      node: optional(nodeIdentity),
      dialect: optional(dialect),
      layers: list(text),
      openedAt: optional(time),
      lastRequestAt: optional(time),
      lastResponseAt: optional(time),
      types: list(typeAnswer),
    }),
  ),
);

export const deliveriesAnswer: SchemaOf<DeliveriesAnswer> = page(
  "Deliveries",
  named(
    "Delivery",
    object<DeliveryAnswer>({
      node: text,
      userAgent: text,
      ...typed,
      stream: count,
      state: fate,
      version: optional(text),
      nonce: optional(text),
      revision: optional(count),
      since: optional(time),
      ackedVersion: optional(text),
      reason: optional(text),
      names: optional(list(text)),
      doesNotExist: optional(list(text)),
      waits: optional(wait),
      pendingRemovals: optional(list(text)),
      ttl: optional(ttl),
    }),
  ),
);

const stragglers: SchemaOf<StragglersAnswer> = named(
  "Stragglers",
  object<StragglersAnswer>({
    total: count,
    nodes: list(
      object<StragglerAnswer>({
        ...identity,
        types: list(
          object<StragglerAnswer["types"][number]>({
            ...typed,
            state: choice("not-sent", "pending", "removal", "nacked"),
            waits: optional(wait),
            names: optional(list(text)),
            reason: optional(text),
            places: optional(list(object<NamedPlaceAnswer>({ name: text, file: text, line: optional(count) }))),
          }),
        ),
      }),
    ),
  }),
);

export const progressAnswer: SchemaOf<ProgressAnswer> = named(
  "Progress",
  object<ProgressAnswer>({
    revision: count,
    head: count,
    state: choice("deployed", "pending", "nacked", "too-few-nodes"),
    nodes: count,
    deployed: count,
    pending: stragglers,
    nacked: stragglers,
    disconnected: object<ProgressAnswer["disconnected"]>({
      total: count,
      nodes: list(object<LostNodeAnswer>({ id: text, reached: optional(count) })),
    }),
    unresponsiveWorkers,
  }),
);

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
