import type { TypeUrl } from "@xdskit/protocol";
import {
  type EntryChange,
  type JudgedNode,
  type LedgerEffect,
  type LedgerState,
  placeKey,
} from "@xdskit/protocol/internal";

/** A connected node for which a change changes something. */
export interface AffectedNode {
  readonly id: string;
  /**
   * `resources`: others, from the layers that it has; `layers`: other layers; `refused`: it would be turned away;
   * `cut-off`: access rules would take something away, which ends its connection.
   */
  readonly becomes: "resources" | "layers" | "refused" | "cut-off";
}

/** A connected node before a change and after it. */
export interface SubscribedNode extends JudgedNode {
  /** The types to which it subscribes; `any`: they are not told apart. */
  readonly types: ReadonlySet<TypeUrl> | "any";
}

export interface AffectedNodesOptions {
  readonly nodesBy: (change: LedgerEffect, state: LedgerState) => Iterable<SubscribedNode>;
}

/**
 * The connected nodes that see a change of a type to which they subscribe. What a higher layer hides before and after it
 * is not seen.
 */
export function affectedNodes(
  change: LedgerEffect,
  state: LedgerState,
  { nodesBy }: AffectedNodesOptions,
): { readonly connected: number; readonly affected: readonly AffectedNode[] } {
  const visible = new VisibleChanges(change.changes, state);
  const affected: AffectedNode[] = [];
  let connected = 0;
  for (const node of nodesBy(change, state)) {
    connected++;
    const becomes = becomesOf(node, visible);
    if (becomes !== undefined) affected.push({ id: node.id, becomes });
  }
  return { connected, affected };
}

function becomesOf(
  { before, after, isCutOff, types }: SubscribedNode,
  visible: VisibleChanges,
): AffectedNode["becomes"] | undefined {
  if (after === undefined) return "refused";
  if (isCutOff) return "cut-off";
  if (before.join("\u0000") !== after.join("\u0000")) return "layers";
  return visible.areIn(after, types) ? "resources" : undefined;
}

/** Which views a change is seen in. */
class VisibleChanges {
  readonly #state: LedgerState;
  readonly #byLayer = new Map<string, EntryChange[]>();
  readonly #byPlace = new Map<string, EntryChange>();
  readonly #known = new Map<string, ReadonlySet<TypeUrl>>();

  constructor(changes: readonly EntryChange[], state: LedgerState) {
    this.#state = state;
    for (const change of changes) {
      const of = this.#byLayer.get(change.layer) ?? [];
      this.#byLayer.set(change.layer, of);
      of.push(change);
      this.#byPlace.set(placeKey(change), change);
    }
  }

  /** Whether a view of these layers, top-most first, has anything else of these types after the change. */
  areIn(layers: readonly string[], types: SubscribedNode["types"]): boolean {
    const key = layers.join("\u0000");
    const changed = this.#known.get(key) ?? this.#find(layers);
    this.#known.set(key, changed);
    if (types === "any") return changed.size > 0;
    for (const type of types) if (changed.has(type)) return true;
    return false;
  }

  /** The types of which such a view has anything else. */
  #find(layers: readonly string[]): ReadonlySet<TypeUrl> {
    const types = new Set<TypeUrl>();
    for (const [index, layer] of layers.entries()) {
      const higher = layers.slice(0, index);
      for (const change of this.#byLayer.get(layer) ?? [])
        if (!types.has(change.type) && !higher.some((one) => this.#hides(one, change))) types.add(change.type);
    }
    return types;
  }

  /** Whether a layer holds the name before and after; a change of that layer counts by itself. */
  #hides(layer: string, { type, name }: EntryChange): boolean {
    const place = { layer, type, name };
    const change = this.#byPlace.get(placeKey(place));
    return change === undefined ? this.#state.entry(place) !== undefined : change.after !== undefined;
  }
}
