import { cluster } from "./cluster.ts";
import { clusterLoadAssignment } from "./cluster-load-assignment.ts";
import type { CatalogEntry } from "./entry.ts";
import { extensionConfig } from "./extension-config.ts";
import { lbEndpoint } from "./lb-endpoint.ts";
import { clusterCollection, lbEndpointCollection, listenerCollection } from "./list-collection.ts";
import { listener } from "./listener.ts";
import { routeConfiguration } from "./route-configuration.ts";
import { runtime } from "./runtime.ts";
import { scopedRouteConfiguration } from "./scoped-route-configuration.ts";
import { secret } from "./secret.ts";
import { thriftRouteConfiguration } from "./thrift-route-configuration.ts";
import { virtualHost } from "./virtual-host.ts";

/** Every resource type of requirements 1.3. To add one, add a file beside this one and a line here (B-TYP-01). */
export const catalog: readonly CatalogEntry[] = [
  listener,
  routeConfiguration,
  scopedRouteConfiguration,
  virtualHost,
  cluster,
  clusterLoadAssignment,
  secret,
  runtime,
  extensionConfig,
  lbEndpoint,
  thriftRouteConfiguration,
  listenerCollection,
  clusterCollection,
  lbEndpointCollection,
];
