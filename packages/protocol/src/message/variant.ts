/**
 * The two variants of the protocol: each response holds the whole state (State of the World), or only changes (delta).
 */
export type Variant = "sotw" | "delta";
