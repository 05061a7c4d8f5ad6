import { type ClientDialect, clientDialect } from "@xdskit/protocol";
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

/** A source that has no id yet. */
type Unnamed<S extends SourceConfig> = Omit<S, "id">;

/** Few enough to be read, and enough that no two sources of one client share them. */
const DIGEST_CHARACTERS = 7;

/**
 * Gives a source its id: how it is spoken to, and the names of its servers, such as `ads-delta:xds_server`. What is not as it is unless said otherwise stands
 * behind in a digest, `ads-delta:xds_server#k3f9aq1`, so that two sources are never taken for one, and secrets are not told. The id of a source is the same in
 * every process and release, for whoever compares logs and stats. What an aggregated source is asked for does not count: everything that says `ads` is one stream
 * (C-ADS-02). It is one word, whatever its servers are called: it stands in front of names.
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

/** As options have them that say nothing. */
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

/** How long is waited for what is asked for, and in which version that is. */
function askedIn(source: Pick<GrpcSource, "initialFetchTimeoutMs" | "resourceApiVersion" | "apiVersion">): object {
  const { initialFetchTimeoutMs, resourceApiVersion, apiVersion } = source;
  const usual = { initialFetchTimeoutMs: INITIAL_FETCH_TIMEOUT_MS, resourceApiVersion: apiVersion };
  return differences({ initialFetchTimeoutMs, resourceApiVersion }, usual);
}

/** Servers that are more than the address that they are called by. */
function serversIn(servers: readonly ServerConfig[]): object {
  const unusual = servers.map(({ name, ...server }) => differences(server, { ...usualServer, target: name }));
  return unusual.every((server) => Object.keys(server).length === 0) ? {} : { servers: unusual };
}

function dialectIn(dialect: ClientDialect): object {
  const unusual = differences(dialect, clientDialect());
  return Object.keys(unusual).length === 0 ? {} : { dialect: unusual };
}

/** The fields that are not as usual, which is nothing unless said: so a field that is new one day changes no id. */
function differences(value: object, usual: object): object {
  const known = new Map<string, unknown>(Object.entries(usual));
  const isUsual = (name: string, field: unknown): boolean =>
    canonicalText(isNothing(field) ? undefined : field) === canonicalText(known.get(name));
  return Object.fromEntries(Object.entries(value).filter(([name, field]) => !isUsual(name, field)));
}

function isNothing(field: unknown): boolean {
  return field === undefined || (Array.isArray(field) && field.length === 0);
}
