import { type AccessGrant, wholeGrant } from "../access/access-policy.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { formatVersion } from "../resource/version.ts";
import { GrantedLayer } from "./granted-layer.ts";
import { deletedKey, Layer, type TableRules } from "./layer.ts";
import { EDITED_AT_ONCE, type PreparedTransaction, prepareTransaction } from "./prepared-transaction.ts";
import type { Steps } from "./steps.ts";
import type { Table } from "./table.ts";
import { TimedNames } from "./timed-names.ts";
import type { LayerChange, Transaction } from "./transaction.ts";
import { View } from "./view.ts";

/** The state of one layer. */
export interface LayerState {
  readonly name: string;
  readonly types: ReadonlyMap<
    TypeUrl,
    {
      readonly resources: number;
      /** Resource errors. */
      readonly errors: number;
      readonly version: string;
      readonly changedAt: number;
    }
  >;
}

/** The longest that a journal may grow, per layer and type; positions further back are lost. */
export interface JournalLimits {
  readonly lines: number;
  /** Bytes of the bodies that the lines keep in memory. */
  readonly bytes: number;
}

/** The journal sizes from which trimming is considered. */
const LINES_BEFORE_TRIM = 1024;
const BYTES_BEFORE_TRIM = 4 * 1024 * 1024;

interface Watched<W> {
  readonly view: View;
  readonly watchers: Set<W>;
}

interface GrantedUse {
  readonly granted: GrantedLayer;
  /** How many watched views have it. */
  readonly views: number;
}

/** Every layer, and every view that has a watcher. `W` is the type of a watcher. */
export class LayerSet<W extends object> {
  readonly #rules: TableRules;
  readonly #limits: JournalLimits;
  readonly #layers = new Map<string, Layer>();
  readonly #views = new Map<string, Watched<W>>();
  readonly #timedNames = new TimedNames();
  readonly #viewsOf = new Map<Layer, Set<Watched<W>>>();
  /** The layers that watched views show in part, by the key of the grant. */
  readonly #grantedOf = new Map<Layer, Map<string, GrantedUse>>();
  /** That of the last change. */
  #revision = 0;
  /** The journal size at which a table is next considered for trimming. */
  readonly #trimAt = new WeakMap<Table, JournalLimits>();
  #long = new Map<Table, TypeUrl>();

  constructor(rules: TableRules, limits: JournalLimits) {
    this.#rules = rules;
    this.#limits = limits;
  }

  /** Prepares what `apply` has to do for a large transaction. */
  prepare(
    transaction: Transaction,
    revision: number,
    editedAtOnce: number = EDITED_AT_ONCE,
  ): Steps<PreparedTransaction | undefined> {
    const layerNamed = (name: string): Layer =>
      this.#layers.get(name) ?? new Layer(name, this.#rules, this.#timedNames);
    return prepareTransaction(transaction, revision, { layerNamed, editedAtOnce });
  }

  /**
   * Applies a transaction and returns the watched views that it concerns; undefined if it changed nothing. What was
   * prepared for it must hold.
   */
  apply(
    transaction: Transaction,
    revision: number,
    prepared?: PreparedTransaction,
  ): { readonly views: ReadonlySet<View> } | undefined {
    const views = new Set<View>();
    let isChanged = false;
    const replaced = this.#replace(prepared?.tables ?? []);
    for (const [index, change] of transaction.changes.entries()) {
      const layer = this.#layer(change.layer);
      const isEdited = this.#change(layer, prepared?.rest[index] ?? change, revision);
      if (isEdited || replaced.has(layer)) {
        isChanged = true;
        for (const { granted } of this.#grantedOf.get(layer)?.values() ?? [])
          this.#change(granted.partial, granted.changeOfPartial(change), revision);
        for (const { view } of this.#viewsOf.get(layer) ?? []) views.add(view);
      }
      this.#drop(layer);
    }
    if (!isChanged) return undefined;
    this.#revision = revision;
    return { views };
  }

  /** Returns the view of these layers, as far as a grant shows them; shared while it has a watcher. */
  viewOf(names: readonly string[], grant: AccessGrant = wholeGrant): View {
    const key = JSON.stringify(grant.isWhole ? names : [names, grant.key]);
    const known = this.#views.get(key)?.view;
    if (known !== undefined) return known;
    const layers = names.map((name) => this.#layers.get(name) ?? new Layer(name, this.#rules, this.#timedNames));
    if (grant.isWhole) return new View(key, layers);
    const granted = new Map(layers.map((layer) => [layer, this.#granted(layer, grant)]));
    return new View(
      key,
      layers.map((layer) => granted.get(layer) ?? layer),
      grant,
    );
  }

  #granted(layer: Layer, grant: AccessGrant): GrantedLayer {
    const known = this.#grantedOf.get(layer)?.get(grant.key);
    return known?.granted ?? new GrantedLayer(layer, grant, this.#rules, this.#revision);
  }

  watch(view: View, watcher: W): void {
    let watched = this.#views.get(view.key);
    if (watched === undefined) {
      watched = { view, watchers: new Set() };
      this.#views.set(view.key, watched);
      for (const shown of view.layers) {
        const layer = shown.whole;
        this.#layers.set(layer.name, layer);
        if (shown instanceof GrantedLayer) this.#use(shown, 1);
        const views = this.#viewsOf.get(layer) ?? new Set();
        this.#viewsOf.set(layer, views.add(watched));
      }
    }
    watched.watchers.add(watcher);
  }

  unwatch(view: View, watcher: W): void {
    const watched = this.#views.get(view.key);
    if (watched === undefined) return;
    watched.watchers.delete(watcher);
    if (watched.watchers.size > 0) return;
    this.#views.delete(view.key);
    for (const shown of view.layers) {
      const layer = shown.whole;
      this.#viewsOf.get(layer)?.delete(watched);
      if (shown instanceof GrantedLayer) this.#use(shown, -1);
      this.#drop(layer);
    }
  }

  /** Counts the watched views that have a layer in part; the last one ends its upkeep. */
  #use(granted: GrantedLayer, by: 1 | -1): void {
    const { whole: layer, grantKey } = granted;
    const ofLayer = this.#grantedOf.get(layer) ?? new Map<string, GrantedUse>();
    this.#grantedOf.set(layer, ofLayer);
    const views = (ofLayer.get(grantKey)?.views ?? 0) + by;
    if (views > 0) ofLayer.set(grantKey, { granted: ofLayer.get(grantKey)?.granted ?? granted, views });
    else ofLayer.delete(grantKey);
    if (ofLayer.size === 0) this.#grantedOf.delete(layer);
  }

  watchersOf(view: View): Iterable<W> {
    return this.#views.get(view.key)?.watchers ?? [];
  }

  /** Returns a layer by name; undefined if it holds nothing and no view has it. */
  layer(name: string): Layer | undefined {
    return this.#layers.get(name);
  }

  /** Whether a layer holds anything. */
  isPresent(name: string): boolean {
    return this.#layers.get(name)?.isEmpty === false;
  }

  /** Whether any layer has ever held a resource of the type. */
  holdsAny(type: TypeUrl): boolean {
    for (const layer of this.#layers.values()) if (layer.table(type) !== undefined) return true;
    return false;
  }

  /**
   * Trims journals that have grown long, up to the oldest position in use, and beyond it above the limits. Returns the
   * types in which positions may have been lost.
   */
  trim(oldestCursor: (type: TypeUrl, table: Table) => number): readonly TypeUrl[] {
    if (this.#long.size === 0) return [];
    const cut = new Set<TypeUrl>();
    for (const [table, type] of this.#long) {
      const { journal } = table;
      const oldest = oldestCursor(type, table);
      // A reconnecting client may be further back than any connected one.
      journal.trim(this.#rules.keepsBodies(type) ? Math.min(oldest, journal.middle) : oldest);
      while (journal.length > this.#limits.lines || journal.bytes > this.#limits.bytes) {
        journal.trim(journal.middle);
        cut.add(type);
      }
      // Considered again once it has doubled, so the cost per line stays small.
      this.#trimAt.set(table, {
        lines: Math.min(this.#limits.lines, journal.length + Math.max(LINES_BEFORE_TRIM, journal.length)),
        bytes: Math.min(this.#limits.bytes, journal.bytes + Math.max(BYTES_BEFORE_TRIM, journal.bytes)),
      });
    }
    this.#long = new Map();
    return [...cut];
  }

  *describe(): Iterable<LayerState> {
    for (const layer of this.#layers.values()) {
      const types = [...layer.tables].filter(([, table]) => table.resources.size > 0);
      yield {
        name: layer.name,
        types: new Map(
          types.map(([type, table]) => [
            type,
            {
              resources: table.resources.size - table.errors.size - table.standIns,
              errors: table.errors.size,
              version: table.printedVersion ?? formatVersion(table.sum),
              changedAt: table.changedAt,
            },
          ]),
        ),
      };
    }
  }

  /** Whether what was prepared for a revision is right still. */
  holds({ revision, tables }: PreparedTransaction, current: number): boolean {
    return (
      revision === current &&
      tables.every(({ layer, type, before, next }) => next.isCurrent && this.#layers.get(layer)?.table(type) === before)
    );
  }

  /** Puts prepared tables in their places; returns their layers. */
  #replace(tables: PreparedTransaction["tables"]): ReadonlySet<Layer> {
    const changed = new Set<Layer>();
    for (const { layer: name, type, next } of tables) {
      const layer = this.#layer(name);
      layer.replace(type, next);
      changed.add(layer);
    }
    return changed;
  }

  #change(layer: Layer, change: LayerChange, revision: number): boolean {
    let isChanged = false;
    for (const put of change.puts ?? []) if (layer.tableFor(put.type).put(put, revision)) isChanged = true;
    for (const deletion of change.deletes ?? [])
      if (layer.table(deletion.type)?.delete(deletedKey(deletion), revision) === true) isChanged = true;
    for (const [type, version] of change.typeVersions ?? []) {
      const table = version === undefined ? layer.table(type) : layer.tableFor(type);
      if (table?.printVersion(version) === true) isChanged = true;
    }
    for (const [type, isCanary] of change.canaries ?? []) {
      const table = isCanary ? layer.tableFor(type) : layer.table(type);
      if (table?.markCanary(isCanary) === true) isChanged = true;
    }
    for (const [type, table] of layer.tables) {
      table.settle(revision);
      if (this.#isLong(table)) this.#long.set(table, type);
    }
    return isChanged;
  }

  #isLong(table: Table): boolean {
    const { journal } = table;
    const at = this.#trimAt.get(table);
    const lines = at?.lines ?? Math.min(LINES_BEFORE_TRIM, this.#limits.lines);
    const bytes = at?.bytes ?? Math.min(BYTES_BEFORE_TRIM, this.#limits.bytes);
    return journal.length > lines || journal.bytes > bytes;
  }

  #layer(name: string): Layer {
    let layer = this.#layers.get(name);
    if (layer === undefined) {
      layer = new Layer(name, this.#rules, this.#timedNames);
      this.#layers.set(name, layer);
    }
    return layer;
  }

  /** Drops an empty layer that no view has, because nodes come and go. */
  #drop(layer: Layer): void {
    if ((this.#viewsOf.get(layer)?.size ?? 0) > 0) return;
    this.#viewsOf.delete(layer);
    if (layer.isEmpty) this.#layers.delete(layer.name);
  }
}
