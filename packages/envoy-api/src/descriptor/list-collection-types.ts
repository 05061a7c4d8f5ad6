import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";

/** The list collections: one resource that holds a list of others (B-XTP-07). Their messages have no name field. */
export const listCollectionTypes: ReadonlySet<TypeUrl> = new Set(
  [
    "envoy.config.listener.v3.ListenerCollection",
    "envoy.config.cluster.v3.ClusterCollection",
    "envoy.config.endpoint.v3.LbEndpointCollection",
  ].map(formatTypeUrl),
);
