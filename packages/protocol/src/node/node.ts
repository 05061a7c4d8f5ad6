/** A client as it identifies itself (`core.v3.Node`), from the first request of its stream (S-NOD-04). */
export interface Node {
  readonly id: string;
  readonly cluster: string;
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string } | undefined;
  /** The node's metadata as plain JSON values. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Such as `envoy` or `gRPC Go`; "" if not told. */
  readonly userAgentName: string;
  /** Such as `1.39.0`; "" if not told. */
  readonly userAgentVersion: string;
  readonly clientFeatures: readonly string[];
  /** Its parameters by type URL, for placement: what it asks for has parameters of its own (C-MSC-07). Absent: nothing. */
  readonly dynamicParameters?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** What a client is when it does not say: a stream without a node is served as this one where that is allowed (S-NOD-06). */
export const anonymousNode: Node = {
  id: "",
  cluster: "",
  locality: undefined,
  metadata: {},
  userAgentName: "",
  userAgentVersion: "",
  clientFeatures: [],
};
