import type { ReceivedResource } from "../message/response.ts";
import { areSameBytes } from "../resource/same-bytes.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { HeldResource, KeptResource } from "./held.ts";

const noBytes = new Uint8Array(0);

/** Returns the held form of a received resource; the same object as before if nothing differs. */
export function heldFrom(
  type: TypeUrl,
  { name, aliases, version, bytes = noBytes, bodyType, ttlMs }: ReceivedResource,
  before: HeldResource | undefined,
): HeldResource {
  const content = before !== undefined && isSameContent(before, { bytes, bodyType, aliases });
  const isSame = content && before.version === version && before.ttlMs === ttlMs && before.isRestored === undefined;
  if (isSame) return before;
  // Equal content is shared, so that the received message can be freed.
  const kept = content ? before : { aliases, bytes };
  const held = { type, name, aliases: kept.aliases, version, bytes: kept.bytes, ttlMs };
  return bodyType === undefined ? held : { ...held, bodyType };
}

/** Returns the held form of a resource from an earlier run. */
export function keptAsHeld(kept: KeptResource): HeldResource {
  return { ...kept, ttlMs: undefined, isRestored: true };
}

/** Returns a resource without its restored mark, once a server has confirmed it. */
export function confirmed({ isRestored: _, ...resource }: HeldResource): HeldResource {
  return resource;
}

/** The part of a resource whose change notifies watches (C-CLI-03). */
type Content = Pick<HeldResource, "bytes" | "aliases"> & { readonly bodyType?: TypeUrl | undefined };

/** Whether the change from one to the other needs no notification. */
export function isSameContent(a: Content, b: Content): boolean {
  return areSameBytes(a.bytes, b.bytes) && a.bodyType === b.bodyType && areSameNames(a.aliases, b.aliases);
}

/** Whether two lists hold the same names in the same order. */
export function areSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((name, i) => name === b[i]));
}
