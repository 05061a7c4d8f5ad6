import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import { readFields } from "../transport/grpc/fields.ts";

/** `ClusterLoadAssignment.endpoints`. */
const LOCALITIES = 2;
/** `lb_endpoints`, `load_balancer_endpoints` and `leds_cluster_locality_config` of a locality. */
const ENDPOINTS: ReadonlySet<number> = new Set([2, 7, 8]);

/** Which resources are the endpoints of a cluster that has none. */
export function lackingEndpoints(api: Pick<EnvoyApi, "traits">): (resource: Resource) => boolean {
  return ({ type, bodyType = type, bytes, error }) =>
    api.traits(type)?.kind === "eds" && bodyType === type && error === undefined && isWithoutEndpoints(bytes);
}

function isWithoutEndpoints(bytes: Uint8Array): boolean {
  try {
    return readFields(bytes).every(({ number, value }) => number !== LOCALITIES || !hasEndpoints(value));
  } catch {
    return false;
  }
}

function hasEndpoints(locality: number | Uint8Array): boolean {
  return locality instanceof Uint8Array && readFields(locality).some(({ number }) => ENDPOINTS.has(number));
}
