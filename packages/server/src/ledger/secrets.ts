import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";

/** Which resources the ledger records without their content. */
export function secretsOf(api: Pick<EnvoyApi, "traits" | "holdsSecret">): (resource: Resource) => boolean {
  return ({ type, bodyType = type, bytes }) => api.traits(type)?.kind === "sds" || api.holdsSecret(bodyType, bytes);
}
