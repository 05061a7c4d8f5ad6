import { placeKey } from "./place.ts";
import type { EntryChange, EntryPlace } from "./record.ts";

/** The deletions that an operator agreed to at once. */
export interface Approval {
  readonly time: number;
  readonly deletions: readonly EntryPlace[];
}

/** For how long an approval covers a deletion, in whatever revision it comes. */
const APPROVAL_MS = 15 * 60_000;

/** The approvals that still count. */
export class Approvals {
  #approvals: { readonly approval: Approval; readonly keys: ReadonlySet<string> }[] = [];

  constructor(approvals: readonly Approval[] = []) {
    for (const approval of approvals) this.#add(approval);
  }

  /** Takes in an approval, and lets go of the old ones. */
  approve(changes: readonly EntryChange[], time: number): void {
    this.agree(
      changes.filter(({ after }) => after === undefined),
      time,
    );
  }

  /** Takes in that these places may be deleted, or lose their endpoints. */
  agree(places: readonly EntryPlace[], time: number): void {
    this.#approvals = this.#approvals.filter(({ approval }) => counts(approval, time));
    const deletions = places.map(({ layer, type, name }) => ({ layer, type, name }));
    if (deletions.length > 0) this.#add({ time, deletions });
  }

  /** Whether an operator agreed that a place may be deleted, or lose its endpoints. */
  covers(place: EntryPlace, time: number): boolean {
    if (this.#approvals.length === 0) return false;
    const key = placeKey(place);
    return this.#approvals.some(({ approval, keys }) => counts(approval, time) && keys.has(key));
  }

  get list(): readonly Approval[] {
    return this.#approvals.map(({ approval }) => approval);
  }

  #add(approval: Approval): void {
    this.#approvals.push({ approval, keys: new Set(approval.deletions.map(placeKey)) });
  }
}

/** A clock that was set back further than that ends an approval too. */
function counts(approval: Approval, time: number): boolean {
  return Math.abs(time - approval.time) < APPROVAL_MS;
}
