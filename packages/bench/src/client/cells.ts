/** Whose client is measured. */
export type ClientSubject =
  | "xdskit"
  | "xdskit, no rules"
  | "go-control-plane, rules"
  | "go-control-plane"
  | "grpc-js by hand";

/** One thing that a client is made to do. */
export interface ClientCell {
  readonly variant: "delta" | "sotw";
  /** `all`: everything is asked for at once; `names`: each name by a watch of its own. */
  readonly asks: "all" | "names";
  readonly clusters: number;
  /** So many clusters change, one commit each; the last one that is told counts. */
  readonly changes: number;
  readonly subjects: readonly ClientSubject[];
  /** Too long for a quick look. */
  readonly isLong: boolean;
}

const everybody: readonly ClientSubject[] = [
  "xdskit",
  "xdskit, no rules",
  "go-control-plane, rules",
  "go-control-plane",
  "grpc-js by hand",
];
/** go-control-plane has no client that speaks delta, and none that asks for names. */
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
