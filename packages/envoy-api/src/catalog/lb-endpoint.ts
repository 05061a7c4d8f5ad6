import type { LbEndpoint } from "../../gen/types/envoy/config/endpoint/v3/endpoint_components_pb.d.ts";
import { type CatalogEntry, defineEntry } from "./entry.ts";

/** LEDS: one endpoint of a collection, named only by its wrapper (B-LED-01). */
export const lbEndpoint: CatalogEntry = defineEntry<LbEndpoint>({
  message: "envoy.config.endpoint.v3.LbEndpoint",
  kind: "leds",
  shortName: "leds",
  discovery: {
    services: { v3: "envoy.service.endpoint.v3.LocalityEndpoint" },
    noun: "LocalityEndpoints",
    calls: ["delta"],
    rest: {
      absent: ["locality_endpoints"],
      reason: "LEDS is served by delta only, and there is no delta over REST",
    },
  },
  namingHint:
    "put an envoy.service.discovery.v3.Resource around it whose name is that of the collection and its own, such as xdstp://authority/envoy.config.endpoint.v3.LbEndpoint/collection/one",
});
