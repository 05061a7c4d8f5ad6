import type { ReceivedResource } from "../message/response.ts";
import { areSameBytes } from "../resource/same-bytes.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { HeldResource, KeptResource } from "./held.ts";

const noBytes = new Uint8Array(0);

/** A received resource as it is held; the one before, if nothing about it differs. */
export function heldFrom(
  type: TypeUrl,
  { name, aliases, version, bytes = noBytes, bodyType, ttlMs }: ReceivedResource,
  before: HeldResource | undefined,
): HeldResource {
  const content = before !== undefined && isSameContent(before, { bytes, bodyType, aliases });
  const isSame = content && before.version === version && before.ttlMs === ttlMs && before.isRestored === undefined;
  if (isSame) return before;
  // What is equal is shared, so that what was received can be forgotten.
  const kept = content ? before : { aliases, bytes };
  const held = { type, name, aliases: kept.aliases, version, bytes: kept.bytes, ttlMs };
  return bodyType === undefined ? held : { ...held, bodyType };
}

/** What was kept from an earlier life as it is held now. */
export function keptAsHeld(kept: KeptResource): HeldResource {
  return { ...kept, ttlMs: undefined, isRestored: true };
}

/** What was kept is what a server has too. */
export function confirmed({ isRestored: _, ...resource }: HeldResource): HeldResource {
  return resource;
}

/** What has to be the same for nobody to be told (C-CLI-03). */
type Content = Pick<HeldResource, "bytes" | "aliases"> & { readonly bodyType?: TypeUrl | undefined };

/** Whether there is nothing to tell of one after the other. */
export function isSameContent(a: Content, b: Content): boolean {
  return areSameBytes(a.bytes, b.bytes) && a.bodyType === b.bodyType && areSameNames(a.aliases, b.aliases);
}

/** Whether these are the same names in the same order. */
export function areSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((name, i) => name === b[i]));
}
