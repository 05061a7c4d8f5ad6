import type { ClientCase } from "../../client-case.ts";
import { firstRequest, firstSubscription } from "./beginning.ts";

/** VHD, ECD, LED, TRD, XTP: types beside the four basic ones, and names of collections. */
export const furtherTypeCases: readonly ClientCase[] = [
  {
    id: "B-ECD-01",
    says: "asks for the configuration of an extension by the name of the filter",
    variant: "sotw",
    type: "ecds",
    steps: [
      firstRequest("filter"),
      {
        responds: { version: "X", nonce: "A", resources: ["filter@1"] },
        asks: [{ names: ["filter"], version: "X", nonce: "A" }],
        tells: { filter: ["filter@1"] },
      },
    ],
  },
  {
    id: "B-TRD-01",
    says: "asks for a type without a service of its own on the aggregated stream",
    variant: "sotw",
    type: "trds",
    streams: ["ads"],
    steps: [
      firstRequest("r"),
      {
        responds: { version: "X", nonce: "A", resources: ["r@1"] },
        asks: [{ names: ["r"], version: "X", nonce: "A" }],
        tells: { r: ["r@1"] },
      },
    ],
  },
  {
    id: "B-VHD-01",
    also: ["C-VHD-06", "C-DLT-15"],
    says: "asks for a host of a route configuration, is served under its alias, and hears of equal content once",
    variant: "delta",
    type: "vhds",
    steps: [
      firstSubscription("a/b/foo.com"),
      {
        responds: { nonce: "A", resources: [{ is: "a/b/all@1", aliases: ["a/b/foo.com"] }] },
        asks: [{ nonce: "A" }],
        tells: { "a/b/foo.com": ["a/b/all@1"] },
      },
      {
        responds: { nonce: "B", resources: [{ is: "a/b/all@1", aliases: ["a/b/foo.com"] }] },
        asks: [{ nonce: "B" }],
      },
    ],
  },
  {
    id: "B-LED-01",
    also: ["B-XTP-05"],
    says: "asks for endpoints by their collection, and is told of each member and when it is whole",
    variant: "delta",
    type: "leds",
    steps: [
      {
        watches: "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/*",
        as: "all",
        opens: ["main"],
        asks: [{ subscribe: ["xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/*"], node: "n1" }],
      },
      {
        responds: {
          nonce: "A",
          resources: [
            "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/1@1",
            "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/2@1",
          ],
        },
        asks: [{ nonce: "A" }],
        tells: {
          all: [
            "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/1@1",
            "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/2@1",
            "synced",
          ],
        },
      },
      {
        responds: { nonce: "B", removed: ["xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/2"] },
        asks: [{ nonce: "B" }],
        tells: { all: ["xdstp://a/envoy.config.endpoint.v3.LbEndpoint/x/2 removed"] },
      },
    ],
  },
  {
    id: "B-XTP-05",
    says: "takes an empty collection for one that is known to be empty",
    variant: "delta",
    type: "cds",
    steps: [
      {
        watches: "xdstp://a/envoy.config.cluster.v3.Cluster/x/*",
        as: "all",
        opens: ["main"],
        asks: [{ subscribe: ["xdstp://a/envoy.config.cluster.v3.Cluster/x/*"], node: "n1" }],
      },
      {
        responds: { nonce: "A", removed: ["xdstp://a/envoy.config.cluster.v3.Cluster/x/*"] },
        asks: [{ nonce: "A" }],
        tells: { all: ["xdstp://a/envoy.config.cluster.v3.Cluster/x/* does-not-exist", "synced"] },
      },
    ],
  },
  {
    id: "C-XTP-03",
    also: ["B-XTP-01", "B-XTP-02"],
    says: "asks for a name without its directives, its parameters in one order",
    variant: "sotw",
    type: "cds",
    steps: [
      {
        watches: "xdstp://a/envoy.config.cluster.v3.Cluster/x?b=2&a=1#alt=xdstp://b/envoy.config.cluster.v3.Cluster/x",
        as: "x",
        opens: ["main"],
        asks: [{ names: ["xdstp://a/envoy.config.cluster.v3.Cluster/x?a=1&b=2"], node: "n1" }],
      },
      {
        responds: {
          version: "X",
          nonce: "A",
          resources: ["xdstp://a/envoy.config.cluster.v3.Cluster/x?a=1&b=2@1"],
        },
        asks: [{ names: ["xdstp://a/envoy.config.cluster.v3.Cluster/x?a=1&b=2"], version: "X", nonce: "A" }],
        tells: { x: ["xdstp://a/envoy.config.cluster.v3.Cluster/x?a=1&b=2@1"] },
      },
    ],
  },
];
