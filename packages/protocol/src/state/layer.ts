import { canonicalConstraints } from "../resource/constraints.ts";
import { canonicalName } from "../resource/resource-name.ts";
import type { TermRules } from "../resource/term-rules.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { variantKey } from "../resource/variant-name.ts";
import { Table } from "./table.ts";
import { TimedNames } from "./timed-names.ts";
import type { Deletion } from "./transaction.ts";

/** What tables differ in by their type. */
export interface TableRules {
  /** The journal keeps whole resources. */
  readonly keepsBodies: (type: TypeUrl) => boolean;
  readonly terms?: (type: TypeUrl) => TermRules | undefined;
}

/** A named set of resources of all types. */
export class Layer {
  readonly name: string;
  /** Shared by all layers. */
  readonly timedNames: TimedNames;
  readonly #tables = new Map<TypeUrl, Table>();
  readonly #rules: TableRules;

  constructor(name: string, rules: TableRules, timedNames: TimedNames = new TimedNames()) {
    this.name = name;
    this.#rules = rules;
    this.timedNames = timedNames;
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
      table = new Table(this.#rules.keepsBodies(type), {
        terms: this.#rules.terms?.(type),
        noteTimed: (name) => this.timedNames.add(type, name),
      });
      this.#tables.set(type, table);
    }
    return table;
  }

  /** Holds no resource, and nothing was said of any type. */
  get isEmpty(): boolean {
    for (const { resources, printedVersion, isCanary } of this.#tables.values()) {
      if (resources.size > 0 || printedVersion !== undefined || isCanary) return false;
    }
    return true;
  }
}

/** Under what a table holds what is deleted. */
export function deletedKey({ name, constraints }: Deletion): string {
  const plain = canonicalName(name);
  return constraints === undefined
    ? plain
    : variantKey({ name: plain, constraints: canonicalConstraints(constraints) });
}
