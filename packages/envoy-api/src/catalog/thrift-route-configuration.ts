import type { RouteConfiguration } from "../../gen/types/envoy/extensions/filters/network/thrift_proxy/v3/route_pb.d.ts";
import { type CatalogEntry, defineEntry } from "./entry.ts";

/** TRDS: served over ADS only, because it has no service of its own (B-TRD-01). */
export const thriftRouteConfiguration: CatalogEntry = defineEntry<RouteConfiguration>({
  message: "envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration",
  kind: "trds",
  shortName: "trds",
  nameField: "name",
});
