import { type Edition, editions, type Switch } from "./switches.ts";

/** Every client behaviour in which editions of the protocol, or real clients, differ (requirements 4). */
export interface ClientDialect {
  /** The first request of a stream carries the last accepted version (B-VER-04). */
  readonly resumeVersion: boolean;
  /** The client subscribes to everything with `*` instead of an empty first request (C-SUB-17). */
  readonly explicitWildcard: boolean;
  /** Once a stream has a wildcard subscription, the client does not send further names on it (E1). */
  readonly wildcardSticky: boolean;
  /**
   * Whether valid resources are applied when another one in the response is invalid; it is NACKed in any case
   * (B-ACK-08).
   */
  readonly nackPolicy: "all-or-nothing" | "apply-valid";
  /**
   * A name that no server answers in time does not exist (C-NEX-02); if false, the client waits for it without limit.
   */
  readonly absenceTimer: boolean;
  /** Reject a response that names a resource twice (B-RES-10). */
  readonly refuseDuplicates: boolean;
  /** Honour TTLs and heartbeats (C-TTL-05, C-TTL-10). */
  readonly ttl: boolean;
  /**
   * What to do with a heartbeat for a resource or version that the client does not hold: reject it, or take it to mean
   * that the resource does not exist (C-TTL-15).
   */
  readonly badHeartbeat: "nack" | "missing";
  /** Accept a resource in the other API version as one of the subscribed type (C-TYP-14). */
  readonly acceptTwinTypes: boolean;
  /** In State of the World, scoped routes that a response omits are deleted, like Listeners and Clusters (O-10). */
  readonly srdsFullState: boolean;
  /** In State of the World, a name that the first wildcard response omits does not exist (C-NEX-04). */
  readonly absenceByWildcard: boolean;
  /** Deleted Listeners and Clusters stay in use (C-DEL-10). */
  readonly ignoreDeletion: boolean;
  /**
   * A data error ends the use of the resource: a removal, NOT_FOUND, PERMISSION_DENIED, or an update that was rejected
   * (C-ERR-09).
   */
  readonly failOnDataErrors: boolean;
  /** A name that no server answers in time counts as unreachable, after twice the time (C-ERR-10). */
  readonly timerIsTransient: boolean;
  /** On an aggregated stream, Clusters are ACKed only when nothing is warming any more, as Envoy does (C-ACK-15). */
  readonly cdsAckWhenWarm: boolean;
  /** A changed Cluster keeps its previous endpoints when no new ones come in time; if false, it has none (C-WRM-04). */
  readonly edsCache: boolean;
  /** Whether endpoints, routes and secrets that are removed while something refers to them stay in use (C-DEL-09). */
  readonly childRemoval: "retain" | "drop";
}

/** One switch per field of `ClientDialect`. */
export type ClientSwitchTable = { readonly [F in keyof ClientDialect]: Switch<ClientDialect[F]> };

const boolean = { kind: "boolean" } as const;
const noTtl = { "2018": false, "2020": false } as const;

/** Every client switch, in the order of the documentation; the only place that defines the value for each edition. */
export const clientSwitchTable: ClientSwitchTable = {
  resumeVersion: {
    form: boolean,
    current: true,
    older: { "2018": false },
    ids: ["E8", "B-VER-04"],
    says: "State of the World: the first request of a stream carries the last accepted version.",
  },
  explicitWildcard: {
    form: boolean,
    current: false,
    ids: ["C-SUB-17"],
    says: "The client requests everything with `*` instead of an empty list of names.",
  },
  wildcardSticky: {
    form: boolean,
    current: false,
    older: { "2018": true, "2020": true, "2021": true },
    ids: ["E1"],
    says: "A wildcard subscription does not send further names to the server.",
  },
  nackPolicy: {
    form: { kind: "word", words: ["all-or-nothing", "apply-valid"] },
    current: "all-or-nothing",
    ids: ["B-ACK-08", "C-DLT-06"],
    says: "Whether valid resources of a response with an invalid one are applied; the response is NACKed either way.",
  },
  absenceTimer: {
    form: boolean,
    current: true,
    older: { "2018": false },
    ids: ["E21", "C-NEX-02"],
    says: "A name without a response in time does not exist.",
  },
  refuseDuplicates: {
    form: boolean,
    current: true,
    older: { "2018": false },
    ids: ["E21", "B-RES-10", "C-RES-11"],
    says: "A response that names a resource twice is NACKed.",
  },
  ttl: {
    form: boolean,
    current: true,
    older: noTtl,
    ids: ["E23", "C-TTL-05"],
    says: "The client honours TTLs and accepts heartbeats.",
  },
  badHeartbeat: {
    form: { kind: "word", words: ["nack", "missing"] },
    current: "nack",
    ids: ["E5", "C-TTL-15"],
    says: "What a heartbeat means for a resource that the client does not hold in that version.",
  },
  acceptTwinTypes: {
    form: boolean,
    current: false,
    ids: ["C-TYP-14"],
    says: "A resource in the other API version is accepted as one of the requested type.",
  },
  srdsFullState: {
    form: boolean,
    current: true,
    ids: ["O-10"],
    says: "State of the World: scoped routes that a response omits are removed.",
  },
  absenceByWildcard: {
    form: boolean,
    current: true,
    ids: ["E14", "C-NEX-04"],
    says: "State of the World: a resource that a response to a pure wildcard omits does not exist.",
  },
  ignoreDeletion: {
    form: boolean,
    current: false,
    ids: ["C-DEL-10"],
    says: "The client keeps using deleted Listeners and Clusters.",
  },
  failOnDataErrors: {
    form: boolean,
    current: false,
    ids: ["C-ERR-09"],
    says: "Resources that the server removed or reports as errors, and NACKed ones, are no longer used.",
  },
  timerIsTransient: {
    form: boolean,
    current: false,
    ids: ["C-ERR-10"],
    says: "A name without a response in time is a transient error, after twice the time.",
  },
  cdsAckWhenWarm: {
    form: boolean,
    current: false,
    ids: ["E34", "C-ACK-15"],
    says: "On an aggregated stream, Clusters are ACKed when all of them are warm.",
  },
  edsCache: {
    form: boolean,
    current: true,
    older: { "2018": false, "2020": false, "2021": false },
    ids: ["E15", "C-WRM-04"],
    says: "A changed Cluster keeps its endpoints if no new ones arrive in time.",
  },
  childRemoval: {
    form: { kind: "word", words: ["retain", "drop"] },
    current: "retain",
    ids: ["E16", "C-DEL-09"],
    says: "What happens to endpoints, routes and secrets that are removed while something refers to them.",
  },
};

const presets: ReadonlyMap<Edition, ClientDialect> = new Map(editions.map((edition) => [edition, presetOf(edition)]));

/** Returns the client dialect of an edition with some fields overridden. */
export function clientDialect(overrides: Partial<ClientDialect> = {}, edition: Edition = "current"): ClientDialect {
  return { ...(presets.get(edition) ?? presetOf(edition)), ...overrides };
}

function presetOf(edition: Edition): ClientDialect {
  const rows = Object.entries(clientSwitchTable).map(([field, { current, older }]) => {
    const value: unknown = edition === "current" ? current : ((older as Record<string, unknown>)?.[edition] ?? current);
    return [field, value];
  });
  // A field without a row does not compile, so the rows make a complete dialect.
  return Object.fromEntries(rows) as ClientDialect;
}
