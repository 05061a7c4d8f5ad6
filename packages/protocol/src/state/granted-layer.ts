import type { AccessGrant, NameFilter } from "../access/access-policy.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { plainName } from "../resource/variant-name.ts";
import { deletedKey, Layer, type TableRules, type VisibleLayer } from "./layer.ts";
import type { Table } from "./table.ts";
import type { TimedNames } from "./timed-names.ts";
import type { LayerChange } from "./transaction.ts";

/**
 * A layer as a grant shows it: what is not visible is as if it did not exist. A type that is visible as a whole shares
 * the table of the layer; one of which some names are visible has a table of its own, kept up to date.
 */
export class GrantedLayer implements VisibleLayer {
  readonly whole: Layer;
  readonly grantKey: string;
  /** The types of which only some names are visible. */
  readonly partial: Layer;
  readonly #grant: AccessGrant;
  readonly #filters = new Map<TypeUrl, NameFilter>();

  /** `revision`: the present one. */
  constructor(whole: Layer, grant: AccessGrant, rules: TableRules, revision: number) {
    this.whole = whole;
    this.grantKey = grant.key;
    this.#grant = grant;
    this.partial = new Layer(whole.name, rules, whole.timedNames);
    for (const [type, table] of whole.tables) {
      const filter = this.#filter(type);
      if (typeof filter !== "string") this.#copy(type, table, filter, revision);
    }
  }

  get name(): string {
    return this.whole.name;
  }

  get timedNames(): TimedNames {
    return this.whole.timedNames;
  }

  get tables(): ReadonlyMap<TypeUrl, Table> {
    const shared = [...this.whole.tables].filter(([type]) => this.#filter(type) === "all");
    return new Map([...shared, ...this.partial.tables]);
  }

  table(type: TypeUrl): Table | undefined {
    const filter = this.#filter(type);
    if (filter === "none") return undefined;
    return filter === "all" ? this.whole.table(type) : this.partial.table(type);
  }

  /** The part of a change that concerns `partial`. */
  changeOfPartial({ layer, puts = [], deletes = [], typeVersions, canaries }: LayerChange): LayerChange {
    const isPartial = ([type]: readonly [TypeUrl, unknown]): boolean => typeof this.#filter(type) !== "string";
    return {
      layer,
      puts: puts.filter(({ type, name }) => this.#isOfPartial(type, name)),
      deletes: deletes.filter((deletion) => this.#isOfPartial(deletion.type, deletedKey(deletion))),
      typeVersions: new Map([...(typeVersions ?? [])].filter(isPartial)),
      canaries: new Map([...(canaries ?? [])].filter(isPartial)),
    };
  }

  #isOfPartial(type: TypeUrl, name: string): boolean {
    const filter = this.#filter(type);
    return typeof filter !== "string" && filter(plainName(name));
  }

  #filter(type: TypeUrl): NameFilter {
    let filter = this.#filters.get(type);
    if (filter === undefined) {
      filter = this.#grant.visible(this.name, type);
      this.#filters.set(type, filter);
    }
    return filter;
  }

  #copy(type: TypeUrl, from: Table, isVisible: (name: string) => boolean, revision: number): void {
    const table = this.partial.tableFor(type);
    for (const resource of from.resources.values()) {
      if (resource.isStandIn !== true && isVisible(plainName(resource.name))) table.put(resource, revision);
    }
    table.settle(revision);
    table.printVersion(from.printedVersion);
    table.markCanary(from.isCanary);
  }
}
