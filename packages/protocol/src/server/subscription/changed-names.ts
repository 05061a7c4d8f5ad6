import type { TypeUrl } from "../../resource/type-url.ts";
import type { Table } from "../../state/table.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import type { Names } from "./names.ts";
import type { Subscription } from "./subscription.ts";

/** How many names are looked up per transaction to find the affected subscriptions; beyond it all count as affected. */
const LOOKUPS = 1_000_000;

/** The changed names and aliases of one table, and which sets of names were found to contain one of them. */
export interface ChangedTable {
  readonly names: ReadonlySet<string>;
  readonly found: Map<Names, boolean>;
}

/** The names and aliases that the newest transaction changed, to find the subscriptions that it affects. */
export class ChangedNames {
  readonly #revision: number;
  readonly #tables = new Map<Table, ChangedTable>();
  #lookups = LOOKUPS;

  constructor(revision: number) {
    this.#revision = revision;
  }

  /** The changes of a type in a view, by layer; empty: the type did not change. */
  in(view: View, type: TypeUrl): readonly ChangedTable[] {
    const changed: ChangedTable[] = [];
    for (const layer of view.layers) {
      const table = layer.table(type);
      if (table?.changedAt === this.#revision)
        changed.push(memo(this.#tables, table, () => ({ names: table.takeChangedNames(), found: new Map() })));
    }
    return changed;
  }

  /**
   * Whether a subscription may cover anything that changed. May return true in vain: the flush then finds nothing to
   * send.
   */
  concern(changed: readonly ChangedTable[], subscription: Subscription): boolean {
    if (changed.length === 0 || subscription.asksBroadly) return changed.length > 0;
    const { names } = subscription;
    return changed.some((touched) => memo(touched.found, names, () => this.isAnyAmong(touched.names, names)));
  }

  /** Whether two sets have a name in common; also true once the budget of lookups is spent. */
  isAnyAmong(touched: ReadonlySet<string>, names: Names): boolean {
    const [few, many] = touched.size < names.size ? [touched, names] : [names, touched];
    this.#lookups -= few.size;
    if (this.#lookups < 0) return true;
    for (const name of few) if (many.has(name)) return true;
    return false;
  }
}
