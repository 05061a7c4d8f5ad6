/** The client under measurement. */
export type ClientSubject =
  | "xdskit"
  | "xdskit, no rules"
  | "go-control-plane, rules"
  | "go-control-plane"
  | "grpc-js by hand";

/** A benchmark cell for clients. */
export interface ClientCell {
  readonly variant: "delta" | "sotw";
  /** `all`: one wildcard watch; `names`: a watch for each name. */
  readonly asks: "all" | "names";
  readonly clusters: number;
  /** The number of clusters that change, one commit each; measured until the last change arrives. */
  readonly changes: number;
  readonly subjects: readonly ClientSubject[];
  /** Runs with `--long` only. */
  readonly isLong: boolean;
}

const everybody: readonly ClientSubject[] = [
  "xdskit",
  "xdskit, no rules",
  "go-control-plane, rules",
  "go-control-plane",
  "grpc-js by hand",
];
/** go-control-plane has no client for delta, and none that subscribes by name. */
const node: readonly ClientSubject[] = ["xdskit", "xdskit, no rules", "grpc-js by hand"];
const byName: readonly ClientSubject[] = ["xdskit", "grpc-js by hand"];

export const clientCells: readonly ClientCell[] = [
  { variant: "delta", asks: "all", clusters: 10_000, changes: 1, subjects: node, isLong: false },
  { variant: "sotw", asks: "all", clusters: 10_000, changes: 1, subjects: everybody, isLong: false },
  { variant: "delta", asks: "names", clusters: 1_000, changes: 1_000, subjects: byName, isLong: false },
  { variant: "sotw", asks: "names", clusters: 1_000, changes: 1_000, subjects: byName, isLong: false },
  { variant: "delta", asks: "all", clusters: 100_000, changes: 1, subjects: byName, isLong: true },
  { variant: "sotw", asks: "all", clusters: 100_000, changes: 1, subjects: everybody, isLong: true },
  { variant: "delta", asks: "names", clusters: 100_000, changes: 1, subjects: byName, isLong: true },
  { variant: "sotw", asks: "names", clusters: 100_000, changes: 1, subjects: byName, isLong: true },
];
