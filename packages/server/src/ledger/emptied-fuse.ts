import { messageNameOf } from "@xdskit/protocol";
import {
  deletedKey,
  type EmptiedEntry,
  type EntryChange,
  type EntryPlace,
  type FuseTrip,
  type LedgerState,
  placeKey,
  type SplitEmptied,
  type Steps,
  shownName,
  splitEmptied,
} from "@xdskit/protocol/internal";
import type { NewRecord } from "./operation-plan.ts";
import { authorOf } from "./operation-plan.ts";
import type { Publication } from "./publication.ts";

/** How many names a message has. */
const NAMED = 3;
const SPOKEN_FOR = 60_000;

/** Holds back endpoints that become empty, each by itself, for a limited time. */
export class EmptiedFuse {
  readonly #limitMs: number | "off";

  /** "off" holds nothing back. */
  constructor(limitMs: number | "off" = "off") {
    this.#limitMs = limitMs;
  }

  /** What of live changes is in force at once, and what waits. */
  split(live: readonly EntryChange[], state: LedgerState): Steps<SplitEmptied> {
    const now = Date.now();
    return splitEmptied(live, (place) => {
      if (this.#limitMs === "off" || state.covers(place, now)) return true;
      const known = state.emptiedAt(place);
      return known !== undefined && this.#isOver(known, now);
    });
  }

  /** When what waits is in force, in milliseconds since 1970. */
  endOf({ since }: EmptiedEntry): number {
    return this.#limitMs === "off" ? since : since + this.#limitMs;
  }

  /** What has waited long enough. */
  dueIn({ emptied }: LedgerState): readonly EmptiedEntry[] {
    const now = Date.now();
    return emptied.filter((entry) => this.#isOver(entry, now));
  }

  /** Why live changes wait: a trip for each layer and type. */
  tripsOf(emptied: readonly EntryChange[]): readonly FuseTrip[] {
    const groups = new Map<string, EntryChange[]>();
    for (const change of emptied) {
      const key = `${change.layer}\u0000${change.type}`;
      groups.set(key, [...(groups.get(key) ?? []), change]);
    }
    return [...groups.values()].flatMap((changes): FuseTrip[] => {
      const [first] = changes;
      if (first === undefined) return [];
      const { layer, type } = first;
      const names = changes.slice(0, NAMED).map(({ name }) => shownName(name));
      const more = changes.length > NAMED ? [`${changes.length - NAMED} more`] : [];
      const shortName = messageNameOf(type).split(".").at(-1) ?? "";
      const message = `${shortName} ${[...names, ...more].join(", ")} of layer ${layer} would lose all endpoints; held back for up to ${this.#limit}`;
      return [{ fuse: "endpoints-emptied", layer, type, message }];
    });
  }

  /** The record by which a publication tells what it has emptied; undefined: that is known. `flowing` comes before it. */
  recordOf(
    publication: Publication,
    emptied: readonly EntryChange[],
    flowing: readonly EntryChange[],
    state: LedgerState,
  ): NewRecord | undefined {
    const { origin, layers } = publication;
    const own = state.emptied.filter(({ writer }) => writer === origin.writer).map(({ change }) => change);
    if (own.length + emptied.length === 0) return undefined;
    const gone = new Set(flowing.map(placeKey));
    const known = own.filter((change) => !gone.has(placeKey(change)));
    const spoken = layers === undefined ? placesIn(publication) : undefined;
    // What a publication of whole layers does not say is not so any more.
    const kept = spoken === undefined ? [] : known.filter((change) => !spoken.has(placeKey(change)));
    const changes = [...kept, ...emptied];
    if (keysOf(changes) === keysOf(known)) return undefined;
    return { kind: "emptied", origin, changes, ...authorOf(publication) };
  }

  get #limit(): string {
    const ms = this.#limitMs === "off" ? 0 : this.#limitMs;
    return ms < SPOKEN_FOR ? `${ms / 1_000} s` : `${Math.round(ms / SPOKEN_FOR)} min`;
  }

  #isOver(entry: EmptiedEntry, now: number): boolean {
    // A clock that was set back far ends it, too.
    return this.#limitMs === "off" || Math.abs(now - entry.since) >= this.#limitMs;
  }
}

function placesIn({ changes = [] }: Publication): ReadonlySet<string> {
  const places: EntryPlace[] = changes.flatMap(({ layer, puts = [], deletes = [] }) => [
    ...puts.map(({ type, name }) => ({ layer, type, name })),
    ...deletes.map((deletion) => ({ layer, type: deletion.type, name: deletedKey(deletion) })),
  ]);
  return new Set(places.map(placeKey));
}

function keysOf(changes: readonly EntryChange[]): string {
  return JSON.stringify(changes.map((change) => [placeKey(change), change.after?.version, change.after?.body]).sort());
}
