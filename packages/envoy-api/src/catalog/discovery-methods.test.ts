import type { ApiVersion } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { registry } from "../../test/support/discovery-protos.ts";
import { type DiscoveryMethod, discoveryMethods, findDiscoveryMethod } from "./discovery-methods.ts";

const isDiscovery = (name: string): boolean => name.endsWith("DiscoveryService") && !/Health|ClientStatus/.test(name);

function pathsInProtos(): string[] {
  const paths: string[] = [];
  for (const type of registry) {
    if (type.kind !== "service" || !isDiscovery(type.typeName)) continue;
    for (const method of type.methods) paths.push(`/${type.typeName}/${method.name}`);
  }
  return paths.sort();
}

describe("discovery methods", () => {
  const ofVersion = (apiVersion: ApiVersion): readonly DiscoveryMethod[] =>
    discoveryMethods.filter((method) => method.apiVersion === apiVersion);

  test("S-GRP-01 S-GRP-02 are those of the protos, and the spelling of the protocol page beside them", () => {
    const alias = "/envoy.service.route.v3.ScopedRouteDiscoveryService/";
    const paths = ofVersion("v3").map((method) => method.path);
    expect({
      own: paths.filter((path) => !path.startsWith(alias)).sort(),
      alias: ofVersion("v3").flatMap(({ path, needs }) => (needs === "docAliases" ? [path] : [])),
    }).toEqual({
      own: pathsInProtos(),
      alias: [`${alias}StreamScopedRoutes`, `${alias}DeltaScopedRoutes`, `${alias}FetchScopedRoutes`],
    });
  });

  test("serve types that exist, one each, but the aggregated ones any", () => {
    const unknown = ofVersion("v3").filter(({ onlyType }) => {
      return onlyType !== undefined && registry.getMessage(onlyType.slice("type.googleapis.com/".length)) === undefined;
    });
    const aggregated = ofVersion("v3").filter(({ onlyType }) => onlyType === undefined);
    expect({ unknown, aggregated }).toEqual({
      unknown: [],
      aggregated: [
        {
          path: "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
          call: "sotw",
          apiVersion: "v3",
          onlyType: undefined,
        },
        {
          path: "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
          call: "delta",
          apiVersion: "v3",
          onlyType: undefined,
        },
      ],
    });
  });

  test("S-GRP-01 of v2 are all that there were, each with the type of its own version", () => {
    const of = (needs: DiscoveryMethod["needs"]): readonly string[] =>
      ofVersion("v2").flatMap((method) =>
        method.needs === needs ? [`${method.path} ${method.call} ${method.onlyType?.slice(20) ?? "any"}`] : [],
      );
    const every = (service: string, noun: string, type: string): readonly string[] =>
      [`Stream${noun} sotw`, `Delta${noun} delta`, `Fetch${noun} fetch`].map((rest) => `/${service}/${rest} ${type}`);
    const aggregated = "/envoy.service.discovery.v2.AggregatedDiscoveryService";
    const scopes = ["ScopedRoutes", "envoy.api.v2.ScopedRouteConfiguration"] as const;
    expect({ always: of(undefined), docAliases: of("docAliases"), incremental2018: of("incremental2018") }).toEqual({
      always: [
        `${aggregated}/StreamAggregatedResources sotw any`,
        `${aggregated}/DeltaAggregatedResources delta any`,
        ...every("envoy.api.v2.ListenerDiscoveryService", "Listeners", "envoy.api.v2.Listener"),
        ...every("envoy.api.v2.RouteDiscoveryService", "Routes", "envoy.api.v2.RouteConfiguration"),
        ...every("envoy.api.v2.ScopedRoutesDiscoveryService", ...scopes),
        "/envoy.api.v2.VirtualHostDiscoveryService/DeltaVirtualHosts delta envoy.api.v2.route.VirtualHost",
        ...every("envoy.api.v2.ClusterDiscoveryService", "Clusters", "envoy.api.v2.Cluster"),
        ...every("envoy.api.v2.EndpointDiscoveryService", "Endpoints", "envoy.api.v2.ClusterLoadAssignment"),
        ...every("envoy.service.discovery.v2.SecretDiscoveryService", "Secrets", "envoy.api.v2.auth.Secret"),
        ...every("envoy.service.discovery.v2.RuntimeDiscoveryService", "Runtime", "envoy.service.discovery.v2.Runtime"),
      ],
      docAliases: every("envoy.api.v2.ScopedRouteDiscoveryService", ...scopes),
      incremental2018: [
        `${aggregated}/IncrementalAggregatedResources delta any`,
        "/envoy.api.v2.RouteDiscoveryService/IncrementalRoutes delta envoy.api.v2.RouteConfiguration",
        "/envoy.api.v2.ClusterDiscoveryService/IncrementalClusters delta envoy.api.v2.Cluster",
      ],
    });
  });

  test("are found by their path", () => {
    expect(findDiscoveryMethod("/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets")).toEqual({
      path: "/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets",
      call: "fetch",
      apiVersion: "v3",
      onlyType: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    });
    expect(
      findDiscoveryMethod("/envoy.service.route.v3.VirtualHostDiscoveryService/StreamVirtualHosts"),
    ).toBeUndefined();
    expect(findDiscoveryMethod("toString")).toBeUndefined();
  });
});
