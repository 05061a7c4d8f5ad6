import type { Entry, EntryPlace } from "./record.ts";

/** A key for maps: equal places have equal keys. */
export function placeKey({ layer, type, name }: EntryPlace): string {
  return `${layer}\u0000${type}\u0000${name}`;
}

/** An entry and where it stands. */
export interface PlacedEntry extends EntryPlace {
  readonly entry: Entry;
}

/** Whether two entries are of one content: an own version may stay while the body changes. */
export function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.version === other.version && one.body === other.body;
}
