/**
 * How an Envoy subscribes to listeners and clusters: files, REST polling, a stream per type (`grpc`, `delta`), or one
 * aggregated stream (`ads`, `ads-delta`). `grpc` and `ads` are State of the World.
 */
export type EnvoyTransport = "file" | "rest" | "grpc" | "delta" | "ads" | "ads-delta";

/** All transports (S-CFG-10). */
export const envoyTransports: readonly EnvoyTransport[] = ["file", "rest", "grpc", "delta", "ads", "ads-delta"];
