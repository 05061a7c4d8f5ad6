import type { Resource } from "@xdskit/protocol";

/** How the list of a layer differs from the one before it, by identity. */
export interface LayerEdit {
  readonly added: readonly Resource[];
  readonly removed: readonly Resource[];
}

interface KnownEdit extends LayerEdit {
  /** Weak, or each list would keep all that came before it. */
  readonly before: WeakRef<readonly Resource[]>;
}

const edits = new WeakMap<readonly Resource[], KnownEdit>();

/** Remembers what led from one list to the next, for whoever compares them: there may be 100,000 resources in each. */
export function noteEdit(before: readonly Resource[], after: readonly Resource[], edit: LayerEdit): void {
  edits.set(after, { ...edit, before: new WeakRef(before) });
}

/** What leads from one list to another: remembered, or found by looking at all that they hold. */
export function editBetween(before: readonly Resource[], after: readonly Resource[]): LayerEdit {
  const known = edits.get(after);
  if (known?.before.deref() === before) return known;
  const removed = new Set(before);
  const added = after.filter((resource) => !removed.delete(resource));
  return { added, removed: [...removed] };
}
