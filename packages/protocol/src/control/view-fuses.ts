import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import type { KindOf } from "./changes.ts";
import type { FuseContext } from "./fuse-context.ts";
import type { FuseSettings } from "./fuse-settings.ts";
import type { LedgerState } from "./ledger-state.ts";
import type { EntryChange, FuseTrip } from "./record.ts";

/** A view that lost its listeners, and who has it. */
interface EmptiedView {
  readonly layers: readonly string[];
  nodes: number;
}

/** The fuses that look at what becomes of views and connected nodes. */
export function* judgeNodes(
  changes: readonly EntryChange[],
  state: LedgerState,
  context: FuseContext,
  settings: FuseSettings,
): Steps<readonly FuseTrip[]> {
  const listeners = yield* Listeners.counted(changes, state, context);
  const emptied = new Map<string, EmptiedView>();
  const loses = (before: readonly string[], after: readonly string[]): EmptiedView | undefined => {
    if (!listeners.are(before, "before") || listeners.are(after, "after")) return undefined;
    const key = after.join("\u0000");
    const view = emptied.get(key) ?? { layers: after, nodes: 0 };
    emptied.set(key, view);
    return view;
  };
  let connected = 0;
  let moved = 0;
  let cutOff = 0;
  for (const { before, after, isCutOff } of context.nodes) {
    yield;
    connected++;
    if (isCutOff || after === undefined) cutOff++;
    if (after === undefined) continue;
    if (!isSameList(before, after)) moved++;
    const view = settings.lastListener ? loses(before, after) : undefined;
    if (view !== undefined) view.nodes++;
  }
  if (settings.lastListener) for (const layers of context.views ?? []) loses(layers, layers);
  return [
    ...[...emptied.values()].map(noListeners),
    ...ofNodes("nodes-moved", moved, connected, settings.nodesMoved, settings.nodesMovedFloor),
    ...ofNodes("nodes-cut-off", cutOff, connected, settings.nodesCutOff, 0),
  ];
}

const fates = { "nodes-moved": "get other layers", "nodes-cut-off": "be cut off" } as const;

function ofNodes(
  fuse: keyof typeof fates,
  count: number,
  connected: number,
  share: number | "off",
  floor: number,
): readonly FuseTrip[] {
  if (share === "off" || count <= floor || count <= share * connected) return [];
  return [{ fuse, message: `${count} of ${connected} connected nodes would ${fates[fuse]}` }];
}

function noListeners({ layers, nodes }: EmptiedView): FuseTrip {
  const view = layers.length === 0 ? "without a layer" : `layers ${layers.join(", ")}`;
  const who = nodes === 1 ? "1 connected node" : `${nodes} connected nodes`;
  return { fuse: "no-listeners", message: `${who} would have no listener (${view})` };
}

/** Which layers have listeners, before a change and after it. */
class Listeners {
  readonly #state: LedgerState;
  readonly #kindOf: KindOf;
  /** How many listeners are in force, by layer. */
  readonly #counts = new Map<string, number>();
  /** By how many the change moves the number of listeners; what an approval covers stays counted. */
  readonly #moves = new Map<string, number>();

  static *counted(
    changes: readonly EntryChange[],
    state: LedgerState,
    { kindOf, time }: FuseContext,
  ): Steps<Listeners> {
    let taken = 0;
    const listeners = new Listeners(state, kindOf);
    for (const change of changes) {
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
      const { layer, type, after } = change;
      if (kindOf(type) !== "lds" || (after === undefined && state.covers(change, time))) continue;
      const move = (after === undefined ? 0 : 1) - (state.entry(change) === undefined ? 0 : 1);
      listeners.#moves.set(layer, (listeners.#moves.get(layer) ?? 0) + move);
    }
    return listeners;
  }

  private constructor(state: LedgerState, kindOf: KindOf) {
    this.#state = state;
    this.#kindOf = kindOf;
  }

  are(layers: readonly string[], when: "before" | "after"): boolean {
    return layers.some((layer) => this.#countIn(layer) + (when === "after" ? (this.#moves.get(layer) ?? 0) : 0) > 0);
  }

  #countIn(layer: string): number {
    let count = this.#counts.get(layer);
    if (count !== undefined) return count;
    count = 0;
    for (const type of this.#state.typesIn(layer)) {
      if (this.#kindOf(type) === "lds") count += this.#state.amount(layer, type).count;
    }
    this.#counts.set(layer, count);
    return count;
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
