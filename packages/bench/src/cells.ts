/** One thing that is measured: so many resources, so many streams. */
export interface Cell {
  readonly name: string;
  readonly resources: number;
  readonly streams: number;
  readonly variant: "delta" | "sotw";
  /** The peer's cache that is better here (its own measurements choose). */
  readonly caches: readonly ("linear" | "snapshot")[];
  /** All streams break and come back with the versions they hold. */
  readonly reconnects: boolean;
  /** Too long for a quick look. */
  readonly isLong: boolean;
}

/** The table of architecture.md 7. */
export const cells: readonly Cell[] = [
  cell("100 x 1,000 delta", 100, 1_000, "delta", {}),
  cell("1,000 x 1,000 SotW", 1_000, 1_000, "sotw", { caches: ["linear"] }),
  cell("10,000 x 200 delta", 10_000, 200, "delta", {}),
  cell("10,000 x 1,000 delta", 10_000, 1_000, "delta", { reconnects: true, isLong: true }),
  cell("100,000 x 50 delta", 100_000, 50, "delta", { reconnects: true, isLong: true }),
  cell("100,000 x 1,000 delta", 100_000, 1_000, "delta", { caches: [], isLong: true }),
];

function cell(
  name: string,
  resources: number,
  streams: number,
  variant: Cell["variant"],
  more: Partial<Pick<Cell, "caches" | "reconnects" | "isLong">>,
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
