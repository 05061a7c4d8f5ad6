import type { Resource } from "@xdskit/protocol";
import { ITEMS_A_STEP, type Steps } from "@xdskit/protocol/internal";

/** How the list of a layer differs from the previous one, by identity. */
export interface LayerEdit {
  readonly added: readonly Resource[];
  readonly removed: Iterable<Resource>;
}

interface KnownEdit extends LayerEdit {
  /** Weak, because otherwise each list would keep all its predecessors. */
  readonly before: WeakRef<readonly Resource[]>;
}

const edits = new WeakMap<readonly Resource[], KnownEdit>();

/** Remembers the edit between two lists, because comparing them is slow: each may have 100,000 resources. */
export function noteEdit(before: readonly Resource[], after: readonly Resource[], edit: LayerEdit): void {
  edits.set(after, { ...edit, before: new WeakRef(before) });
}

/** The edit between two lists: remembered, or computed by comparing them. */
export function* editBetween(before: readonly Resource[], after: readonly Resource[]): Steps<LayerEdit> {
  let taken = 0;
  const known = edits.get(after);
  if (known?.before.deref() === before) return known;
  const removed = new Set<Resource>();
  for (const resource of before) {
    removed.add(resource);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  const added: Resource[] = [];
  for (const resource of after) {
    if (!removed.delete(resource)) added.push(resource);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return { added, removed };
}
