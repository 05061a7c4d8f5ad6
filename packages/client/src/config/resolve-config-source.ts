import type { EnvoyApi } from "@xdskit/envoy-api";
import { type ApiVersion, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { ConfigProblem } from "../error.ts";
import { documentOf } from "./bootstrap-document.ts";
import type { AuthoritySource, ClientConfig, SourceConfig } from "./client-config.ts";
import type { ConfigDefaults } from "./config-defaults.ts";
import { finderIn, isOnDisk, readConfigSource } from "./config-source.ts";
import { readMessage } from "./message-reader.ts";
import { at, isPresent, type Place } from "./place.ts";
import { Problems } from "./problems.ts";

/** The context of a `ConfigSource`. */
export interface ConfigSourceSite {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** The source that `self` stands for: that of the enclosing resource. */
  readonly self: SourceConfig | undefined;
  /**
   * The API version of the message.
   * @default "v3"
   */
  readonly version?: ApiVersion;
  /** The type to request there. */
  readonly type?: TypeUrl;
  readonly defaults?: ConfigDefaults;
  readonly fileExists?: (path: string) => boolean;
}

/** A resolved `ConfigSource`; `resolved` is undefined after an error. */
export interface ResolvedConfigSource {
  /** The source, and the authorities of xdstp names that it serves (C-XTP-08). */
  readonly resolved?: AuthoritySource;
  readonly problems: readonly ConfigProblem[];
}

/** The v3 message also has all fields of v2, with the same numbers. */
const MESSAGE = "envoy.config.core.v3.ConfigSource";

/**
 * Resolves a `ConfigSource` in a Listener, a Cluster, a Secret or elsewhere: encoded, or as a JSON value (C-CFG-02).
 * Equal ones resolve to sources with the same id. Does not throw.
 */
export function resolveConfigSource(source: unknown, site: ConfigSourceSite): ResolvedConfigSource {
  const problems = new Problems();
  const { value, problems: unreadable } = readInput(source, site);
  if (unreadable.length > 0) return { problems: unreadable };
  const resolved = resolve(value, site, problems);
  const document = documentOf(value, undefined);
  return {
    problems: problems.all.map((problem) => document.locate(problem)),
    ...(resolved !== undefined && !problems.hasErrors && { resolved }),
  };
}

function readInput(
  source: unknown,
  { api }: ConfigSourceSite,
): { readonly value?: unknown; readonly problems: readonly ConfigProblem[] } {
  if (!(source instanceof Uint8Array)) return documentOf(source, undefined);
  try {
    const json = api.toJson(formatTypeUrl(MESSAGE), source, { names: "proto" });
    const { "@type": _, ...fields } = { ...(json as Readonly<Record<string, unknown>>) };
    return { value: fields, problems: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problems: [{ severity: "error", message, path: "" }] };
  }
}

function resolve(value: unknown, site: ConfigSourceSite, problems: Problems): AuthoritySource | undefined {
  const { api, config, self, version = "v3", defaults = {}, fileExists = isOnDisk } = site;
  const reading = { api, isLenient: defaults.isLenient ?? true };
  const place = readMessage(MESSAGE, { value, path: [] }, reading, problems)?.place;
  if (place === undefined) return undefined;
  if (!isAllowed(place, config, problems)) return undefined;
  const context = {
    findServer: finderIn(config.servers),
    autoVersion: defaults.autoVersion ?? version,
    defaults,
    ads: config.ads,
    hasAds: config.ads !== undefined,
    self,
    fileExists,
  };
  const resolved = readConfigSource(place, context, problems);
  if (resolved !== undefined) checkTransport(place, resolved.source, site, problems);
  return resolved;
}

/** A gRPC-like client uses only the servers of its bootstrap (C-ADS-06). */
function isAllowed(place: Place, { mode }: ClientConfig, problems: Problems): boolean {
  if (mode === "proxy" || isPresent(at(place, "ads")) || isPresent(at(place, "self"))) return true;
  problems.error(place.path, "expected ads or self, which is all that a client that is no proxy is sent to");
  return false;
}

/** Types with only a delta method need delta streams (B-DLT-01, B-RST-05). */
function checkTransport(place: Place, source: SourceConfig, { api, type }: ConfigSourceSite, problems: Problems): void {
  const kind = type === undefined ? undefined : api.traits(type)?.kind;
  if (kind !== "vhds" && kind !== "leds") return;
  if (source.kind === "grpc" && source.variant === "delta") return;
  const got = source.kind === "grpc" ? "State of the World" : source.kind;
  problems.error(place.path, `expected a source in delta, which is all that ${kind.toUpperCase()} has, got ${got}`);
}
