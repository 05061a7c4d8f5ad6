import { lengthTag, WireReader } from "./reader.ts";

/** `ClusterLoadAssignment.endpoints`. */
const LOCALITY = lengthTag(2);
/** `lb_endpoints`, `load_balancer_endpoints` and `leds_cluster_locality_config` of a locality. */
const ENDPOINTS: readonly number[] = [2, 7, 8].map(lengthTag);

/**
 * Whether a `ClusterLoadAssignment` of v2 or v3 has any endpoints, or names where to get them (LEDS).
 *
 * @throws {WireError} if the bytes are malformed
 */
export function hasEndpoints(message: Uint8Array): boolean {
  const reader = new WireReader(message);
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag !== LOCALITY) reader.skip(tag);
    else if (hasAny(reader.message(), ENDPOINTS)) return true;
  }
  return false;
}

function hasAny(reader: WireReader, tags: readonly number[]): boolean {
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tags.includes(tag)) return true;
    reader.skip(tag);
  }
  return false;
}
