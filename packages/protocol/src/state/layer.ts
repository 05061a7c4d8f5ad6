import type { TermRules } from "../resource/term-rules.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { Table } from "./table.ts";

/** What tables differ in by their type. */
export interface TableRules {
  /** The journal keeps whole resources. */
  readonly keepsBodies: (type: TypeUrl) => boolean;
  readonly terms?: (type: TypeUrl) => TermRules | undefined;
}

/** A named set of resources of all types. */
export class Layer {
  readonly name: string;
  readonly #tables = new Map<TypeUrl, Table>();
  readonly #rules: TableRules;

  constructor(name: string, rules: TableRules) {
    this.name = name;
    this.#rules = rules;
  }

  get tables(): ReadonlyMap<TypeUrl, Table> {
    return this.#tables;
  }

  /** The table of a type, if the layer ever held one of it. */
  table(type: TypeUrl): Table | undefined {
    return this.#tables.get(type);
  }

  /** The table of a type, made if need be. */
  tableFor(type: TypeUrl): Table {
    let table = this.#tables.get(type);
    if (table === undefined) {
      table = new Table(this.#rules.keepsBodies(type), this.#rules.terms?.(type));
      this.#tables.set(type, table);
    }
    return table;
  }

  get isEmpty(): boolean {
    for (const table of this.#tables.values()) if (table.resources.size > 0) return false;
    return true;
  }
}
