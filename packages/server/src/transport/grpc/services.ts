import type { EnvoyApi } from "@xdskit/envoy-api";
import { type DiscoveryMethod, discoveryMethods } from "@xdskit/envoy-api/internal";
import { discoveryFetch } from "./fetch.ts";
import { guarded } from "./guard.ts";
import { HEALTH_SERVICE, healthMethods } from "./health.ts";
import type { GrpcMethod } from "./method.ts";
import { REFLECTION_SERVICES, reflectionMethods } from "./reflection.ts";
import { discoveryStream } from "./stream.ts";

/** All served methods by path: discovery, health, reflection and the server's others. */
export function grpcMethods(
  api: EnvoyApi,
  further: ReadonlyMap<string, GrpcMethod> = new Map(),
): ReadonlyMap<string, GrpcMethod> {
  const paths = [...discoveryMethods.map(({ path }) => path), ...further.keys()];
  const services = [...new Set([...paths.map(serviceOf), HEALTH_SERVICE, ...REFLECTION_SERVICES])].sort();
  return new Map([
    ...discoveryMethods.flatMap(entryOf),
    ...[
      ...further,
      ...[...healthMethods(new Set(services))].map(([path, method]) => [path, guarded(method, "health")] as const),
      ...[...reflectionMethods(api, services)].map(([path, method]) => [path, guarded(method, "reflection")] as const),
    ].map(counted),
  ]);
}

/** Counts calls that are not discovery streams; those are counted where they open. */
function counted([path, method]: readonly [string, GrpcMethod]): readonly [string, GrpcMethod] {
  return [
    path,
    (call, ports) => {
      const { hub, peer } = ports;
      const refusal = hub.openCall(peer);
      if (refusal === undefined) {
        call.onGone(() => hub.closeCall(peer));
        return method(call, ports);
      }
      call.end(refusal);
      return () => undefined;
    },
  ];
}

function entryOf(method: DiscoveryMethod): readonly (readonly [string, GrpcMethod])[] {
  const { path, call, onlyType } = method;
  if (call !== "fetch") return [[path, discoveryStream({ ...method, call })]];
  return onlyType === undefined ? [] : [[path, discoveryFetch({ ...method, onlyType })]];
}

/** The service of a path: `a.b.Service` of `/a.b.Service/Method`. */
function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf("/"));
}
