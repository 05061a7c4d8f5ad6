import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { encodeNode } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { clientDialect, type SotwRequest } from "@xdskit/protocol/internal";
import type { FileSource, GrpcSource, RestSource, ServerConfig } from "../../src/config/client-config.ts";

export const CLUSTER: TypeUrl = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const ENDPOINTS: TypeUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const SECRET: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

let api: EnvoyApi | undefined;
/** One for all tests of a file: reading the descriptors takes a moment. */
export function testApi(): EnvoyApi {
  api ??= createEnvoyApi();
  return api;
}

export const nodeBytes: Uint8Array = encodeNode({ ...anonymousNode, id: "edge-7", cluster: "edge" });

/** A management server of which nothing else is said. */
export const plainServer: Omit<ServerConfig, "name" | "target"> = {
  tls: undefined,
  keepalive: undefined,
  tcpKeepalive: undefined,
  maxResponseBytes: 256 * 1024 * 1024,
  headers: [],
  connectTimeoutMs: 5_000,
};

export function server(port: number, changes: Partial<ServerConfig> = {}): ServerConfig {
  return { ...plainServer, name: "xds", target: `ipv4:127.0.0.1:${port}`, ...changes };
}

const common = {
  resourceApiVersion: "v3",
  initialFetchTimeoutMs: 15_000,
  dialect: clientDialect(),
  parameters: undefined,
} as const;

export function grpcSource(servers: readonly ServerConfig[], changes: Partial<GrpcSource> = {}): GrpcSource {
  return {
    ...common,
    kind: "grpc",
    id: "grpc",
    apiVersion: "v3",
    variant: "sotw",
    isAggregated: true,
    servers,
    failover: "cycle",
    nodeIn: "first-request",
    rateLimit: undefined,
    backOff: { baseMs: 10, maxMs: 100 },
    ...changes,
  };
}

export function restSource(servers: readonly ServerConfig[], changes: Partial<RestSource> = {}): RestSource {
  const times = { refreshDelayMs: 10, requestTimeoutMs: 5_000 };
  return { ...common, kind: "rest", id: "rest", apiVersion: "v3", servers, ...times, ...changes };
}

export function fileSource(path: string, changes: Partial<FileSource> = {}): FileSource {
  const watching = { watchedDirectory: undefined, isMoveOnly: false };
  return { ...common, kind: "file", id: "file", path, ...watching, ...changes };
}

export function request(type: TypeUrl, changes: Partial<SotwRequest> = {}): SotwRequest {
  return {
    kind: "sotw",
    type,
    node: undefined,
    nonce: undefined,
    error: undefined,
    versionInfo: undefined,
    names: [],
    ...changes,
  };
}
