import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";

/** Collections that are one resource with a list of others in it (B-XTP-07). Nothing in them says their name. */
export const listCollectionTypes: ReadonlySet<TypeUrl> = new Set(
  [
    "envoy.config.listener.v3.ListenerCollection",
    "envoy.config.cluster.v3.ClusterCollection",
    "envoy.config.endpoint.v3.LbEndpointCollection",
  ].map(formatTypeUrl),
);
