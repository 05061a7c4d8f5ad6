import type { Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/**
 * The ways into a server: an aggregated stream, a stream of one type, a unary fetch, a poll over REST; client status
 * (CSDS), load reports (LRS), health discovery (HDS); gRPC health and the probes of the admin API, reflection, metrics;
 * reading the admin API, and changing something there.
 */
export type EntryPoint =
  | "ads"
  | "stream"
  | "fetch"
  | "rest"
  | "csds"
  | "lrs"
  | "hds"
  | "health"
  | "reflection"
  | "metrics"
  | "admin"
  | "admin-change";

export const entryPoints: readonly EntryPoint[] = [
  ...(["ads", "stream", "fetch", "rest", "csds", "lrs", "hds"] as const),
  ...(["health", "reflection", "metrics", "admin", "admin-change"] as const),
];

/** Where a client speaks for its own node: what a rule that allows is about unless it names others. */
export const nodeEntryPoints: readonly EntryPoint[] = ["ads", "stream", "fetch", "rest", "lrs", "hds"];

/**
 * What some identities may have. A rule allows; with `deny` it forbids, and that wins over every rule that allows. In a
 * pattern, `*` is any run of characters, and `{name}` is what a pattern in `identities` captured under that name.
 */
export interface AccessRule {
  /** Names the rule in the log and in answers. */
  readonly name?: string;
  /**
   * Of which the client has at least one: `spiffe://prod/sa/{service}` or any other URI in its certificate;
   * `dns:*.edge.example`, a DNS name in it; `certificate`, any verified certificate; `address:10.0.0.0/8`; `loopback`;
   * `anyone`. `*` and a capture stay within one segment of a URI or one label of a DNS name.
   */
  readonly identities: readonly string[];
  /**
   * @default `ads`, `stream`, `fetch`, `rest`, `lrs` and `hds`; with `deny` every entry point
   */
  readonly entryPoints?: readonly EntryPoint[];
  /**
   * Patterns of node ids that the client may claim.
   * @default every node id
   */
  readonly nodes?: readonly string[];
  /**
   * Patterns of clusters that the node may claim (`node.cluster`).
   * @default every cluster
   */
  readonly clusters?: readonly string[];
  /**
   * Patterns of top-level metadata that the node has; all must match a string.
   * @default none is needed
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Patterns of layers.
   * @default every layer, for clients without a certificate those outside `node/`
   */
  readonly layers?: readonly string[];
  /**
   * Types by type URL, message name or its last part, such as `Secret`; `*` is every type.
   * @default every type, for clients without a certificate all but Secrets
   */
  readonly types?: readonly string[];
  /**
   * Patterns of resource names.
   * @default every name
   */
  readonly names?: readonly string[];
  readonly deny?: boolean;
}

/** Who may have what. What no rule allows is denied. */
export interface AccessRules {
  /**
   * `trusted`: clients on the loopback interface may have everything, whatever the rules say.
   * @default "trusted"
   */
  readonly loopback?: "trusted" | "rules";
  readonly rules: readonly AccessRule[];
}

/** What an access function is asked. */
export interface AccessQuestion {
  readonly entryPoint: EntryPoint;
  readonly peer: Peer;
  /** Undefined where a caller speaks for no node. */
  readonly node: Node | undefined;
  /** Undefined in the first question about a client: whether it may come in at all, as that node. */
  readonly resource: AccessedResource | undefined;
}

/** A resource that a client may have or not. */
export interface AccessedResource {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

/**
 * Decides who may have what, one resource at a time. Must be pure, and not async: equal clients are asked for once. What
 * it throws denies, and is told to the operator.
 */
export type AccessFunction = (question: AccessQuestion) => boolean;
