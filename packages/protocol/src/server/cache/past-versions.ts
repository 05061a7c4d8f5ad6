import { withoutError } from "../../resource/resource-error.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { addSums, formatMark, formatVersion, subtractSums } from "../../resource/version.ts";
import type { Past } from "../../state/journal.ts";
import type { View } from "../../state/view.ts";
import { marksIn, noPendingRemovals, type PendingRemoval, PendingRemovals } from "./pending-removals.ts";
import type { Served } from "./served.ts";

/** How many changes of a type are gone back over, and how many changed names. */
const CHANGES = 64;
const NAMES = 16_384;

/** A former state of a type in a view. */
interface PastState {
  readonly revision: number;
  readonly sum: bigint;
}

/** What is known of the past of a type in a view. */
interface KnownPast {
  readonly changedAt: number;
  /** The newest first. */
  readonly states: readonly PastState[];
  /** What these had and the next one had not, or had otherwise, by its mark. */
  readonly removed: ReadonlyMap<string, Past>;
}

/**
 * What clients of a view may hold that this server had lately, and sent to none of them: clients of another server that
 * is told of the same changes. A version is a sum, so that of a former state follows from the present one and what
 * changed since. A version of a state that still lists what was removed before it ends with marks of that.
 */
export class PastVersions {
  readonly #byView = new WeakMap<View, Map<TypeUrl, KnownPast>>();

  /** What clients of the view hold under a version; undefined if it is that of no state that is still known. */
  find(type: TypeUrl, version: string, view: View): Served | undefined {
    const { states, removed } = this.#pastOf(type, view);
    const marks = marksIn(version);
    // Names whose marks are equal by chance are not told apart: one pair in 16 million.
    const listed = marks.flatMap((mark) => removed.get(mark) ?? []);
    if (listed.length < marks.length) return undefined;
    const more = listed.reduce((sum, past) => addSums(sum, past.sum), 0n);
    const digest = marks.length === 0 ? version : version.slice(0, version.indexOf("."));
    const state = states.find(({ sum }) => formatVersion(addSums(sum, more)) === digest);
    if (state === undefined) return undefined;
    const { revision } = state;
    const names = listed.map((was): [string, PendingRemoval] => [was.name, { was, since: revision }]);
    const pendingRemovals = names.length === 0 ? noPendingRemovals : new PendingRemovals(new Map(names));
    return { type, version, position: { view, revision }, pendingRemovals };
  }

  #pastOf(type: TypeUrl, view: View): KnownPast {
    let byType = this.#byView.get(view);
    if (byType === undefined) {
      byType = new Map();
      this.#byView.set(view, byType);
    }
    let known = byType.get(type);
    if (known?.changedAt !== view.changedAt(type)) {
      known = goBack(type, view);
      byType.set(type, known);
    }
    return known;
  }
}

/** Goes back from the present state, as far as is known. */
function goBack(type: TypeUrl, view: View): KnownPast {
  const changedAt = view.changedAt(type);
  const states: PastState[] = [];
  const removed = new Map<string, Past>();
  const known: KnownPast = { changedAt, states, removed };
  const tables = view.layers.flatMap((layer) => layer.table(type) ?? []);
  // A version of the caller's says nothing of the content, and which variant a client holds depends on its parameters.
  if (tables.some((one) => one.printedVersion !== undefined || one.variants !== undefined)) return known;
  const former = tables.map((table) => ({
    table,
    lines: table.journal.backwards(),
    names: new Map<string, Past | undefined>(),
  }));
  const heads = former.map(({ lines }) => lines.next());
  const shown = (name: string): Past | undefined => {
    for (const { table, names } of former) {
      const one = names.has(name) ? names.get(name) : table.resources.get(name);
      if (one !== undefined) return one;
    }
    return undefined;
  };
  const trimmedTo = Math.max(0, ...tables.map(({ journal }) => journal.trimmedTo));
  let sum = view.typeSum(type);
  let looked = 0;
  let revision = changedAt;
  while (states.length < CHANGES && revision > trimmedTo && looked < NAMES) {
    states.push({ revision, sum });
    const changed = new Map<string, Past | undefined>();
    for (const [at, { names, lines }] of former.entries()) {
      for (let head = heads[at]; head?.done === false && head.value.revision === revision; head = heads[at]) {
        const { name, before } = head.value;
        if (!changed.has(name)) changed.set(name, shown(name));
        names.set(name, before);
        heads[at] = lines.next();
        looked++;
      }
    }
    for (const [name, after] of changed) {
      const before = shown(name);
      if (after !== undefined) sum = subtractSums(sum, after.sum);
      if (before === undefined) continue;
      sum = addSums(sum, before.sum);
      const mark = formatMark(before.sum);
      if (withoutError(before) !== undefined && !before.onDemand && !removed.has(mark)) removed.set(mark, before);
    }
    revision = Math.max(0, ...heads.map((head) => (head.done === true ? 0 : head.value.revision)));
  }
  states.push({ revision: Math.max(revision, trimmedTo), sum });
  return known;
}
