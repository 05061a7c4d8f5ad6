import { withoutError } from "../../resource/resource-error.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { addSums, formatVersion, subtractSums } from "../../resource/version.ts";
import type { Past } from "../../state/journal.ts";
import type { Table } from "../../state/table.ts";
import type { View } from "../../state/view.ts";
import { noPendingRemovals, type PendingRemoval, PendingRemovals } from "./pending-removals.ts";
import type { Served } from "./served.ts";

/** How many changes of a type are gone back over. */
const CHANGES = 64;
/** How many in a row a client may be behind with what it removes. */
const UNIONS = 16;
/** How many changed names are looked at for one view. */
const NAMES = 16_384;

/** A name that a change touched, and what a view showed under it. */
interface Touched {
  readonly name: string;
  readonly before: Past | undefined;
  readonly after: Past | undefined;
}

/** The state of a type in a view after a change, and what that change touched. */
interface PastState {
  readonly revision: number;
  readonly sum: bigint;
  readonly touched: readonly Touched[];
}

/**
 * The versions under which clients of a view may hold Clusters that this server had lately, and sent to none of them:
 * clients of another server that is told of the same changes. A version is a sum, so that of a former state follows from
 * the present one and what changed since. Beside each state are those that still list what was removed lately.
 */
export class PastVersions {
  readonly #byView = new WeakMap<View, Map<TypeUrl, { changedAt: number; versions: ReadonlyMap<string, Served> }>>();

  /** What clients of the view hold under a version; undefined if it is that of no state that is still known. */
  find(type: TypeUrl, version: string, view: View): Served | undefined {
    const byType = this.#byView.get(view) ?? new Map();
    this.#byView.set(view, byType);
    const changedAt = view.changedAt(type);
    let known = byType.get(type);
    if (known?.changedAt !== changedAt) {
      known = { changedAt, versions: versionsOf(type, view) };
      byType.set(type, known);
    }
    return known.versions.get(version);
  }
}

function versionsOf(type: TypeUrl, view: View): ReadonlyMap<string, Served> {
  const versions = new Map<string, Served>();
  const tables = view.layers.flatMap((layer) => layer.table(type) ?? []);
  // A version of the caller's says nothing of the content, and which variant a client holds depends on its parameters.
  if (tables.some((one) => one.printedVersion !== undefined || one.variants !== undefined)) return versions;
  const note = (sum: bigint, revision: number, pendingRemovals: PendingRemovals): void => {
    const version = formatVersion(sum);
    if (!versions.has(version)) versions.set(version, { type, version, position: { view, revision }, pendingRemovals });
  };
  const states = [...statesBefore(tables, view.typeSum(type), view.changedAt(type))];
  for (const { revision, sum } of states.slice(1)) note(sum, revision, noPendingRemovals);
  for (const [index, { revision, sum }] of states.entries()) {
    for (const removed of removedBy(states.slice(index, index + UNIONS), revision))
      note(addSums(sum, removed.sum), revision, removed);
  }
  return versions;
}

/** The state after the last change, and then those before it, as far as they are known. */
function* statesBefore(tables: readonly Table[], present: bigint, changedAt: number): Iterable<PastState> {
  const trimmedTo = Math.max(0, ...tables.map(({ journal }) => journal.trimmedTo));
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
  let sum = present;
  let looked = 0;
  let revision = changedAt;
  for (let count = 0; count < CHANGES && revision > trimmedTo && looked < NAMES; count++) {
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
    const touched = [...changed].map(([name, after]): Touched => ({ name, before: shown(name), after }));
    yield { revision, sum, touched };
    for (const { before, after } of touched) {
      if (after !== undefined) sum = subtractSums(sum, after.sum);
      if (before !== undefined) sum = addSums(sum, before.sum);
    }
    revision = Math.max(0, ...heads.map((head) => (head.done === true ? 0 : head.value.revision)));
  }
  yield { revision: Math.max(revision, trimmedTo), sum, touched: [] };
}

/** What the newest of these states no longer has, of the last change alone, of the last two, and so on. */
function* removedBy(states: readonly PastState[], since: number): Iterable<PendingRemovals> {
  const names = new Map<string, PendingRemoval>();
  const seen = new Set<string>();
  for (const { touched } of states) {
    const before = names.size;
    for (const { name, before: was, after } of touched) {
      // What the newest state has of a name is told by the last change of it.
      if (seen.has(name)) continue;
      seen.add(name);
      if (withoutError(after) === undefined && withoutError(was) !== undefined && was?.onDemand === false)
        names.set(name, { was, since });
    }
    if (names.size > before) yield new PendingRemovals(new Map(names));
  }
}
