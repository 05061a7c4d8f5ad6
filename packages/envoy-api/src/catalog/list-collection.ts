import { type CatalogEntry, defineEntry } from "./entry.ts";

const NAMING_HINT = "put an envoy.service.discovery.v3.Resource around it with an xdstp name";

/** A list collection: one resource that holds a list of others (B-XTP-07), named by its wrapper. */
export const listenerCollection: CatalogEntry = defineEntry({
  message: "envoy.config.listener.v3.ListenerCollection",
  kind: "opaque",
  namingHint: NAMING_HINT,
});

/** See `listenerCollection`. */
export const clusterCollection: CatalogEntry = defineEntry({
  message: "envoy.config.cluster.v3.ClusterCollection",
  kind: "opaque",
  namingHint: NAMING_HINT,
});

/** See `listenerCollection`. */
export const lbEndpointCollection: CatalogEntry = defineEntry({
  message: "envoy.config.endpoint.v3.LbEndpointCollection",
  kind: "opaque",
  namingHint: NAMING_HINT,
});
