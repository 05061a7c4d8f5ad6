import { type ApiVersion, anonymousNode, type ClientDialect, type Node } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol/internal";
import type {
  ClientConfig,
  GrpcSource,
  RestSource,
  ServerConfig,
  SourceConfig,
  TlsConfig,
} from "../config/client-config.ts";
import {
  CONNECT_TIMEOUT_MS,
  envoyBackOff,
  INITIAL_FETCH_TIMEOUT_MS,
  KEEPALIVE,
  MAX_RESPONSE_BYTES,
  REFRESH_DELAY_MS,
  REQUEST_TIMEOUT_MS,
  systemTls,
} from "../config/config-defaults.ts";
import { namedFileSource, namedGrpcSource, namedRestSource } from "../config/source-id.ts";
import type { FlatOptions } from "./flat-options.ts";
import { withFields } from "./node-identity.ts";

/** The dialect that the options select. */
export function dialectIn({ edition, dialect, nackPolicy }: FlatOptions): ClientDialect {
  return clientDialect({ ...dialect, ...(nackPolicy !== undefined && { nackPolicy }) }, edition);
}

/** The configuration of a client that starts from server addresses. */
export function configOfServers(options: FlatOptions, addresses: readonly string[]): ClientConfig {
  const { rest = false } = options;
  return configOfSource(options, rest === false ? grpcSourceOf(options, addresses) : restSourceOf(options, addresses));
}

/** The configuration of a client that reads a file. */
export function configOfFile(options: FlatOptions, path: string): ClientConfig {
  const { apiVersion = "v3", fileFormat } = options;
  const common = commonIn(options, apiVersion);
  return configOfSource(
    options,
    namedFileSource({
      kind: "file",
      ...common,
      path,
      watchedDirectory: undefined,
      isMoveOnly: options.isMoveOnly ?? false,
      ...(fileFormat !== undefined && { format: fileFormat }),
    }),
  );
}

function configOfSource(options: FlatOptions, source: SourceConfig): ClientConfig {
  const { mode = "non-proxy" } = options;
  const root = mode === "proxy" ? { source, locator: undefined } : undefined;
  return {
    node: nodeOf(options.node),
    nodeBytes: undefined,
    mode,
    ads: source.kind === "grpc" && source.isAggregated ? source : undefined,
    listeners: root,
    clusters: root,
    authorities: [],
    defaultSource: source,
    nodeContextParams: new Map(),
    runtimeLayers: [],
    loadReports: undefined,
    healthChecks: undefined,
    servers: new Map(),
    staticResources: undefined,
  };
}

function grpcSourceOf(options: FlatOptions, addresses: readonly string[]): GrpcSource {
  const { apiVersion = "v3" } = options;
  return namedGrpcSource({
    kind: "grpc",
    variant: options.variant ?? "sotw",
    isAggregated: options.isAggregated ?? true,
    apiVersion,
    ...commonIn(options, apiVersion),
    servers: addresses.map((address) => serverOf(options, address)),
    failover: "fallback-when-missing",
    nodeIn: "first-request",
    rateLimit: options.rateLimit,
    backOff: options.backOff ?? envoyBackOff,
  });
}

function restSourceOf(options: FlatOptions, addresses: readonly string[]): RestSource {
  const { apiVersion = "v3", rest } = options;
  const { refreshDelayMs = REFRESH_DELAY_MS, requestTimeoutMs = REQUEST_TIMEOUT_MS } =
    typeof rest === "object" ? rest : {};
  return namedRestSource({
    kind: "rest",
    apiVersion,
    ...commonIn(options, apiVersion),
    servers: addresses.map((address) => serverOf(options, address)),
    refreshDelayMs,
    requestTimeoutMs,
  });
}

function commonIn(
  options: FlatOptions,
  apiVersion: ApiVersion,
): Pick<SourceConfig, "resourceApiVersion" | "initialFetchTimeoutMs" | "dialect" | "parameters"> {
  const { parameters } = options;
  return {
    resourceApiVersion: options.resourceApiVersion ?? apiVersion,
    initialFetchTimeoutMs: options.initialFetchTimeoutMs ?? INITIAL_FETCH_TIMEOUT_MS,
    dialect: dialectIn(options),
    parameters: parameters === undefined ? undefined : new Map(Object.entries(parameters)),
  };
}

function serverOf(options: FlatOptions, address: string): ServerConfig {
  const { keepalive = KEEPALIVE, headers = {} } = options;
  return {
    name: address,
    target: address,
    tls: tlsOf(options.tls),
    keepalive: keepalive === false ? undefined : keepalive,
    tcpKeepalive: undefined,
    maxResponseBytes: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
    headers: Object.entries(headers),
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  };
}

function tlsOf(tls: FlatOptions["tls"]): TlsConfig | undefined {
  if (tls === undefined || tls === false) return undefined;
  return tls === true ? systemTls : { ...systemTls, ...tls };
}

function nodeOf(node: FlatOptions["node"]): Node {
  return withFields(anonymousNode, typeof node === "string" ? { id: node } : (node ?? {}));
}
