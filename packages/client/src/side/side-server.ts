import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, BackOff } from "@xdskit/protocol";
import type { ClientConfig, GrpcSource, ServerConfig, SourceConfig } from "../config/client-config.ts";
import { type ConfigDefaults, envoyBackOff } from "../config/config-defaults.ts";
import { resolveConfigSource } from "../config/resolve-config-source.ts";
import { XdsClientError } from "../error.ts";
import type { XdsResource } from "../resource/xds-resource.ts";
import { sourceOf } from "../routing/route.ts";

/** A server that is called beside discovery, and how. */
export interface SideServer {
  readonly server: ServerConfig;
  /** Of the method. */
  readonly apiVersion: ApiVersion;
  readonly backOff: BackOff;
}

/** What calls beside discovery are for. */
export type SidePurpose = "loadReports" | "healthChecks";

/** What side servers are found by. */
export interface SideServerParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** What holds where a config source in a resource says nothing. */
  readonly defaults: ConfigDefaults;
}

/** The server of a program's choice, of the bootstrap's for that purpose, or else the best one that configuration comes from. */
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
 * Where a Cluster wants its load to be reported, by its `lrs_server`: a source, or `self`, where it came from itself (C-LRS-01). Undefined: nowhere. Throws an
 * `XdsClientError` (`CONFIG_INVALID`) if that cannot be resolved, or is no server of gRPC.
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

/** The source that most comes from. */
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
