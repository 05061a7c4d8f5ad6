import type { Resource } from "@xdskit/protocol";

/** How the list of a layer differs from the previous one, by identity. */
export interface LayerEdit {
  readonly added: readonly Resource[];
  readonly removed: readonly Resource[];
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
export function editBetween(before: readonly Resource[], after: readonly Resource[]): LayerEdit {
  const known = edits.get(after);
  if (known?.before.deref() === before) return known;
  const removed = new Set(before);
  const added = after.filter((resource) => !removed.delete(resource));
  return { added, removed: [...removed] };
}
