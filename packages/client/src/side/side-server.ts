import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, BackOff } from "@xdskit/protocol";
import type { ClientConfig, GrpcSource, ServerConfig, SourceConfig } from "../config/client-config.ts";
import { type ConfigDefaults, envoyBackOff } from "../config/config-defaults.ts";
import { resolveConfigSource } from "../config/resolve-config-source.ts";
import { XdsClientError } from "../error.ts";
import type { XdsResource } from "../resource/xds-resource.ts";
import { sourceOf } from "../routing/route.ts";

/** A server for calls beside discovery, and how to call it. */
export interface SideServer {
  readonly server: ServerConfig;
  /** The API version of the method. */
  readonly apiVersion: ApiVersion;
  readonly backOff: BackOff;
}

/** The purposes of calls beside discovery. */
export type SidePurpose = "loadReports" | "healthChecks";

/** What finding side servers needs. */
export interface SideServerParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** Defaults for config sources in resources. */
  readonly defaults: ConfigDefaults;
}

/**
 * The server that the program gives, else the bootstrap's for the purpose, else the best server of the configuration.
 */
export function sideServerFor(
  purpose: SidePurpose,
  wanted: { readonly server?: ServerConfig | undefined; readonly apiVersion?: ApiVersion | undefined },
  config: ClientConfig,
): SideServer {
  const source = config[purpose] ?? mainSourceOf(config);
  const { server = source?.servers[0], apiVersion = source?.apiVersion ?? "v3" } = wanted;
  if (server === undefined)
    throw new XdsClientError("TYPE_UNSUPPORTED", "the configuration has no server of gRPC, and none was given");
  return { server, apiVersion, backOff: source?.backOff ?? envoyBackOff };
}

/**
 * The server in the `lrs_server` of a Cluster: a source, or `self`, the Cluster's own source (C-LRS-01). Undefined:
 * none. Throws an `XdsClientError` (`CONFIG_INVALID`) if it cannot be resolved or is no gRPC server.
 */
export function loadServerOf(cluster: XdsResource, { api, config, defaults }: SideServerParts): SideServer | undefined {
  const { lrsServer } = { ...(cluster.json as { readonly lrsServer?: unknown }) };
  if (lrsServer === undefined || lrsServer === null) return undefined;
  const self = sourceOf(config, "cds", cluster.name);
  const { resolved, problems } = resolveConfigSource(lrsServer, { api, config, defaults, self });
  const server = serverOf(resolved?.source);
  if (server !== undefined) return server;
  const why =
    problems.find(({ severity }) => severity === "error")?.message ?? `expected gRPC, got ${resolved?.source.kind}`;
  throw new XdsClientError("CONFIG_INVALID", `lrs_server of ${cluster.key}: ${why}`, { problems });
}

/** The main gRPC source of the configuration. */
function mainSourceOf(config: ClientConfig): GrpcSource | undefined {
  const { ads, defaultSource, clusters, listeners, authorities } = config;
  const sources = [ads, defaultSource, clusters?.source, listeners?.source, ...authorities.map(({ source }) => source)];
  return sources.find((source) => source?.kind === "grpc");
}

function serverOf(source: SourceConfig | undefined): SideServer | undefined {
  if (source?.kind !== "grpc") return undefined;
  const {
    servers: [server],
    apiVersion,
    backOff,
  } = source;
  return server && { server, apiVersion, backOff };
}
