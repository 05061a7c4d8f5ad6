import type { Resource } from "@xdskit/protocol";
import { type EntryChange, type EntryPlace, type LedgerState, placeKey } from "@xdskit/protocol/internal";
import type { MissingContent } from "../hub/missing-resources.ts";
import type { ResourceChanges } from "./entries.ts";
import { COMMON_LAYER } from "./future-references.ts";

/** What a rollback puts in force: what it takes back, and the live data that comes back with it. */
export interface CompletedRollback {
  readonly made: ResourceChanges;
  /** Live data whose content is not kept, because it holds a secret. */
  readonly irretrievable: readonly MissingContent[];
}

/**
 * Adds to a rollback to the number `to` the live data that its resources refer to and that was deleted since: a Cluster
 * without its endpoints would be no way back. What has a successor, in its layer or in `base`, stays as it is.
 */
export async function withReturningDeletions(
  made: ResourceChanges,
  to: number,
  state: LedgerState,
  contentOf: (changes: readonly EntryChange[]) => Promise<ReadonlyMap<EntryChange, Resource>>,
): Promise<CompletedRollback> {
  const gone = state.deletedLive.filter((one) => {
    return one.number > to && !isThere(one, state) && !isThere({ ...one, layer: COMMON_LAYER }, state);
  });
  const changes = [...made.changes];
  const resources = new Map(made.resources);
  const irretrievable: MissingContent[] = [];
  const done = new Set<string>();
  let referring: Iterable<Resource> = made.resources.values();
  // Live data may refer to live data: endpoints to localities, and their hosts to Secrets.
  for (;;) {
    const names = new Set([...referring].flatMap((one) => one.references.map(({ type, name }) => `${type} ${name}`)));
    const due = gone.filter((one) => names.has(`${one.type} ${one.name}`) && !done.has(placeKey(one)));
    if (due.length === 0) return { made: { changes, resources }, irretrievable };
    for (const one of due) done.add(placeKey(one));
    const returning = due.map(
      ({ layer, type, name, entry }): EntryChange => ({ layer, type, name, before: undefined, after: entry }),
    );
    const content = await contentOf(returning);
    for (const change of returning) {
      const resource = content.get(change);
      const { layer, type, name } = change;
      if (resource === undefined) irretrievable.push({ layer, type, name });
      else {
        changes.push(change);
        resources.set(change, resource);
      }
    }
    referring = content.values();
  }
}

function isThere(place: EntryPlace, state: LedgerState): boolean {
  return state.entry(place) !== undefined;
}
