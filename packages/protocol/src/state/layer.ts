import { canonicalConstraints } from "../resource/constraints.ts";
import { canonicalName } from "../resource/resource-name.ts";
import type { TermRules } from "../resource/term-rules.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { variantKey } from "../resource/variant-name.ts";
import { Table } from "./table.ts";
import { TimedNames } from "./timed-names.ts";
import type { Deletion } from "./transaction.ts";

/** Table options that depend on the type. */
export interface TableRules {
  /** Whether the journal keeps whole resources. */
  readonly keepsBodies: (type: TypeUrl) => boolean;
  readonly terms?: (type: TypeUrl) => TermRules | undefined;
  /** Reads the addresses of a resource. */
  readonly addressesIn?: (type: TypeUrl) => TypeTraits["addressesIn"];
}

/** A layer, as a view shows it. */
export interface VisibleLayer {
  readonly name: string;
  readonly timedNames: TimedNames;
  /** The layer itself. */
  readonly whole: Layer;
  readonly tables: ReadonlyMap<TypeUrl, Table>;
  table(type: TypeUrl): Table | undefined;
}

/** A named set of resources of all types. */
export class Layer implements VisibleLayer {
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

  get whole(): Layer {
    return this;
  }

  get tables(): ReadonlyMap<TypeUrl, Table> {
    return this.#tables;
  }

  /** Returns the table of a type; undefined if the layer has never held one. */
  table(type: TypeUrl): Table | undefined {
    return this.#tables.get(type);
  }

  /** Returns the table of a type and creates it if needed. */
  tableFor(type: TypeUrl): Table {
    const known = this.#tables.get(type);
    if (known !== undefined) return known;
    const table = this.newTable(type);
    this.#tables.set(type, table);
    return table;
  }

  /** Returns an empty table of a type that is not in the layer. */
  newTable(type: TypeUrl): Table {
    return new Table(this.#rules.keepsBodies(type), {
      terms: this.#rules.terms?.(type),
      addressesIn: this.#rules.addressesIn?.(type),
      noteTimed: (name) => this.timedNames.add(type, name),
    });
  }

  /** Puts a successor in the place of its table. */
  replace(type: TypeUrl, next: Table): void {
    this.#tables.set(type, next);
    next.succeed();
  }

  /** Whether it holds no resource, type version or canary mark. */
  get isEmpty(): boolean {
    for (const { resources, printedVersion, isCanary } of this.#tables.values()) {
      if (resources.size > 0 || printedVersion !== undefined || isCanary) return false;
    }
    return true;
  }
}

/** Returns the key under which a table holds a deleted resource: its name or variant key. */
export function deletedKey({ name, constraints }: Deletion): string {
  const plain = canonicalName(name);
  return constraints === undefined
    ? plain
    : variantKey({ name: plain, constraints: canonicalConstraints(constraints) });
}
