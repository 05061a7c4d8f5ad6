import type { Resource } from "./resource.ts";

/** Whether a client gets resources with their TTLs (`told`) or without (S-TTL-01, S-TTL-02). */
export type Ttls = "told" | "left-off";

/** The part of a sent resource that decides whether a resend is needed. */
export type SentMark = Resource | Pick<Resource, "version" | "content" | "ttlMs">;

/** Whether a client that has the one need not get the other. The version does not include the TTL (S-TTL-08). */
export function isSame(a: SentMark | undefined, b: SentMark | undefined, ttls: Ttls): boolean {
  return hasSameContent(a, b) && (ttls === "left-off" || a?.ttlMs === b?.ttlMs);
}

/** Whether two resources have the same version and content. */
export function hasSameContent(
  a: Pick<Resource, "version" | "content"> | undefined,
  b: Pick<Resource, "version" | "content"> | undefined,
): boolean {
  return a?.version === b?.version && a?.content === b?.content;
}

/** Returns what to keep of a sent resource: all of it if the client holds it for a TTL, because heartbeats need it. */
export function markOf(resource: Resource, ttls: Ttls): SentMark {
  if (ttls === "told" && resource.ttlMs !== undefined) return resource;
  const { version, content } = resource;
  return { version, ttlMs: undefined, ...(content !== undefined && { content }) };
}
