import { describe, expect, test } from "vitest";
import { registry } from "../../test/support/discovery-protos.ts";
import { discoveryMethods, findDiscoveryMethod } from "./services.ts";

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
  test("S-GRP-01 S-GRP-02 are those of the protos, and the spelling of the protocol page beside them", () => {
    const alias = "/envoy.service.route.v3.ScopedRouteDiscoveryService/";
    const paths = discoveryMethods.map((method) => method.path);
    expect({
      own: paths.filter((path) => !path.startsWith(alias)).sort(),
      alias: paths.filter((path) => path.startsWith(alias)),
    }).toEqual({
      own: pathsInProtos(),
      alias: [`${alias}StreamScopedRoutes`, `${alias}DeltaScopedRoutes`, `${alias}FetchScopedRoutes`],
    });
  });

  test("serve types that exist, one each, but the aggregated ones any", () => {
    const unknown = discoveryMethods.filter(({ onlyType }) => {
      return onlyType !== undefined && registry.getMessage(onlyType.slice("type.googleapis.com/".length)) === undefined;
    });
    const aggregated = discoveryMethods.filter(({ onlyType }) => onlyType === undefined);
    expect({ unknown, aggregated }).toEqual({
      unknown: [],
      aggregated: [
        {
          path: "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
          call: "sotw",
          onlyType: undefined,
        },
        {
          path: "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
          call: "delta",
          onlyType: undefined,
        },
      ],
    });
  });

  test("are found by their path", () => {
    expect(findDiscoveryMethod("/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets")).toEqual({
      path: "/envoy.service.secret.v3.SecretDiscoveryService/FetchSecrets",
      call: "fetch",
      onlyType: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    });
    expect(
      findDiscoveryMethod("/envoy.service.route.v3.VirtualHostDiscoveryService/StreamVirtualHosts"),
    ).toBeUndefined();
    expect(findDiscoveryMethod("toString")).toBeUndefined();
  });
});
