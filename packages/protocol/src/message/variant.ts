/** The two forms of the protocol: each response tells all there is, or what changed. */
export type Variant = "sotw" | "delta";
