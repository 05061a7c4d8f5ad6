import { type DiscoveryMethod, discoveryMethods, type EnvoyApi } from "@xdskit/envoy-api";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import type { GrpcSource } from "../../config/client-config.ts";

/**
 * The method that a source is spoken to by: its path, such as `/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters`. The
 * version of the transport picks it, whatever the version of the type (C-TYP-11). Undefined: there is none for that type alone.
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

/** What to say where there is no such method. */
export function describeMissingMethod(
  { variant, apiVersion }: Pick<GrpcSource, "variant" | "apiVersion">,
  onlyType: TypeUrl | undefined,
): string {
  const of = onlyType === undefined ? "an aggregated stream" : `a stream of ${messageNameOf(onlyType)} alone`;
  const spoken = variant === "sotw" ? "State of the World" : "delta";
  return `there is no method of ${apiVersion} for ${of} in ${spoken}: ask for it on an aggregated stream, or in the other variant`;
}
