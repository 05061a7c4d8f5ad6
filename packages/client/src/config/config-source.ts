import { existsSync } from "node:fs";
import { nearestName } from "@xdskit/envoy-api";
import { type ApiSourceContext, type AroundSource, readApiSource, versionAt } from "./api-config-source.ts";
import type { AuthoritySource, FileSource, GrpcSource, ServerConfig, SourceConfig } from "./client-config.ts";
import { dialectOf, INITIAL_FETCH_TIMEOUT_MS } from "./config-defaults.ts";
import type { ServerFinder } from "./grpc-service.ts";
import { at, durationMsOf, isPresent, itemsOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";
import { namedFileSource } from "./source-id.ts";

/** What a `ConfigSource` is read with. */
export interface SourceContext extends ApiSourceContext {
  /** What `ads` stands for. */
  readonly ads: GrpcSource | undefined;
  /** There is something that `ads` stands for, be it a mistake that was told. */
  readonly hasAds: boolean;
  /** What `self` stands for: where that came from which it stands in. */
  readonly self: SourceConfig | undefined;
  readonly fileExists: (path: string) => boolean;
}

/** Reads a `ConfigSource`, with the authorities that it is for (C-XTP-08); undefined after a mistake. */
export function readConfigSource(
  source: Place,
  context: SourceContext,
  problems: Problems,
): AuthoritySource | undefined {
  const authorities = itemsOf(at(source, "authorities")).map((authority) => textOf(at(authority, "name")));
  const config = readSource(source, context, problems);
  return config && { authorities, source: config };
}

/** Whether there is a file or directory of that name. */
export function isOnDisk(path: string): boolean {
  return existsSync(path);
}

/** Finds servers among clusters that were read. */
export function finderIn(servers: ReadonlyMap<string, ServerConfig>): ServerFinder {
  return (name, _, problems) => {
    const server = servers.get(textOf(name));
    if (server === undefined) tellUnknownServer(name, servers.keys(), problems);
    return server;
  };
}

/** A name of a cluster that is none of the bootstrap's, or of none that can be a server. */
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

/** The one stream for all, in what is asked of it as told here (C-CFG-01). */
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

/** What is missing from the beginning is a mistake, what goes later is not (C-FS-11). */
function isFound(place: Place, path: string, fileExists: (path: string) => boolean, problems: Problems): boolean {
  if (path !== "" && fileExists(path)) return true;
  problems.error(place.path, `expected a path that exists, got ${JSON.stringify(path)}`);
  return false;
}
