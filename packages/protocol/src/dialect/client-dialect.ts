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
    says: "State of the World: the first request of a stream tells the last accepted version.",
  },
  explicitWildcard: {
    form: boolean,
    current: false,
    ids: ["C-SUB-17"],
    says: "Everything is asked for with `*`, instead of by naming nothing.",
  },
  wildcardSticky: {
    form: boolean,
    current: false,
    older: { "2018": true, "2020": true, "2021": true },
    ids: ["E1"],
    says: "Once everything was asked for, names besides it are not told to the server.",
  },
  nackPolicy: {
    form: { kind: "word", words: ["all-or-nothing", "apply-valid"] },
    current: "all-or-nothing",
    ids: ["B-ACK-08", "C-DLT-06"],
    says: "What becomes of the good resources in a response with a bad one; it is refused in any case.",
  },
  absenceTimer: {
    form: boolean,
    current: true,
    older: { "2018": false },
    ids: ["E21", "C-NEX-02"],
    says: "A name that nobody answers for in time does not exist.",
  },
  refuseDuplicates: {
    form: boolean,
    current: true,
    older: { "2018": false },
    ids: ["E21", "B-RES-10", "C-RES-11"],
    says: "A response that names a resource twice is refused.",
  },
  ttl: {
    form: boolean,
    current: true,
    older: noTtl,
    ids: ["E23", "C-TTL-05"],
    says: "Ttls are kept, and heartbeats known.",
  },
  badHeartbeat: {
    form: { kind: "word", words: ["nack", "missing"] },
    current: "nack",
    ids: ["E5", "C-TTL-15"],
    says: "A heartbeat of what is not held, or of another version of it.",
  },
  acceptTwinTypes: {
    form: boolean,
    current: false,
    ids: ["C-TYP-14"],
    says: "A resource in the other version of the API is taken for one of the type that was asked for.",
  },
  srdsFullState: {
    form: boolean,
    current: true,
    ids: ["O-10"],
    says: "State of the World: scoped routes that a response leaves out are gone.",
  },
  absenceByWildcard: {
    form: boolean,
    current: true,
    ids: ["E14", "C-NEX-04"],
    says: "State of the World: what an answer to a sole wildcard leaves out does not exist.",
  },
  ignoreDeletion: {
    form: boolean,
    current: false,
    ids: ["C-DEL-10"],
    says: "Listeners and Clusters that were deleted go on being used.",
  },
  failOnDataErrors: {
    form: boolean,
    current: false,
    ids: ["C-ERR-09"],
    says: "What a server says is gone, or refuses to give, or what was refused, is not used any more.",
  },
  timerIsTransient: {
    form: boolean,
    current: false,
    ids: ["C-ERR-10"],
    says: "A name that nobody answers for in time is one that cannot be reached, after twice the time.",
  },
  cdsAckWhenWarm: {
    form: boolean,
    current: false,
    ids: ["E34", "C-ACK-15"],
    says: "On an aggregated stream, Clusters are acknowledged when nothing warms any more.",
  },
  edsCache: {
    form: boolean,
    current: true,
    older: { "2018": false, "2020": false, "2021": false },
    ids: ["E15", "C-WRM-04"],
    says: "A Cluster that changed uses the endpoints that it had when no new ones come in time.",
  },
  childRemoval: {
    form: { kind: "word", words: ["retain", "drop"] },
    current: "retain",
    ids: ["E16", "C-DEL-09"],
    says: "Endpoints, routes and secrets that are removed while something refers to them.",
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
