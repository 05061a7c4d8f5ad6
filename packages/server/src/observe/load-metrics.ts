import type { LocalitySums } from "@xdskit/protocol/internal";
import type { Registry } from "prom-client";
import { type Cell, CounterFamily } from "./cell.ts";
import type { Gauges } from "./gauges.ts";
import { gauge } from "./prom-gauge.ts";

/**
 * Clusters, services and localities with labels of their own; all further ones are `other`, because clients choose the
 * names.
 */
const MOST_NAMED = 1_000;

/** Sets the load metrics from client reports, on every scrape. */
export function readLoads(gauges: Gauges, registry: Registry): void {
  gauge("xds_server_load_reporters", registry, (set) => set(gauges.loads().reporterCount));
  new CounterFamily("xds_server_load_reports_total", registry, (cellOf) => {
    cellOf().value = gauges.loads().reports;
  });
  new CounterFamily("xds_server_load_left_out_total", registry, (cellOf) => {
    cellOf().value = gauges.loads().leftOut;
  });
  const localities = new LoadMetricNames();
  new CounterFamily("xds_server_load_requests_total", registry, (cellOf) => {
    const sums = new CellSums(cellOf);
    for (const [labels, { issued, succeeded, failed }] of localitiesOf(gauges, localities)) {
      sums.add(issued, ...labels, "issued");
      sums.add(succeeded, ...labels, "succeeded");
      sums.add(failed, ...labels, "failed");
    }
  });
  gauge("xds_server_load_requests_in_progress", registry, (set) => {
    const sums = new Map<string, { readonly labels: readonly string[]; value: number }>();
    for (const [labels, { inProgress }] of localitiesOf(gauges, localities)) {
      const key = labels.join("\n");
      const sum = sums.get(key) ?? { labels, value: 0 };
      sum.value += inProgress;
      sums.set(key, sum);
    }
    for (const { labels, value } of sums.values()) set(value, ...labels);
  });
  const categories = new LoadMetricNames();
  new CounterFamily("xds_server_load_dropped_total", registry, (cellOf) => {
    const sums = new CellSums(cellOf);
    for (const { cluster, service, dropped, droppedBy } of gauges.loads().clusters) {
      let named = 0;
      for (const [category, count] of droppedBy) {
        named += count;
        sums.add(count, ...categories.labels(cluster, service, category));
      }
      // The total may hold more than the categories do.
      if (dropped > named) sums.add(dropped - named, ...categories.labels(cluster, service, ""));
    }
  });
}

function* localitiesOf(gauges: Gauges, names: LoadMetricNames): Iterable<readonly [readonly string[], LocalitySums]> {
  for (const sums of gauges.loads().clusters) {
    for (const at of sums.localities) yield [names.labels(sums.cluster, sums.service, localityOf(at)), at];
  }
}

function localityOf({ locality: { region, zone, subZone } }: LocalitySums): string {
  return [region, zone, subZone].join("/").replace(/\/+$/, "");
}

/** Names with labels of their own: the first ones seen, for the life of the server. */
class LoadMetricNames {
  readonly #known = new Set<string>();

  labels(...labels: readonly string[]): readonly string[] {
    const key = labels.join("\n");
    if (this.#known.size < MOST_NAMED) this.#known.add(key);
    return this.#known.has(key) ? labels : labels.map(() => "other");
  }
}

/** Sums that restart on every scrape. */
class CellSums {
  readonly #cellOf: (...values: readonly string[]) => Cell;
  readonly #begun = new Set<Cell>();

  constructor(cellOf: (...values: readonly string[]) => Cell) {
    this.#cellOf = cellOf;
  }

  add(value: number, ...labels: readonly string[]): void {
    const cell = this.#cellOf(...labels);
    if (!this.#begun.has(cell)) cell.value = 0;
    this.#begun.add(cell);
    cell.value += value;
  }
}
