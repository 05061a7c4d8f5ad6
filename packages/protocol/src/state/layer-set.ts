import type { TypeUrl } from "../resource/type-url.ts";
import { formatVersion } from "../resource/version.ts";
import { Layer } from "./layer.ts";
import type { Table } from "./table.ts";
import type { LayerChange, Transaction } from "./transaction.ts";
import { View } from "./view.ts";

/** One layer as it stands. */
export interface LayerState {
  readonly name: string;
  readonly types: ReadonlyMap<
    TypeUrl,
    { readonly resources: number; readonly version: string; readonly changedAt: number }
  >;
}

/** Lines that a journal may have before it is looked at for trimming. */
const LINES_BEFORE_TRIM = 1024;

interface Watched<W> {
  readonly view: View;
  readonly watchers: Set<W>;
}

/** Every layer and every view of them that somebody watches. `W` is who watches. */
export class LayerSet<W extends object> {
  readonly #keepsBodies: (type: TypeUrl) => boolean;
  readonly #maxLines: number;
  readonly #layers = new Map<string, Layer>();
  readonly #views = new Map<string, Watched<W>>();
  readonly #viewsOf = new Map<Layer, Set<Watched<W>>>();
  /** At how many lines a journal is next looked at. */
  readonly #trimAt = new WeakMap<Table, number>();
  #long = new Map<Table, { readonly layer: Layer; readonly type: TypeUrl }>();

  constructor(keepsBodies: (type: TypeUrl) => boolean, maxLines: number) {
    this.#keepsBodies = keepsBodies;
    this.#maxLines = maxLines;
  }

  /** Applies a transaction. Returns the views it concerns; undefined if it changed nothing. */
  apply(transaction: Transaction, revision: number): { readonly views: ReadonlySet<View> } | undefined {
    const views = new Set<View>();
    let isChanged = false;
    for (const change of transaction.changes) {
      const layer = this.#layer(change.layer);
      if (!this.#change(layer, change, revision)) continue;
      isChanged = true;
      for (const { view } of this.#viewsOf.get(layer) ?? []) views.add(view);
      this.#drop(layer);
    }
    return isChanged ? { views } : undefined;
  }

  /** The view of these layers; kept for as long as somebody watches it. */
  viewOf(names: readonly string[]): View {
    const key = JSON.stringify(names);
    return (
      this.#views.get(key)?.view ??
      new View(
        key,
        names.map((name) => this.#layers.get(name) ?? new Layer(name, this.#keepsBodies)),
      )
    );
  }

  watch(view: View, watcher: W): void {
    let watched = this.#views.get(view.key);
    if (watched === undefined) {
      watched = { view, watchers: new Set() };
      this.#views.set(view.key, watched);
      for (const layer of view.layers) {
        this.#layers.set(layer.name, layer);
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
    for (const layer of view.layers) {
      this.#viewsOf.get(layer)?.delete(watched);
      this.#drop(layer);
    }
  }

  watchersOf(view: View): Iterable<W> {
    return this.#views.get(view.key)?.watchers ?? [];
  }

  /** Whether any layer ever held a resource of that type. */
  holdsAny(type: TypeUrl): boolean {
    for (const layer of this.#layers.values()) if (layer.table(type) !== undefined) return true;
    return false;
  }

  /**
   * Trims journals that have grown long, behind the oldest cursor; past the limit also before it. Returns the types in
   * which cursors may have been cut off.
   */
  trim(oldestCursor: (type: TypeUrl, layer: Layer) => number): readonly TypeUrl[] {
    if (this.#long.size === 0) return [];
    const cut = new Set<TypeUrl>();
    for (const [table, { layer, type }] of this.#long) {
      table.journal.trim(oldestCursor(type, layer));
      if (table.journal.length > this.#maxLines) {
        table.journal.trim(table.journal.middle);
        cut.add(type);
      }
      this.#trimAt.set(
        table,
        Math.min(this.#maxLines, table.journal.length + Math.max(LINES_BEFORE_TRIM, table.journal.length)),
      );
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
              resources: table.resources.size,
              version: table.printedVersion ?? formatVersion(table.sum),
              changedAt: table.changedAt,
            },
          ]),
        ),
      };
    }
  }

  #change(layer: Layer, change: LayerChange, revision: number): boolean {
    let isChanged = false;
    for (const put of change.puts ?? []) if (layer.tableFor(put.type).put(put, revision)) isChanged = true;
    for (const { type, name } of change.deletes ?? [])
      if (layer.table(type)?.delete(name, revision) === true) isChanged = true;
    for (const [type, version] of change.typeVersions ?? []) {
      if (layer.tableFor(type).printVersion(version)) isChanged = true;
    }
    for (const [type, table] of layer.tables) {
      if (table.journal.length > (this.#trimAt.get(table) ?? LINES_BEFORE_TRIM)) this.#long.set(table, { layer, type });
    }
    return isChanged;
  }

  #layer(name: string): Layer {
    let layer = this.#layers.get(name);
    if (layer === undefined) {
      layer = new Layer(name, this.#keepsBodies);
      this.#layers.set(name, layer);
    }
    return layer;
  }

  /** An empty layer that no view has is forgotten: nodes come and go. */
  #drop(layer: Layer): void {
    if ((this.#viewsOf.get(layer)?.size ?? 0) > 0) return;
    this.#viewsOf.delete(layer);
    if (layer.isEmpty) this.#layers.delete(layer.name);
  }
}
