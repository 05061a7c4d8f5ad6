import type { ApiVersion } from "@xdskit/protocol";

/**
 * How an Envoy gets its listeners and clusters: from files, by polling, from a stream for each type, or from one stream for all of
 * them; the streams in State of the World or in delta.
 */
export type EnvoyTransport = "file" | "rest" | "grpc" | "delta" | "ads" | "ads-delta";

/** Every transport (S-CFG-10). */
export const envoyTransports: readonly EnvoyTransport[] = ["file", "rest", "grpc", "delta", "ads", "ads-delta"];

/** The versions of the API that a client may speak, the one in use first: v2 ended with Envoy 1.17. */
export const apiVersions: readonly ApiVersion[] = ["v3", "v2"];
