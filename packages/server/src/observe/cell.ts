import { Counter, Histogram, type Registry } from "prom-client";
import { type MetricName, type MetricRow, metricTable } from "./metric-table.ts";

/**
 * The value of a counter for one set of labels. Counting is an addition of a few nanoseconds, where prom-client's `inc`
 * takes 200; the Prometheus value is computed on scrape.
 */
export interface Cell {
  value: number;
}

/** What is kept for each set of labels, found by one value after another: nothing is joined for a look-up. */
class ByLabels<Kept> {
  readonly #make: (labels: Readonly<Record<string, string>>) => Kept;
  readonly #names: readonly string[];
  readonly #root: Branch<Kept> = { kept: undefined, branches: new Map() };
  /** In the order in which they were made. */
  readonly all: Kept[] = [];

  constructor(names: readonly string[], make: (labels: Readonly<Record<string, string>>) => Kept) {
    this.#names = names;
    this.#make = make;
  }

  get(values: readonly string[]): Kept {
    let branch = this.#root;
    for (const value of values) {
      let next = branch.branches.get(value);
      if (next === undefined) {
        next = { kept: undefined, branches: new Map() };
        branch.branches.set(value, next);
      }
      branch = next;
    }
    if (branch.kept === undefined) {
      branch.kept = this.#make(Object.fromEntries(this.#names.map((name, index) => [name, values[index] ?? ""])));
      this.all.push(branch.kept);
    }
    return branch.kept;
  }
}

interface Branch<Kept> {
  kept: Kept | undefined;
  readonly branches: Map<string, Branch<Kept>>;
}

/** A counter whose cells are looked up once and then incremented. */
export class CounterFamily {
  readonly #cells: ByLabels<CountedCell>;

  /** `read` sets the cells on every scrape, for values counted elsewhere. */
  constructor(name: MetricName, registry: Registry, read?: (cellOf: (...values: readonly string[]) => Cell) => void) {
    const row: MetricRow = metricTable[name];
    const cells = new ByLabels<CountedCell>(row.labels, (labels) => ({ labels, value: 0 }));
    const cellOf = (...values: readonly string[]): Cell => cells.get(values);
    this.#cells = cells;
    new Counter({
      name,
      help: row.help,
      labelNames: [...row.labels],
      registers: [registry],
      collect(): void {
        read?.(cellOf);
        this.reset();
        for (const { labels, value } of cells.all) this.inc(labels, value);
      },
    });
    if (row.labels.length === 0) this.cell();
  }

  /** The cell for these values, in the order of the table's labels. The same one for the same values. */
  cell(...values: readonly string[]): Cell {
    return this.#cells.get(values);
  }
}

interface CountedCell extends Cell {
  readonly labels: Readonly<Record<string, string>>;
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
  readonly #cells: ByLabels<Buckets>;

  constructor(name: MetricName, registry: Registry) {
    const row: MetricRow = metricTable[name];
    this.#cells = new ByLabels(row.labels, (labels) => new Buckets(labels, row.buckets ?? []));
    new CellHistogram(name, row, this.#cells.all, registry);
    if (row.labels.length === 0) this.cell();
  }

  /** The cell for these values, in the order of the table's labels. */
  cell(...values: readonly string[]): HistogramCell {
    return this.#cells.get(values);
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
  readonly #cells: readonly Buckets[];

  constructor(name: string, row: MetricRow, cells: readonly Buckets[], registry: Registry) {
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
    const values = this.#cells.flatMap((cell) => this.#valuesOf(cell));
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
