import type { EnvoyApi } from "@xdskit/envoy-api";
import { hasEndpoints } from "@xdskit/envoy-api/internal";
import type { Resource } from "@xdskit/protocol";

/** Which resources are the endpoints of a cluster that has none. */
export function lackingEndpoints(api: Pick<EnvoyApi, "traits">): (resource: Resource) => boolean {
  return ({ type, bodyType = type, bytes, error }) =>
    api.traits(type)?.kind === "eds" && bodyType === type && error === undefined && isWithoutEndpoints(bytes);
}

function isWithoutEndpoints(bytes: Uint8Array): boolean {
  try {
    return !hasEndpoints(bytes);
  } catch {
    return false;
  }
}
