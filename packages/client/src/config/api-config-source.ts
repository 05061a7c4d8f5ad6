import type { ApiVersion, RateLimit } from "@xdskit/protocol";
import type { GrpcSource, RestSource, ServerConfig } from "./client-config.ts";
import {
  type ConfigDefaults,
  dialectOf,
  envoyBackOff,
  INITIAL_FETCH_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
} from "./config-defaults.ts";
import { backOffOf, readGrpcService, type ServerFinder } from "./grpc-service.ts";
import { at, durationMsOf, isPresent, isTrue, itemsOf, numberOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";
import { namedGrpcSource, namedRestSource } from "./source-id.ts";

/** What reading an `ApiConfigSource` needs. */
export interface ApiSourceContext {
  readonly findServer: ServerFinder;
  /** The version that `AUTO` stands for. */
  readonly autoVersion: ApiVersion;
  readonly defaults: ConfigDefaults;
}

/** The settings of the enclosing `ConfigSource`. */
export interface AroundSource {
  readonly initialFetchTimeoutMs: number;
  readonly resourceApiVersion: ApiVersion;
}

const MAX_TOKENS = 100;
const TOKENS_PER_SECOND = 10;
/** Envoy crashes at a delay below a millisecond, and a client would poll without a pause. */
const SHORTEST_DELAY_MS = 1;

const apiTypes = ["REST", "GRPC", "DELTA_GRPC", "AGGREGATED_GRPC", "AGGREGATED_DELTA_GRPC"] as const;
type ApiType = (typeof apiTypes)[number];

/** Reads an `ApiConfigSource`; undefined after an error. */
export function readApiSource(
  api: Place,
  around: AroundSource,
  context: ApiSourceContext,
  problems: Problems,
): GrpcSource | RestSource | undefined {
  const type = apiTypeOf(api, problems);
  if (type === undefined) return undefined;
  if (type === "REST") return readRestSource(api, around, context, problems);
  return readGrpcSource(api, { ...around, type, isAggregated: type.startsWith("AGGREGATED") }, context, problems);
}

/** Reads `load_stats_config` or `hds_config`: a separate call beside discovery, over gRPC only. */
export function readSideSource(api: Place, context: ApiSourceContext, problems: Problems): GrpcSource | undefined {
  const type = apiTypeOf(api, problems);
  if (type === undefined) return undefined;
  if (type !== "GRPC") {
    problems.error([...api.path, "api_type"], `expected GRPC, got ${type}: there is no other way for it`);
    return undefined;
  }
  return readGrpcSource(api, { ...aroundNothing(api, context), type, isAggregated: false }, context, problems);
}

/** Reads `dynamic_resources.ads_config`: one stream for all types (C-ADS-02, C-ADS-03). */
export function readAdsSource(api: Place, context: ApiSourceContext, problems: Problems): GrpcSource | undefined {
  const type = apiTypeOf(api, problems);
  if (type === undefined) return undefined;
  if (type === "REST") {
    problems.error([...api.path, "api_type"], "expected GRPC or DELTA_GRPC, got REST: there is no ADS over REST");
    return undefined;
  }
  // Each config source with `ads` has its own surrounding settings.
  return readGrpcSource(api, { ...aroundNothing(api, context), type, isAggregated: true }, context, problems);
}

function aroundNothing(api: Place, context: ApiSourceContext): AroundSource {
  return {
    initialFetchTimeoutMs: INITIAL_FETCH_TIMEOUT_MS,
    resourceApiVersion: versionAt(api, "transport_api_version", context),
  };
}

/** The API version in a field; `AUTO` stands for that of the context (C-TYP-11). */
export function versionAt(
  place: Place,
  field: string,
  { autoVersion }: Pick<ApiSourceContext, "autoVersion">,
): ApiVersion {
  const version = textOf(at(place, field));
  if (version === "V2") return "v2";
  return version === "V3" ? "v3" : autoVersion;
}

function apiTypeOf(api: Place, problems: Problems): ApiType | undefined {
  const text = textOf(at(api, "api_type"));
  const type = apiTypes.find((each) => each === text);
  if (type === undefined) {
    const got = text === "" ? "nothing" : text;
    problems.error([...api.path, "api_type"], `expected one of ${apiTypes.join(", ")}, got ${got}`);
  }
  return type;
}

function readRestSource(
  api: Place,
  around: AroundSource,
  context: ApiSourceContext,
  problems: Problems,
): RestSource | undefined {
  const delay = at(api, "refresh_delay");
  const refreshDelayMs = durationMsOf(delay) ?? 0;
  if (refreshDelayMs < SHORTEST_DELAY_MS) {
    const message = isPresent(delay)
      ? `expected a refresh_delay of at least 0.001s, got ${String(delay.value)}`
      : "expected a refresh_delay, which REST has no default for";
    problems.error(delay.path, message, "write how long to wait between two polls, such as 5s");
  }
  const timeout = at(api, "request_timeout");
  const requestTimeoutMs = durationMsOf(timeout) ?? REQUEST_TIMEOUT_MS;
  if (requestTimeoutMs <= 0)
    problems.error(timeout.path, `expected a request_timeout above 0, got ${String(timeout.value)}`);
  if (itemsOf(at(api, "grpc_services")).length > 0) {
    problems.error([...api.path, "grpc_services"], "expected cluster_names for REST, got grpc_services");
  }
  const servers = serversNamed(at(api, "cluster_names"), "rest", context, problems);
  if (servers === undefined || refreshDelayMs < SHORTEST_DELAY_MS || requestTimeoutMs <= 0) return undefined;
  return namedRestSource({
    kind: "rest",
    ...around,
    dialect: dialectOf(context.defaults),
    parameters: context.defaults.parameters,
    apiVersion: versionAt(api, "transport_api_version", context),
    servers,
    refreshDelayMs,
    requestTimeoutMs,
  });
}

interface GrpcAround extends AroundSource {
  readonly type: Exclude<ApiType, "REST">;
  readonly isAggregated: boolean;
}

function readGrpcSource(
  api: Place,
  { type, ...around }: GrpcAround,
  context: ApiSourceContext,
  problems: Problems,
): GrpcSource | undefined {
  const services = itemsOf(at(api, "grpc_services"));
  const rateLimit = rateLimitOf(at(api, "rate_limit_settings"), problems);
  const servers = services.length > 0 ? serversOf(services, context, problems) : oldServersOf(api, context, problems);
  const [first] = services;
  if (servers === undefined) return undefined;
  return namedGrpcSource({
    kind: "grpc",
    ...around,
    dialect: dialectOf(context.defaults),
    parameters: context.defaults.parameters,
    apiVersion: versionAt(api, "transport_api_version", context),
    servers,
    variant: type.endsWith("DELTA_GRPC") ? "delta" : "sotw",
    // One stream must not mix the state of two servers (C-FBK-03).
    failover: around.isAggregated && servers.length > 1 ? "fallback" : "cycle",
    nodeIn: isTrue(at(api, "set_node_on_first_message_only")) ? "first-request" : "every-request",
    rateLimit,
    backOff: (first && backOffOf(first)) ?? context.defaults.backOff ?? envoyBackOff,
  });
}

/** Undefined if there is no server, or one of them cannot be read. */
function serversOf(
  services: readonly Place[],
  { findServer }: ApiSourceContext,
  problems: Problems,
): readonly ServerConfig[] | undefined {
  const servers = services.map((service) => readGrpcService(service, findServer, problems));
  return allOf(servers);
}

/** Reads `cluster_names`, which the first releases also had for gRPC (C-CFG-03). */
function oldServersOf(api: Place, context: ApiSourceContext, problems: Problems): readonly ServerConfig[] | undefined {
  const names = at(api, "cluster_names");
  if (itemsOf(names).length === 0) {
    problems.error([...api.path, "grpc_services"], "expected at least one server in grpc_services");
    return undefined;
  }
  problems.warning(names.path, "expected grpc_services, got cluster_names, which is of old releases, or for REST");
  return serversNamed(names, "grpc", context, problems);
}

function serversNamed(
  names: Place,
  protocol: "grpc" | "rest",
  { findServer }: ApiSourceContext,
  problems: Problems,
): readonly ServerConfig[] | undefined {
  if (itemsOf(names).length === 0) {
    problems.error(names.path, "expected at least one server in cluster_names");
    return undefined;
  }
  return allOf(itemsOf(names).map((name) => findServer(name, protocol, problems)));
}

function allOf(servers: readonly (ServerConfig | undefined)[]): readonly ServerConfig[] | undefined {
  const found = servers.filter((server) => server !== undefined);
  return found.length === servers.length ? found : undefined;
}

/** Undefined without settings; their missing fields have defaults (C-CFG-07). */
function rateLimitOf(settings: Place, problems: Problems): RateLimit | undefined {
  if (!isPresent(settings)) return undefined;
  const maxTokens = numberOf(at(settings, "max_tokens")) ?? MAX_TOKENS;
  const tokensPerSecond = numberOf(at(settings, "fill_rate")) ?? TOKENS_PER_SECOND;
  if (tokensPerSecond <= 0) problems.error([...settings.path, "fill_rate"], "expected a fill_rate above 0");
  if (maxTokens <= 0) problems.error([...settings.path, "max_tokens"], "expected max_tokens above 0");
  return { maxTokens, tokensPerSecond };
}
