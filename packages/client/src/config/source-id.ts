import { contentDigest } from "@xdskit/envoy-api";
import type { FileSource, GrpcSource, RestSource, ServerConfig, SourceConfig } from "./client-config.ts";

/** A source that has no id yet. */
type Unnamed<S extends SourceConfig> = Omit<S, "id">;

const DIGEST_CHARACTERS = 12;

/**
 * Gives a source its id: a few words for people, and a digest of all that makes it what it is. Secrets are in the digest only.
 * What an aggregated source is asked for does not count: everything that says `ads` is one stream (C-ADS-02).
 */
export function namedGrpcSource(source: Unnamed<GrpcSource>): GrpcSource {
  const { initialFetchTimeoutMs, resourceApiVersion, ...stream } = source;
  const words = `${source.isAggregated ? "ads" : "grpc"}:${namesOf(source.servers)}`;
  const whole = source.isAggregated ? stream : { ...stream, initialFetchTimeoutMs, resourceApiVersion };
  return { id: idOf(words, whole), ...source };
}

export function namedRestSource(source: Unnamed<RestSource>): RestSource {
  return { id: idOf(`rest:${namesOf(source.servers)}`, source), ...source };
}

export function namedFileSource(source: Unnamed<FileSource>): FileSource {
  return { id: idOf(`file:${source.path}`, source), ...source };
}

function namesOf(servers: readonly ServerConfig[]): string {
  return servers.map(({ name }) => name).join(",");
}

/** One word, whatever is in it: it stands in front of names. */
function idOf(words: string, whole: unknown): string {
  return `${words.replaceAll(/[\s\p{Cc}]/gu, encodeURIComponent)}#${digestOf(whole)}`;
}

function digestOf(whole: unknown): string {
  return contentDigest([canonicalText(whole)])
    .toString(36)
    .slice(0, DIGEST_CHARACTERS);
}

/** The same text for equal values, in whatever order their fields stand. */
function canonicalText(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("base64")}`;
  if (value instanceof Map) return canonicalText([...value].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field)}`).join(",")}}`;
}
