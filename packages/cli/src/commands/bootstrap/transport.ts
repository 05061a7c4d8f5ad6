/**
 * How an Envoy gets its listeners and clusters: from files, by polling, from a stream for each type, or from one stream for all of
 * them; the streams in State of the World or in delta.
 */
export type EnvoyTransport = "file" | "rest" | "grpc" | "delta" | "ads" | "ads-delta";

/** Every transport (S-CFG-10). */
export const envoyTransports: readonly EnvoyTransport[] = ["file", "rest", "grpc", "delta", "ads", "ads-delta"];
