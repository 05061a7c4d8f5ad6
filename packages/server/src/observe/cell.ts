import { Counter, Histogram, type Registry } from "prom-client";
import { type MetricName, type MetricRow, metricTable } from "./metric-table.ts";

/**
 * The value of a counter for one set of labels. Counting is an addition of a few nanoseconds, where prom-client's `inc`
 * takes 200; the Prometheus value is computed on scrape.
 */
export interface Cell {
  value: number;
}

/** A counter whose cells are looked up once and then incremented. */
export class CounterFamily {
  readonly #cells = new Map<string, { readonly labels: Readonly<Record<string, string>>; readonly cell: Cell }>();
  readonly #labelNames: readonly string[];

  /** `read` sets the cells on every scrape, for values counted elsewhere. */
  constructor(name: MetricName, registry: Registry, read?: (cellOf: (...values: readonly string[]) => Cell) => void) {
    const row: MetricRow = metricTable[name];
    const cells = this.#cells;
    const cellOf = (...values: readonly string[]): Cell => this.cell(...values);
    this.#labelNames = row.labels;
    new Counter({
      name,
      help: row.help,
      labelNames: [...row.labels],
      registers: [registry],
      collect(): void {
        read?.(cellOf);
        this.reset();
        for (const { labels, cell } of cells.values()) this.inc(labels, cell.value);
      },
    });
    if (row.labels.length === 0) this.cell();
  }

  /** The cell for these values, in the order of the table's labels. The same one for the same values. */
  cell(...values: readonly string[]): Cell {
    const key = values.join("\n");
    let entry = this.#cells.get(key);
    if (entry === undefined) {
      entry = { labels: labelsOf(this.#labelNames, values), cell: { value: 0 } };
      this.#cells.set(key, entry);
    }
    return entry.cell;
  }
}

/** The observations of a histogram for one set of labels. */
export interface HistogramCell {
  observe(value: number): void;
}

class Buckets implements HistogramCell {
  readonly labels: Readonly<Record<string, string>>;
  readonly bounds: readonly number[];
  /** Observations of each bucket alone; the last one is everything above. */
  readonly counts: number[];
  sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.labels = labels;
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] ?? Number.POSITIVE_INFINITY)) index++;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
  }
}

/** A histogram whose cells are looked up once and then updated. */
export class HistogramFamily {
  readonly #cells = new Map<string, Buckets>();
  readonly #labelNames: readonly string[];
  readonly #bounds: readonly number[];

  constructor(name: MetricName, registry: Registry) {
    const row: MetricRow = metricTable[name];
    this.#labelNames = row.labels;
    this.#bounds = row.buckets ?? [];
    new CellHistogram(name, row, this.#cells, registry);
    if (row.labels.length === 0) this.cell();
  }

  /** The cell for these values, in the order of the table's labels. */
  cell(...values: readonly string[]): HistogramCell {
    const key = values.join("\n");
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = new Buckets(labelsOf(this.#labelNames, values), this.#bounds);
      this.#cells.set(key, cell);
    }
    return cell;
  }
}

interface PrintedValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName: string;
  readonly value: number;
}

interface PrintedHistogram {
  readonly name: string;
  readonly help: string;
  readonly type: "histogram";
  readonly aggregator: "sum";
  readonly values: readonly PrintedValue[];
}

/** The histogram that the registry holds; prom-client cannot take bucket counts, so it reads ours. */
class CellHistogram extends Histogram<string> {
  readonly #name: string;
  readonly #row: MetricRow;
  readonly #cells: ReadonlyMap<string, Buckets>;

  constructor(name: string, row: MetricRow, cells: ReadonlyMap<string, Buckets>, registry: Registry) {
    super({
      name,
      help: row.help,
      labelNames: [...row.labels],
      buckets: [...(row.buckets ?? [])],
      registers: [registry],
    });
    this.#name = name;
    this.#row = row;
    this.#cells = cells;
  }

  /** The output of the registry, and the source of the inherited `get`. */
  async getForPromString(): Promise<PrintedHistogram> {
    const values = [...this.#cells.values()].flatMap((cell) => this.#valuesOf(cell));
    return { name: this.#name, help: this.#row.help, type: "histogram", aggregator: "sum", values };
  }

  #valuesOf(cell: Buckets): readonly PrintedValue[] {
    let below = 0;
    const values = cell.counts.map((count, index) => {
      below += count;
      return {
        labels: { le: cell.bounds[index] ?? "+Inf", ...cell.labels },
        metricName: `${this.#name}_bucket`,
        value: below,
      };
    });
    return [
      ...values,
      { labels: { ...cell.labels }, metricName: `${this.#name}_sum`, value: cell.sum },
      { labels: { ...cell.labels }, metricName: `${this.#name}_count`, value: below },
    ];
  }
}

function labelsOf(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}
