/** How a client identifies itself (`core.v3.Node`) in the first request of its stream (S-NOD-04). */
export interface Node {
  readonly id: string;
  readonly cluster: string;
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string } | undefined;
  /** The node's metadata as plain JSON values. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Such as `envoy` or `gRPC Go`; "" if unset. */
  readonly userAgentName: string;
  /** Such as `1.39.0`; "" if unset. */
  readonly userAgentVersion: string;
  readonly clientFeatures: readonly string[];
  /**
   * The node's dynamic parameters by type URL, for node mapping only: subscribed names carry their own (C-MSC-07). Absent
   * if there are none.
   */
  readonly dynamicParameters?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The node of a stream that sends none, where that is allowed (S-NOD-06). */
export const anonymousNode: Node = {
  id: "",
  cluster: "",
  locality: undefined,
  metadata: {},
  userAgentName: "",
  userAgentVersion: "",
  clientFeatures: [],
};
