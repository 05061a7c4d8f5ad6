import type { TypeUrl } from "../resource/type-url.ts";
import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";
import { type Amount, type Peak, Peaks } from "./peaks.ts";
import type { PlacedEntry } from "./place.ts";
import type { BodyId, Entry, EntryChange, EntryPlace } from "./record.ts";

/** A row of a snapshot: name, version, body, size, and 1 for endpoints that are empty. */
type EntryRow = readonly [name: string, version: string, body: BodyId | null, size: number, isEmpty?: 1];

/** The entries of one layer and type in a snapshot. */
export interface TableSnapshot {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly entries: readonly EntryRow[];
  readonly peaks: readonly Peak[];
}

/** A table in a snapshot that became empty, and when. */
type EmptiedRow = readonly [layer: string, type: TypeUrl, time: number];

/** Every entry of a ledger's state in a snapshot. */
export interface EntriesSnapshot {
  readonly tables: readonly TableSnapshot[];
  /** In the order in which they are let go of. */
  readonly emptied: readonly EmptiedRow[];
}

interface TypeTable {
  readonly layer: string;
  readonly type: TypeUrl;
  readonly entries: Map<string, Entry>;
  readonly peaks: Peaks;
  bytes: number;
}

const EMPTY_KEPT_MS = 2 * 60 * 60_000;

/** The entries of a ledger's state by layer, type and name, with how much there was in the last hour. */
export class EntryTable {
  readonly #layers = new Map<string, Map<TypeUrl, TypeTable>>();

  /** When each empty table became so: its peaks are needed for the hour after. */
  readonly #emptied = new Map<TypeTable, number>();

  static fromSnapshot({ tables, emptied }: EntriesSnapshot): EntryTable {
    const table = new EntryTable();
    for (const { layer, type, entries, peaks } of tables) {
      const made: TypeTable = { layer, type, entries: new Map(), peaks: new Peaks(peaks), bytes: 0 };
      for (const [name, version, body, size, isEmpty] of entries) {
        const entry = { version, body: body ?? undefined, size };
        made.entries.set(name, isEmpty === 1 ? { ...entry, isEmpty: true } : entry);
        made.bytes += size;
      }
      table.#typesOf(layer).set(type, made);
    }
    for (const [layer, type, time] of emptied) table.#emptied.set(table.#tableOf(layer, type), time);
    return table;
  }

  /** Number of entries. */
  get size(): number {
    let size = 0;
    for (const types of this.#layers.values()) for (const { entries } of types.values()) size += entries.size;
    return size;
  }

  *toSnapshot(): Steps<EntriesSnapshot> {
    const tables: TableSnapshot[] = [];
    for (const [layer, types] of this.#layers) {
      for (const [type, { entries, peaks }] of types) {
        const rows: EntryRow[] = [];
        for (const entry of entries) {
          rows.push(rowOf(entry));
          yield;
        }
        tables.push({ layer, type, entries: rows, peaks: peaks.list });
      }
    }
    return {
      tables,
      emptied: [...this.#emptied].map(([{ layer, type }, time]) => [layer, type, time] as const),
    };
  }

  get(place: EntryPlace): Entry | undefined {
    return this.#layers.get(place.layer)?.get(place.type)?.entries.get(place.name);
  }

  /** Puts changes in force. What an operator agreed to lose is judged as if it had not been there in the last hour. */
  *put(changes: readonly EntryChange[], time: number, isAgreed: (change: EntryChange) => boolean): Steps<void> {
    let taken = 0;
    const agreed = new Map<TypeTable, { count: number; bytes: number }>();
    for (const change of changes) {
      const table = this.#tableOf(change.layer, change.type);
      let less = agreed.get(table);
      if (less === undefined) {
        less = { count: 0, bytes: 0 };
        agreed.set(table, less);
        table.peaks.note(time, amountIn(table));
      }
      const count = table.entries.size;
      const { bytes } = table;
      const isLossAgreed = isAgreed(change);
      set(table, change);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
      if (!isLossAgreed) continue;
      less.count += count - table.entries.size;
      less.bytes += bytes - table.bytes;
    }
    for (const [table, { count, bytes }] of agreed) {
      table.peaks.forgo({ count: Math.max(0, count), bytes: Math.max(0, bytes) });
      table.peaks.note(time, amountIn(table));
      this.#emptied.delete(table);
      if (table.entries.size === 0) this.#emptied.set(table, time);
    }
    this.#dropEmpty(time);
  }

  /** The types of which a layer has or had entries. */
  typesIn(layer: string): Iterable<TypeUrl> {
    return this.#layers.get(layer)?.keys() ?? [];
  }

  amount(layer: string, type: TypeUrl): Amount {
    const table = this.#layers.get(layer)?.get(type);
    return table === undefined ? { count: 0, bytes: 0 } : amountIn(table);
  }

  /** The most of the last hour and now. */
  highest(layer: string, type: TypeUrl, time: number): Amount {
    const table = this.#layers.get(layer)?.get(type);
    if (table === undefined) return { count: 0, bytes: 0 };
    const now = amountIn(table);
    const peak = table.peaks.highest(time);
    return { count: Math.max(now.count, peak.count), bytes: Math.max(now.bytes, peak.bytes) };
  }

  *entries(layers?: Iterable<string>): Generator<PlacedEntry> {
    for (const layer of layers ?? this.#layers.keys()) {
      for (const [type, table] of this.#layers.get(layer) ?? []) {
        for (const [name, entry] of table.entries) yield { layer, type, name, entry };
      }
    }
  }

  #tableOf(layer: string, type: TypeUrl): TypeTable {
    const types = this.#typesOf(layer);
    const table = types.get(type) ?? { layer, type, entries: new Map<string, Entry>(), peaks: new Peaks(), bytes: 0 };
    types.set(type, table);
    return table;
  }

  #dropEmpty(time: number): void {
    for (const [table, since] of this.#emptied) {
      if (Math.abs(time - since) < EMPTY_KEPT_MS) return;
      this.#emptied.delete(table);
      const types = this.#typesOf(table.layer);
      types.delete(table.type);
      if (types.size === 0) this.#layers.delete(table.layer);
    }
  }

  #typesOf(layer: string): Map<TypeUrl, TypeTable> {
    const types = this.#layers.get(layer) ?? new Map<TypeUrl, TypeTable>();
    this.#layers.set(layer, types);
    return types;
  }
}

function set(table: TypeTable, { name, after }: EntryChange): void {
  table.bytes += (after?.size ?? 0) - (table.entries.get(name)?.size ?? 0);
  if (after === undefined) table.entries.delete(name);
  else {
    const { version, body, size } = after;
    table.entries.set(name, after.isEmpty === true ? { version, body, size, isEmpty: true } : { version, body, size });
  }
}

function amountIn({ entries, bytes }: TypeTable): Amount {
  return { count: entries.size, bytes };
}

function rowOf([name, { version, body, size, isEmpty }]: readonly [string, Entry]): EntryRow {
  return isEmpty === true ? [name, version, body ?? null, size, 1] : [name, version, body ?? null, size];
}
