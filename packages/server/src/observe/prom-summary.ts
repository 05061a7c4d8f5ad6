import { type Registry, Summary } from "prom-client";
import { type MetricName, type MetricRow, metricTable } from "./metric-table.ts";

/** What a summary holds at a scrape. */
export interface SummaryReading {
  readonly quantiles: readonly (readonly [quantile: string, value: number])[];
  /** Of all observations since the start, as `count` is. */
  readonly sum: number;
  readonly count: number;
}

interface PrintedSummary {
  readonly name: string;
  readonly help: string;
  readonly type: "summary";
  readonly aggregator: "sum";
  readonly values: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly metricName: string;
    readonly value: number;
  }[];
}

/** A summary of the table that is read at every scrape, where somebody else observes: prom-client's keeps samples of its own. */
export class ReadSummary extends Summary<string> {
  readonly #name: MetricName;
  readonly #read: () => SummaryReading;

  constructor(name: MetricName, registry: Registry, read: () => SummaryReading) {
    const { help }: MetricRow = metricTable[name];
    super({ name, help, registers: [registry] });
    this.#name = name;
    this.#read = read;
  }

  /** What the registry prints. */
  async getForPromString(): Promise<PrintedSummary> {
    const name = this.#name;
    const { quantiles, sum, count } = this.#read();
    return {
      ...{ name, help: metricTable[name].help, type: "summary", aggregator: "sum" },
      values: [
        ...quantiles.map(([quantile, value]) => ({ labels: { quantile }, metricName: name, value })),
        { labels: {}, metricName: `${name}_sum`, value: sum },
        { labels: {}, metricName: `${name}_count`, value: count },
      ],
    };
  }
}
