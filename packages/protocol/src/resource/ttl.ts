import type { Resource } from "./resource.ts";

/** Whether a client is told how long it may keep a resource, or gets it as one that never expires (S-TTL-01, S-TTL-02). */
export type Ttls = "told" | "left-off";

/** What a client was told of a resource, as far as it tells whether the client has to hear of it again. */
export type Mark = Resource | Pick<Resource, "version" | "content" | "ttlMs">;

/** Whether a client that was told the one need not be told the other. A ttl is no part of the version (S-TTL-08). */
export function isSame(a: Mark | undefined, b: Mark | undefined, ttls: Ttls): boolean {
  return hasSameContent(a, b) && (ttls === "left-off" || a?.ttlMs === b?.ttlMs);
}

/** Whether two resources of a name have the same version and content. */
export function hasSameContent(
  a: Pick<Resource, "version" | "content"> | undefined,
  b: Pick<Resource, "version" | "content"> | undefined,
): boolean {
  return a?.version === b?.version && a?.content === b?.content;
}

/** What to remember of a resource that was told; the whole of one that a client keeps for a time, to keep it alive. */
export function markOf(resource: Resource, ttls: Ttls): Mark {
  if (ttls === "told" && resource.ttlMs !== undefined) return resource;
  const { version, content } = resource;
  return { version, ttlMs: undefined, ...(content !== undefined && { content }) };
}
