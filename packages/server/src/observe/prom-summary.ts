import { type Registry, Summary } from "prom-client";
import { type MetricName, type MetricRow, metricTable } from "./metric-table.ts";

/** The values of a summary at a scrape. */
export interface SummaryReading {
  readonly quantiles: readonly (readonly [quantile: string, value: number])[];
  /** Sum of all observations since the start, as `count`. */
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

/** A summary that is read on every scrape from values observed elsewhere; prom-client's keeps its own samples. */
export class ReadSummary extends Summary<string> {
  readonly #name: MetricName;
  readonly #read: () => SummaryReading;

  constructor(name: MetricName, registry: Registry, read: () => SummaryReading) {
    const { help }: MetricRow = metricTable[name];
    super({ name, help, registers: [registry] });
    this.#name = name;
    this.#read = read;
  }

  /** The output of the registry. */
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
