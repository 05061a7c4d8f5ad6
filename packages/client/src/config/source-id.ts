import type { ClientDialect } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol/internal";
import type { FileSource, GrpcSource, RestSource, ServerConfig, SourceConfig } from "./client-config.ts";
import {
  CONNECT_TIMEOUT_MS,
  envoyBackOff,
  INITIAL_FETCH_TIMEOUT_MS,
  KEEPALIVE,
  MAX_RESPONSE_BYTES,
  REFRESH_DELAY_MS,
  REQUEST_TIMEOUT_MS,
} from "./config-defaults.ts";
import { canonicalText, shortDigest } from "./content-digest.ts";

/** A source without an id. */
type Unnamed<S extends SourceConfig> = Omit<S, "id">;

/** Short enough to read, long enough that no two sources of a client collide. */
const DIGEST_CHARACTERS = 7;

/**
 * Gives a source its id: protocol and server names, such as `ads-delta:xds_server`. A digest of non-default settings
 * follows, as in `ads-delta:xds_server#k3f9aq1`, so that different sources never share an id and no secret shows. The
 * id is the same in every process and release, for comparing logs and stats. Settings of single types do not count for
 * an aggregated source: every `ads` is one stream (C-ADS-02). The id is one word without spaces, because it stands in
 * front of names.
 */
export function namedGrpcSource(source: Unnamed<GrpcSource>): GrpcSource {
  const { variant, isAggregated, servers, dialect, backOff, nodeIn, failover, rateLimit, parameters } = source;
  const words = [isAggregated ? "ads" : "grpc", ...(variant === "delta" ? [variant] : []), ...versionIn(source)];
  const unusual = {
    ...differences({ backOff, nodeIn, failover, rateLimit, parameters }, usualStream),
    ...(isAggregated ? {} : askedIn(source)),
    ...serversIn(servers),
    ...dialectIn(dialect),
  };
  return { id: idOf(words, namesOf(servers), unusual), ...source };
}

export function namedRestSource(source: Unnamed<RestSource>): RestSource {
  const { servers, refreshDelayMs, requestTimeoutMs, parameters, dialect } = source;
  const own = differences({ refreshDelayMs, requestTimeoutMs, parameters }, usualPolls);
  const unusual = { ...own, ...askedIn(source), ...serversIn(servers), ...dialectIn(dialect) };
  return { id: idOf(["rest", ...versionIn(source)], namesOf(servers), unusual), ...source };
}

export function namedFileSource(source: Unnamed<FileSource>): FileSource {
  const { path, watchedDirectory, isMoveOnly, format, parameters, dialect } = source;
  const own = differences({ watchedDirectory, isMoveOnly, format, parameters }, { isMoveOnly: false });
  const asked = askedIn({ ...source, apiVersion: "v3" });
  return { id: idOf(["file"], path, { ...own, ...asked, ...dialectIn(dialect) }), ...source };
}

/** The defaults of options. */
const usualStream = { backOff: envoyBackOff, nodeIn: "first-request", failover: "fallback-when-missing" };
const usualPolls = { refreshDelayMs: REFRESH_DELAY_MS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
const usualServer = {
  keepalive: KEEPALIVE,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  maxResponseBytes: MAX_RESPONSE_BYTES,
};

function idOf(words: readonly string[], where: string, unusual: object): string {
  const id = `${words.join("-")}:${where.replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent)}`;
  return Object.keys(unusual).length === 0 ? id : `${id}#${shortDigest(unusual, DIGEST_CHARACTERS)}`;
}

function namesOf(servers: readonly ServerConfig[]): string {
  return servers.map(({ name }) => name).join(",");
}

function versionIn({ apiVersion }: Pick<GrpcSource, "apiVersion">): readonly string[] {
  return apiVersion === "v3" ? [] : [apiVersion];
}

/** The settings of requests: their timeout and API version. */
function askedIn(source: Pick<GrpcSource, "initialFetchTimeoutMs" | "resourceApiVersion" | "apiVersion">): object {
  const { initialFetchTimeoutMs, resourceApiVersion, apiVersion } = source;
  const usual = { initialFetchTimeoutMs: INITIAL_FETCH_TIMEOUT_MS, resourceApiVersion: apiVersion };
  return differences({ initialFetchTimeoutMs, resourceApiVersion }, usual);
}

/** The servers with settings beyond their address. */
function serversIn(servers: readonly ServerConfig[]): object {
  const unusual = servers.map(({ name, ...server }) => differences(server, { ...usualServer, target: name }));
  return unusual.every((server) => Object.keys(server).length === 0) ? {} : { servers: unusual };
}

function dialectIn(dialect: ClientDialect): object {
  const unusual = differences(dialect, clientDialect());
  return Object.keys(unusual).length === 0 ? {} : { dialect: unusual };
}

/** The non-default fields only, so that a field added later changes no id. */
function differences(value: object, usual: object): object {
  const known = new Map<string, unknown>(Object.entries(usual));
  const isUsual = (name: string, field: unknown): boolean =>
    canonicalText(isNothing(field) ? undefined : field) === canonicalText(known.get(name));
  return Object.fromEntries(Object.entries(value).filter(([name, field]) => !isUsual(name, field)));
}

function isNothing(field: unknown): boolean {
  return field === undefined || (Array.isArray(field) && field.length === 0);
}
