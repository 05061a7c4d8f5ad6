import { existsSync } from "node:fs";
import { nearestName } from "@xdskit/protocol/internal";
import { type ApiSourceContext, type AroundSource, readApiSource, versionAt } from "./api-config-source.ts";
import type { AuthoritySource, FileSource, GrpcSource, ServerConfig, SourceConfig } from "./client-config.ts";
import { dialectOf, INITIAL_FETCH_TIMEOUT_MS } from "./config-defaults.ts";
import type { ServerFinder } from "./grpc-service.ts";
import { at, durationMsOf, isPresent, itemsOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";
import { namedFileSource } from "./source-id.ts";

/** What reading a `ConfigSource` needs. */
export interface SourceContext extends ApiSourceContext {
  /** The source that `ads` stands for. */
  readonly ads: GrpcSource | undefined;
  /** Whether `ads` is configured, even if it is invalid and already reported. */
  readonly hasAds: boolean;
  /** The source that `self` stands for: that of the enclosing resource. */
  readonly self: SourceConfig | undefined;
  readonly fileExists: (path: string) => boolean;
}

/** Reads a `ConfigSource` and the authorities that it serves (C-XTP-08); undefined after an error. */
export function readConfigSource(
  source: Place,
  context: SourceContext,
  problems: Problems,
): AuthoritySource | undefined {
  const authorities = itemsOf(at(source, "authorities")).map((authority) => textOf(at(authority, "name")));
  const config = readSource(source, context, problems);
  return config && { authorities, source: config };
}

/** Whether a file or directory exists. */
export function isOnDisk(path: string): boolean {
  return existsSync(path);
}

/** Finds servers among clusters that are already read. */
export function finderIn(servers: ReadonlyMap<string, ServerConfig>): ServerFinder {
  return (name, _, problems) => {
    const server = servers.get(textOf(name));
    if (server === undefined) tellUnknownServer(name, servers.keys(), problems);
    return server;
  };
}

/** Reports a cluster name that is not in the bootstrap, or whose cluster cannot be a server. */
export function tellUnknownServer(name: Place, known: Iterable<string>, problems: Problems): void {
  const text = textOf(name);
  const nearest = nearestName(text, known);
  const hint = nearest === undefined ? undefined : `did you mean ${JSON.stringify(nearest)}?`;
  problems.error(
    name.path,
    `expected the name of a static cluster of the bootstrap, got ${JSON.stringify(text)}`,
    hint,
  );
}

function readSource(source: Place, context: SourceContext, problems: Problems): SourceConfig | undefined {
  const around: AroundSource = {
    initialFetchTimeoutMs: durationMsOf(at(source, "initial_fetch_timeout")) ?? INITIAL_FETCH_TIMEOUT_MS,
    resourceApiVersion: versionAt(source, "resource_api_version", context),
  };
  const api = at(source, "api_config_source");
  if (isPresent(api)) return readApiSource(api, around, context, problems);
  const ads = at(source, "ads");
  if (isPresent(ads)) return readAds(ads, around, context, problems);
  const self = at(source, "self");
  if (isPresent(self)) return readSelf(self, context, problems);
  const path = at(source, "path");
  if (isPresent(path)) return readFileSource(path, undefined, around, context, problems);
  const file = at(source, "path_config_source");
  if (isPresent(file)) {
    return readFileSource(at(file, "path"), at(file, "watched_directory", "path"), around, context, problems);
  }
  problems.error(source.path, "expected one of ads, api_config_source, path_config_source, self");
  return undefined;
}

/** The ADS stream, with the settings of this `ConfigSource` (C-CFG-01). */
function readAds(ads: Place, around: AroundSource, context: SourceContext, problems: Problems): GrpcSource | undefined {
  if (!context.hasAds) {
    problems.error(ads.path, "expected an ads_config in dynamic_resources, which ads stands for");
  }
  return context.ads && { ...context.ads, ...around };
}

function readSelf(self: Place, context: SourceContext, problems: Problems): SourceConfig | undefined {
  if (context.self === undefined) {
    problems.error(
      self.path,
      "expected a source of its own: self is where a resource came from, and this is no resource",
    );
  }
  return context.self;
}

function readFileSource(
  path: Place,
  directory: Place | undefined,
  around: AroundSource,
  { defaults, fileExists }: SourceContext,
  problems: Problems,
): FileSource | undefined {
  const watchedDirectory = directory === undefined ? "" : textOf(directory);
  const isThere = isFound(path, textOf(path), fileExists, problems);
  if (directory !== undefined && watchedDirectory !== "") isFound(directory, watchedDirectory, fileExists, problems);
  if (!isThere) return undefined;
  return namedFileSource({
    kind: "file",
    ...around,
    dialect: dialectOf(defaults),
    parameters: defaults.parameters,
    path: textOf(path),
    watchedDirectory: watchedDirectory === "" ? undefined : watchedDirectory,
    isMoveOnly: defaults.isMoveOnly ?? false,
    ...(defaults.fileFormat !== undefined && { format: defaults.fileFormat }),
  });
}

/** A path missing at startup is an error; one removed later is not (C-FS-11). */
function isFound(place: Place, path: string, fileExists: (path: string) => boolean, problems: Problems): boolean {
  if (path !== "" && fileExists(path)) return true;
  problems.error(place.path, `expected a path that exists, got ${JSON.stringify(path)}`);
  return false;
}
