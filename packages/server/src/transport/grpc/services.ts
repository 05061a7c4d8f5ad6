import { type DiscoveryMethod, discoveryMethods, type EnvoyApi } from "@xdskit/envoy-api";
import { discoveryFetch } from "./fetch.ts";
import { HEALTH_SERVICE, healthMethods } from "./health.ts";
import type { GrpcMethod } from "./method.ts";
import { REFLECTION_SERVICES, reflectionMethods } from "./reflection.ts";
import { discoveryStream } from "./stream.ts";

/** Every method that is served, by its path. */
export function grpcMethods(api: EnvoyApi): ReadonlyMap<string, GrpcMethod> {
  const services = [...new Set([...discoveryMethods.map(serviceOf), HEALTH_SERVICE, ...REFLECTION_SERVICES])].sort();
  return new Map([
    ...discoveryMethods.flatMap(entryOf),
    ...healthMethods(new Set(services)),
    ...reflectionMethods(api, services),
  ]);
}

function entryOf(method: DiscoveryMethod): readonly (readonly [string, GrpcMethod])[] {
  const { path, call, onlyType } = method;
  if (call !== "fetch") return [[path, discoveryStream({ ...method, call })]];
  return onlyType === undefined ? [] : [[path, discoveryFetch({ ...method, onlyType })]];
}

/** `a.b.Service` of `/a.b.Service/Method`. */
function serviceOf({ path }: DiscoveryMethod): string {
  return path.slice(1, path.lastIndexOf("/"));
}
