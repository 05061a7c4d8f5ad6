import type { EnvoyApi } from "@xdskit/envoy-api";
import { type DiscoveryMethod, discoveryMethods } from "@xdskit/envoy-api/internal";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import type { GrpcSource } from "../../config/client-config.ts";

/**
 * The path of a source's method, such as `/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters`. The
 * transport's API version selects it, not that of the type (C-TYP-11). Undefined: the type has no method of its own.
 */
export function methodPath(
  { variant, apiVersion }: Pick<GrpcSource, "variant" | "apiVersion">,
  onlyType: TypeUrl | undefined,
  api: Pick<EnvoyApi, "traits">,
): string | undefined {
  const twin = onlyType === undefined ? undefined : api.traits(onlyType)?.twin;
  const isWanted = (method: DiscoveryMethod): boolean =>
    method.call === variant &&
    method.apiVersion === apiVersion &&
    method.needs === undefined &&
    (method.onlyType === onlyType || (twin !== undefined && method.onlyType === twin));
  return discoveryMethods.find(isWanted)?.path;
}

/** The error text for a missing method. */
export function describeMissingMethod(
  { variant, apiVersion }: Pick<GrpcSource, "variant" | "apiVersion">,
  onlyType: TypeUrl | undefined,
): string {
  const of = onlyType === undefined ? "an aggregated stream" : `a stream of ${messageNameOf(onlyType)} alone`;
  const spoken = variant === "sotw" ? "State of the World" : "delta";
  return `there is no method of ${apiVersion} for ${of} in ${spoken}: ask for it on an aggregated stream, or in the other variant`;
}
