import type { TypeUrl } from "../../resource/type-url.ts";
import type { Table } from "../../state/table.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import type { Names } from "./names.ts";
import type { Subscription } from "./subscription.ts";

/** How many names are looked up to find out whom one transaction concerns; past that it concerns everybody. */
const LOOKUPS = 1_000_000;

/** What one table has that somebody may ask for by name, of what changed; and what was found of sets of names. */
interface Touched {
  readonly names: ReadonlySet<string>;
  readonly found: Map<Names, boolean>;
}

/** The names and aliases that the newest transaction changed: whom it concerns. */
export class TouchedNames {
  readonly #revision: number;
  readonly #tables = new Map<Table, Touched>();
  #lookups = LOOKUPS;

  constructor(revision: number) {
    this.#revision = revision;
  }

  /** What changed of a type in a view, by layer; nothing: it did not change. */
  namesIn(view: View, type: TypeUrl): readonly ReadonlySet<string>[] {
    return this.#changedTables(view, type).map((table) => this.#touchedIn(table).names);
  }

  /** Whether a subscription may ask for anything that changed. True more often than need be: then a turn finds nothing. */
  concern(view: View, type: TypeUrl, subscription: Subscription): boolean {
    return this.#changedTables(view, type).some((table) => this.#concernsTable(table, subscription));
  }

  /** Whether two sets have a name in common; true as well when more was looked up than is good. */
  isAnyAmong(touched: ReadonlySet<string>, names: Names): boolean {
    const [few, many] = touched.size < names.size ? [touched, names] : [names, touched];
    this.#lookups -= few.size;
    if (this.#lookups < 0) return true;
    for (const name of few) if (many.has(name)) return true;
    return false;
  }

  #changedTables(view: View, type: TypeUrl): readonly Table[] {
    return view.layers.flatMap((layer) => {
      const table = layer.table(type);
      return table?.changedAt === this.#revision ? [table] : [];
    });
  }

  #concernsTable(table: Table, subscription: Subscription): boolean {
    if (subscription.asksBroadly) return true;
    const touched = this.#touchedIn(table);
    return memo(touched.found, subscription.names, () => this.isAnyAmong(touched.names, subscription.names));
  }

  #touchedIn(table: Table): Touched {
    return memo(this.#tables, table, () => {
      const names = new Set<string>();
      for (const [name, then] of table.changeAfter(this.#revision - 1)?.past ?? []) {
        names.add(name);
        for (const alias of then?.aliases ?? []) names.add(alias);
        for (const alias of table.resources.get(name)?.aliases ?? []) names.add(alias);
      }
      return { names, found: new Map() };
    });
  }
}
