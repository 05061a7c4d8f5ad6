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

export interface AffectedNodesOptions {
  readonly nodesBy: (change: LedgerEffect, state: LedgerState) => Iterable<JudgedNode>;
}

/** The connected nodes that see a change. What a higher layer hides before and after it is not seen. */
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
  { before, after, isCutOff }: JudgedNode,
  visible: VisibleChanges,
): AffectedNode["becomes"] | undefined {
  if (after === undefined) return "refused";
  if (isCutOff) return "cut-off";
  if (before.join("\u0000") !== after.join("\u0000")) return "layers";
  return visible.areIn(after) ? "resources" : undefined;
}

/** Which views a change is seen in. */
class VisibleChanges {
  readonly #state: LedgerState;
  readonly #byLayer = new Map<string, EntryChange[]>();
  readonly #byPlace = new Map<string, EntryChange>();
  readonly #known = new Map<string, boolean>();

  constructor(changes: readonly EntryChange[], state: LedgerState) {
    this.#state = state;
    for (const change of changes) {
      const of = this.#byLayer.get(change.layer) ?? [];
      this.#byLayer.set(change.layer, of);
      of.push(change);
      this.#byPlace.set(placeKey(change), change);
    }
  }

  /** Whether a view of these layers, top-most first, has anything else after the change. */
  areIn(layers: readonly string[]): boolean {
    const key = layers.join("\u0000");
    const known = this.#known.get(key) ?? this.#find(layers);
    this.#known.set(key, known);
    return known;
  }

  #find(layers: readonly string[]): boolean {
    return layers.some((layer, index) => {
      const higher = layers.slice(0, index);
      return this.#byLayer.get(layer)?.some((change) => !higher.some((one) => this.#hides(one, change))) ?? false;
    });
  }

  /** Whether a layer holds the name before and after; a change of that layer counts by itself. */
  #hides(layer: string, { type, name }: EntryChange): boolean {
    const place = { layer, type, name };
    const change = this.#byPlace.get(placeKey(place));
    return change === undefined ? this.#state.entry(place) !== undefined : change.after !== undefined;
  }
}
