/** The ways to ask a server for configuration: an aggregated stream, a stream of one type, a poll over REST. */
export type EntryPoint = "ads" | "stream" | "rest";

export const entryPoints: readonly EntryPoint[] = ["ads", "stream", "rest"];

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
   * @default every entry point
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
