import type { Dialect, PerKind, TtlRule } from "./dialect.ts";

/** The editions of the protocol page, by age (requirements 4.1). */
export type Edition = "2018" | "2020" | "2021" | "current";

/** All editions, oldest first. */
export const editions: readonly Edition[] = ["2018", "2020", "2021", "current"];

/** How settings write the value of a switch. */
export type SwitchForm =
  /** `true` or `false`. */
  | { readonly kind: "boolean" }
  /** One of a few words, which may include `true` and `false`. */
  | { readonly kind: "word"; readonly words: readonly string[] }
  /** A number with a unit: `500ms`, `30s` (milliseconds). */
  | { readonly kind: "duration" }
  /** A number with or without `KiB`, `MiB`, `GiB` (bytes). */
  | { readonly kind: "bytes" };

/** One row of the switch table. */
export interface Switch<T> {
  readonly form: SwitchForm;
  /** The value in the newest edition, and in each edition without its own. */
  readonly current: T;
  /** The values of older editions that differ. */
  readonly older?: Readonly<Partial<Record<Exclude<Edition, "current">, T>>>;
  /** The edition difference (`E4`) and the requirements. */
  readonly ids: readonly string[];
  /** The server-wide setting for this switch, if there is one. */
  readonly setting?: string;
  /** One sentence for the documentation. */
  readonly says: string;
}

/** One switch per field of `Dialect`. */
export type SwitchTable = { readonly [F in keyof Dialect]: Switch<Dialect[F]> };

export type SwitchField = keyof Dialect;

const boolean: SwitchForm = { kind: "boolean" };
const duration: SwitchForm = { kind: "duration" };
const ttlRules = words("if-announced", "always", "never");

// A VirtualHost without a body means that there is none, so a heartbeat could not keep one alive (B-TTL-17).
const announcedTtls: PerKind<TtlRule> = { otherwise: "if-announced", vhds: "never" };
const noTtls: PerKind<TtlRule> = { otherwise: "never" };
const ttls = { form: ttlRules, current: announcedTtls, older: { "2018": noTtls, "2020": noTtls } } as const;

/** The types for which an empty first request is a wildcard in the older texts. */
const listenersAndClusters = { otherwise: false, lds: true, cds: true } as const;

/**
 * Every switch, in the order of the documentation; the only place that defines the value for each edition. To add one,
 * add a field to `Dialect` and a row here; settings, presets, pages and checks follow.
 */
export const switchTable: SwitchTable = {
  wildcardTypes: {
    form: words("true", "false", "delta"),
    current: { otherwise: true },
    older: {
      "2018": listenersAndClusters,
      "2020": listenersAndClusters,
      "2021": { ...listenersAndClusters, srds: "delta" },
    },
    ids: ["E3", "S-SUB-08", "S-SUB-09", "S-MSC-08"],
    says: "An empty first request subscribes to the wildcard; delta: only on delta streams.",
  },
  wildcardSticky: {
    form: boolean,
    current: false,
    older: { "2018": true, "2020": true, "2021": true },
    ids: ["E1", "S-SUB-14"],
    says: "A type with an empty first request stays a wildcard for the life of the stream; later names are ignored.",
  },
  prefixGlob: {
    form: boolean,
    current: false,
    ids: ["S-XTP-13"],
    says: "foo/* in a list of names matches every name that begins with foo/.",
  },
  ignoreHints: {
    form: boolean,
    current: false,
    older: { "2018": true },
    ids: ["E10", "S-SUB-03"],
    says: "State of the World: names are only hints; the server sends everything that the node sees.",
  },
  deltaMissing: {
    form: words("removed", "empty-resource", "none"),
    current: { otherwise: "removed" },
    older: {
      "2018": { otherwise: "none" },
      "2020": { otherwise: "empty-resource" },
      "2021": { otherwise: "empty-resource" },
    },
    ids: ["E4", "S-NEX-06", "S-NEX-07", "S-DLT-16"],
    says: "How delta reports that a name does not exist: in removed_resources, by a resource without a body, or not at all.",
  },
  deltaRemovals: {
    form: words("at-once", "when-unreferenced", "never"),
    current: { otherwise: "at-once" },
    ids: ["E16", "S-DEL-04"],
    says: "Delta: when the server sends a removal; `never`: the client keeps what it has until it unsubscribes.",
  },
  deltaOnePerResponse: {
    form: boolean,
    current: false,
    ids: ["E29", "S-RES-07"],
    says: "Delta: each resource is sent in its own response.",
  },
  nackByVersion: {
    form: boolean,
    current: false,
    older: { "2018": true, "2020": true },
    ids: ["E6", "S-ACK-06"],
    says: "State of the World: a request with a version other than the sent one is a NACK too.",
  },
  nackMayBeOfOlder: {
    form: boolean,
    current: { otherwise: false },
    ids: ["E34", "B-ACK-08"],
    says: "State of the World: on an aggregated stream, a NACK of the newest response may be meant for an older one without an ACK.",
  },
  restLongPoll: {
    form: boolean,
    current: true,
    ids: ["S-RST-10"],
    setting: "rest.long-poll",
    says: "REST: long polling; a poll is held until something changes or its time is over. Otherwise it is answered at once.",
  },
  incremental2018: {
    form: boolean,
    current: false,
    older: { "2018": true },
    ids: ["E19", "B-DLT-18"],
    says: "Serve the `Incremental*` methods of 2018.",
  },
  docAliases: {
    form: boolean,
    current: true,
    ids: ["E26", "S-GRP-02"],
    says: "Serve the service of scoped routes as `ScopedRouteDiscoveryService` too, as the documentation spells it.",
  },
  lrsIgnoresFirstCluster: {
    form: boolean,
    current: false,
    ids: ["S-LRS-02"],
    says: "Load reports: the client omits the first of the requested clusters, so the server requests all.",
  },
  staleNonce: {
    form: words("ignore", "honour-names"),
    current: "ignore",
    ids: ["S-NON-07"],
    says: "State of the World: what happens to the names in a request with a stale nonce.",
  },
  resumeVersion: {
    form: boolean,
    current: true,
    older: { "2018": false },
    ids: ["E8", "B-VER-04"],
    says: "State of the World: the version in the first request of a stream is what the client holds.",
  },
  resumeSkip: {
    form: boolean,
    current: { otherwise: false },
    ids: ["E9", "S-REC-05"],
    says: "State of the World: a client that reconnects with the current version and a pure wildcard is not sent everything again.",
  },
  resendEdsOnClusterChange: {
    form: boolean,
    current: true,
    ids: ["E15", "S-WRM-08"],
    says: "After a Cluster is added or changed, its ClusterLoadAssignment is resent, even if unchanged.",
  },
  makeBeforeBreak: {
    form: boolean,
    current: { otherwise: true },
    older: { "2018": { otherwise: true, vhds: false } },
    ids: ["E17", "S-ORD-05", "S-ORD-06"],
    setting: "make-before-break",
    says: "Make before break: Clusters are removed last, and dependents of a new Cluster are sent after it; by kind: which types take part.",
  },
  orderLimitMs: {
    form: duration,
    current: 30_000,
    ids: ["S-ORD-06"],
    setting: "order-limit",
    says: "How long an ordering step waits for a client that sends nothing.",
  },
  resumeGraceMs: {
    form: duration,
    current: 1_000,
    ids: ["S-REC-09"],
    says: "How long a reconnected client has to subscribe: to what it uses before Clusters are removed, and to Clusters before their dependents are sent.",
  },
  separateResumeGraceMs: {
    form: duration,
    current: 30_000,
    ids: ["S-REC-09"],
    says: "The same for a client that reconnects with one stream per type, each after its own back-off.",
  },
  ackLimitMs: {
    form: duration,
    current: 30_000,
    ids: ["S-RES-02"],
    says: "How long newer content waits for the ACK of the previous response.",
  },
  withheldAckLimitMs: {
    form: duration,
    current: { otherwise: undefined },
    ids: ["E34"],
    says: "The same for types whose ACK a client may delay, on an aggregated stream (default: ackLimit). For Clusters: it delays the subscription of a new stream, too.",
  },
  resourceErrors: {
    form: words("failed", "failed-and-missing", "off"),
    current: "failed",
    older: { "2018": "off", "2020": "off", "2021": "off" },
    ids: ["S-ERR-01", "S-ERR-05", "S-RES-15"],
    says: "What resource_errors reports: errors, in State of the World missing names too, or nothing.",
  },
  errorsEndWaiting: {
    form: boolean,
    current: true,
    ids: ["S-ERR-05"],
    says: "Delta: a resource error ends the client's wait; otherwise the name is also sent as missing.",
  },
  maxResponseBytes: {
    form: { kind: "bytes" },
    // Clients built on gRPC libraries accept 4 MiB (client-behaviours F1).
    current: 3.5 * 1024 * 1024,
    ids: ["S-RES-08"],
    setting: "limits.max-response-bytes",
    says: "Maximum size of a response before the rest is sent in another one, for clients that allow that.",
  },
  maySplit: {
    form: boolean,
    current: { otherwise: true },
    ids: ["S-RES-08"],
    says: "The client accepts a state that is split over several responses.",
  },
  ttlDelta: {
    ...ttls,
    ids: ["E23", "S-TTL-01", "B-TTL-17"],
    says: "Delta: which clients receive TTLs.",
  },
  ttlSotw: {
    ...ttls,
    ids: ["E23", "E24", "S-TTL-02", "B-TTL-17"],
    says: "State of the World on a per-type stream: which clients receive TTLs, in a Resource wrapper.",
  },
  ttlAggregatedSotw: {
    ...ttls,
    ids: ["E23", "E24", "S-TTL-02", "B-TTL-17"],
    says: "State of the World on an aggregated stream: which clients receive TTLs, in a Resource wrapper.",
  },
  ttlWithoutFeature: {
    form: boolean,
    current: false,
    ids: ["E23", "S-TTL-01"],
    setting: "ttl-without-feature",
    says: "Send TTLs to clients that do not advertise TTL support.",
  },
  unknownType: {
    form: words("ignore", "reject"),
    current: "ignore",
    ids: ["S-TYP-07"],
    says: "What a request for an unknown type does to an aggregated stream.",
  },
  requireNode: {
    form: boolean,
    current: false,
    ids: ["S-NOD-06"],
    setting: "require-node",
    says: "Reject a stream whose first request has no node.",
  },
  nodeChange: {
    form: words("ignore", "reject"),
    current: "ignore",
    ids: ["E22", "S-NOD-04"],
    says: "What happens to a stream when a later request has a different node.",
  },
};

/** Every field of `switchTable`. */
export const switchFields: readonly SwitchField[] = Object.keys(switchTable).filter(isSwitchField);

/** The operator's name of a switch: its field without the unit, because settings write the unit in the value. */
export function switchNameOf(field: SwitchField): string {
  return field.replace(/(?:Ms|Bytes)$/, "");
}

/** Returns the value of a switch in an edition. */
export function inEdition<F extends SwitchField>(field: F, edition: Edition): Dialect[F] {
  const { current, older }: Switch<Dialect[F]> = switchTable[field];
  return edition === "current" ? current : (older?.[edition] ?? current);
}

/** Whether a switch has a value per kind of resource. */
export function isPerKind(field: SwitchField): boolean {
  return typeof switchTable[field].current === "object";
}

/** Whether a string is the field of a switch. */
export function isSwitchField(key: string): key is SwitchField {
  return Object.hasOwn(switchTable, key);
}

function words(...choices: readonly string[]): SwitchForm {
  return { kind: "word", words: choices };
}
