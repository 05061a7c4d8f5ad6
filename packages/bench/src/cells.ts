/** A benchmark cell: a number of resources and streams. */
export interface Cell {
  readonly name: string;
  readonly resources: number;
  readonly streams: number;
  readonly variant: "delta" | "sotw";
  /** The caches of go-control-plane to compare with; the better one for this cell. */
  readonly caches: readonly ("linear" | "snapshot")[];
  /** Also measures all streams reconnecting with the versions that they hold. */
  readonly reconnects: boolean;
  /**
   * Each stream subscribes to `names` resources by name; `subscribers` of the streams subscribe to the one that
   * changes.
   */
  readonly byName?: { readonly names: number; readonly subscribers: number };
  /** Each stream has a node with a layer of its own, above a shared one. */
  readonly ownLayers?: boolean;
  /** Connections that the streams share; undefined: each has its own. */
  readonly connections?: number;
  /** Runs with `--long` only. */
  readonly isLong: boolean;
}

/** The cells of architecture.md 7. */
export const cells: readonly Cell[] = [
  cell("100 x 1,000 delta", 100, 1_000, "delta", {}),
  cell("100 x 1,000 delta, 50 connections", 100, 1_000, "delta", { connections: 50 }),
  cell("1,000 x 1,000 SotW", 1_000, 1_000, "sotw", { caches: ["linear"] }),
  cell("10,000 x 200 delta", 10_000, 200, "delta", {}),
  cell("10,000 x 1,000 delta", 10_000, 1_000, "delta", { reconnects: true, isLong: true }),
  cell("100,000 x 50 delta", 100_000, 50, "delta", { reconnects: true, isLong: true }),
  cell("100,000 x 1,000 delta", 100_000, 1_000, "delta", { caches: [], isLong: true }),
  ...[200, 1_000, 5_000].map((streams) =>
    cell(`10,000 x ${streams.toLocaleString("en")} delta, 10 names each, 10 concerned`, 10_000, streams, "delta", {
      byName: { names: 10, subscribers: 10 },
      isLong: true,
    }),
  ),
  cell("200,000 x 1 delta, 100,000 names", 200_000, 1, "delta", {
    byName: { names: 100_000, subscribers: 1 },
    reconnects: true,
    isLong: true,
  }),
  cell("100 x 25,000 delta, 500 connections", 100, 25_000, "delta", { connections: 500, isLong: true }),
  cell("1,000 x 10,000 delta, one view", 1_000, 10_000, "delta", { caches: [], isLong: true }),
  cell("1,000 x 10,000 delta, each with a layer of its own", 1_000, 10_000, "delta", {
    ownLayers: true,
    caches: [],
    isLong: true,
  }),
];

function cell(
  name: string,
  resources: number,
  streams: number,
  variant: Cell["variant"],
  more: Partial<Pick<Cell, "caches" | "reconnects" | "byName" | "ownLayers" | "connections" | "isLong">>,
): Cell {
  return {
    name,
    resources,
    streams,
    variant,
    caches: ["linear", "snapshot"],
    reconnects: false,
    isLong: false,
    ...more,
  };
}
