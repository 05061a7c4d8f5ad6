import type { TypeUrl } from "../resource/type-url.ts";
import { deletedKey, type Layer } from "./layer.ts";
import { ITEMS_A_STEP, type Steps } from "./steps.ts";
import type { Table, TableEdit } from "./table.ts";
import type { LayerChange, Transaction } from "./transaction.ts";

/** A table with fewer edits in a transaction is edited when that takes effect, which costs some 2 µs an edit. */
export const EDITED_AT_ONCE = 2_000;

/** A table as it will be. */
export interface PreparedTable {
  readonly layer: string;
  readonly type: TypeUrl;
  /** Undefined: there was none. */
  readonly before: Table | undefined;
  readonly next: Table;
}

/**
 * The tables that a large transaction edits, made beside those in use: what is left for when it takes effect is to
 * replace one by the other. It holds for one revision, as long as nothing else changes these tables.
 */
export interface PreparedTransaction {
  readonly revision: number;
  readonly tables: readonly PreparedTable[];
  /** The edits of all other tables. */
  readonly rest: readonly LayerChange[];
}

/**
 * Prepares a transaction for a revision; undefined if it edits no table much. `layerNamed` returns a layer as it is, or an
 * empty one.
 */
export function* prepareTransaction(
  { changes }: Transaction,
  revision: number,
  { layerNamed, editedAtOnce }: { readonly layerNamed: (name: string) => Layer; readonly editedAtOnce: number },
): Steps<PreparedTransaction | undefined> {
  const edits = new EditsByTable();
  for (const change of changes) yield* edits.add(change);
  const tables: PreparedTable[] = [];
  const prepared = new Map<string, Set<TypeUrl>>();
  for (const { layer: name, type, edits: ofTable } of edits.tables()) {
    if (ofTable.length < editedAtOnce) continue;
    const layer = layerNamed(name);
    const before = layer.table(type);
    const next = yield* (before ?? layer.newTable(type)).successor(ofTable, revision);
    prepared.set(name, (prepared.get(name) ?? new Set()).add(type));
    if (next.changedAt === revision) tables.push({ layer: name, type, before, next });
  }
  if (prepared.size === 0) return undefined;
  const rest: LayerChange[] = [];
  for (const change of changes) {
    const types = prepared.get(change.layer);
    const isOfRest = ({ type }: { readonly type: TypeUrl }): boolean => types?.has(type) !== true;
    rest.push({
      ...change,
      puts: yield* filter(change.puts ?? [], isOfRest),
      deletes: yield* filter(change.deletes ?? [], isOfRest),
    });
  }
  return { revision, tables, rest };
}

interface EditsOfTable {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly edits: TableEdit[];
}

/** The edits of a transaction, in order for each table. */
class EditsByTable {
  readonly #layers = new Map<string, Map<TypeUrl, EditsOfTable>>();

  *tables(): Iterable<EditsOfTable> {
    for (const types of this.#layers.values()) yield* types.values();
  }

  *add({ layer, puts = [], deletes = [] }: LayerChange): Steps<void> {
    let taken = 0;
    for (const put of puts) {
      this.#of(layer, put.type).push({ put });
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
    for (const deletion of deletes) {
      this.#of(layer, deletion.type).push({ delete: deletedKey(deletion) });
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
  }

  #of(layer: string, type: TypeUrl): TableEdit[] {
    const types = this.#layers.get(layer) ?? new Map<TypeUrl, EditsOfTable>();
    this.#layers.set(layer, types);
    const table = types.get(type) ?? { layer, type, edits: [] };
    types.set(type, table);
    return table.edits;
  }
}

function* filter<T>(list: readonly T[], isWanted: (one: T) => boolean): Steps<readonly T[]> {
  let taken = 0;
  const wanted: T[] = [];
  for (const one of list) {
    if (isWanted(one)) wanted.push(one);
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return wanted;
}
