import { type ApiVersion, type Node, parseResourceName } from "@xdskit/protocol";
import type { ValuePath } from "@xdskit/protocol/internal";
import { isObject } from "@xdskit/protocol/internal";
import { readAdsSource, readSideSource } from "./api-config-source.ts";
import { authorityFor } from "./authority.ts";
import { readBootstrapClusters, type StaticServers } from "./bootstrap-clusters.ts";
import { snakeCase, versionOfBootstrap } from "./bootstrap-version.ts";
import type { ClientConfig, RootSource, StaticResource } from "./client-config.ts";
import type { ConfigOptions } from "./config-defaults.ts";
import { isOnDisk, readConfigSource, type SourceContext } from "./config-source.ts";
import { type MessageReading, readMessage } from "./message-reader.ts";
import { nodeContextParams, readNode } from "./node-config.ts";
import { at, firstOf, isPresent, itemsOf, type Place, textOf } from "./place.ts";
import { Problems } from "./problems.ts";
import { readStaticListeners } from "./static-listeners.ts";

/** The bootstrap messages of each API version. */
const messageNames = {
  v2: { bootstrap: "envoy.config.bootstrap.v2.Bootstrap", node: "envoy.api.v2.core.Node" },
  v3: { bootstrap: "envoy.config.bootstrap.v3.Bootstrap", node: "envoy.config.core.v3.Node" },
} as const;

/** The v3 message also has the fields of v2 sources, including those accepted by releases of both versions. */
const SOURCES_MESSAGE = messageNames.v3.bootstrap;

/** The fields that a client reads, besides clusters and the node. */
const sourceFields: readonly string[] = [
  "node_context_params",
  "dynamic_resources",
  "config_sources",
  "default_config_source",
  "hds_config",
  "layered_runtime",
];
/** Fields of which a client reads only a part. */
const partlyTaken: ReadonlyMap<string, readonly string[]> = new Map([
  ["cluster_manager", ["load_stats_config"]],
  ["static_resources", ["listeners", "clusters", "secrets"]],
]);

/**
 * Reads an Envoy bootstrap, v2 or v3 (C-CFG-01 to C-CFG-06). Parts that only Envoy uses are checked, but mistakes in
 * them are warnings.
 */
export function readEnvoyBootstrap(bootstrap: Place, options: ConfigOptions, problems: Problems): ClientConfig {
  const { api, defaults = {} } = options;
  const version = versionOfBootstrap(bootstrap.value) ?? defaults.autoVersion ?? "v3";
  const reading: MessageReading = { api, isLenient: defaults.isLenient ?? true };
  const names = messageNames[version];
  const node = readNode(names.node, at(bootstrap, "node"), { ...reading, defaults }, problems);
  const resources = at(bootstrap, ...spelled(bootstrap, "static_resources"));
  const servers = readBootstrapClusters(resources, { reading, version, defaults, problems });
  const listeners = readStaticListeners(at(resources, "listeners"), { reading, version, problems });
  const staticResources = [...listeners, ...servers.resources];
  const message = readMessage(SOURCES_MESSAGE, withSources(bootstrap), reading, problems);
  checkTheRest(names.bootstrap, bootstrap, reading, problems);
  const read = message?.place ?? { value: {}, path: bootstrap.path };
  return { ...readSources(read, { node: node.node, servers, staticResources, version, options, problems }), ...node };
}

interface SourcesReading {
  readonly node: Node;
  readonly servers: StaticServers;
  readonly staticResources: readonly StaticResource[];
  readonly version: ApiVersion;
  readonly options: ConfigOptions;
  readonly problems: Problems;
}

function readSources(
  bootstrap: Place,
  { node, servers, staticResources, version, options, problems }: SourcesReading,
): ClientConfig {
  const { defaults = {}, fileExists = isOnDisk } = options;
  const dynamic = at(bootstrap, "dynamic_resources");
  const api = { findServer: servers.find, autoVersion: defaults.autoVersion ?? version, defaults };
  const adsConfig = at(dynamic, "ads_config");
  const ads = isPresent(adsConfig) ? readAdsSource(adsConfig, api, problems) : undefined;
  const context: SourceContext = { ...api, ads, hasAds: isPresent(adsConfig), self: undefined, fileExists };
  const readAt = (place: Place) => (isPresent(place) ? readConfigSource(place, context, problems) : undefined);
  const sideAt = (place: Place) => (isPresent(place) ? readSideSource(place, api, problems) : undefined);
  const config: ClientConfig = {
    node,
    nodeBytes: undefined,
    mode: defaults.mode ?? "proxy",
    ads,
    listeners: undefined,
    clusters: undefined,
    authorities: itemsOf(at(bootstrap, "config_sources")).flatMap((place) => readAt(place) ?? []),
    defaultSource: readAt(at(bootstrap, "default_config_source"))?.source,
    loadReports: sideAt(at(bootstrap, "cluster_manager", "load_stats_config")),
    healthChecks: sideAt(at(bootstrap, "hds_config")),
    runtimeLayers: itemsOf(at(bootstrap, "layered_runtime", "layers")).flatMap((layer) => {
      const rtds = at(layer, "rtds_layer");
      const source = readAt(at(rtds, "rtds_config"))?.source;
      return source === undefined ? [] : [{ name: textOf(at(rtds, "name")) || textOf(at(layer, "name")), source }];
    }),
    nodeContextParams: nodeContextParams(itemsOf(at(bootstrap, "node_context_params")), node, problems),
    servers: servers.all,
    staticResources,
  };
  const rootOf = (prefix: "lds" | "cds", message: string): RootSource | undefined => {
    const source = readAt(at(dynamic, `${prefix}_config`))?.source;
    const locator = at(dynamic, `${prefix}_resources_locator`);
    return isPresent(locator)
      ? locatedRoot(locator, { message, source: source ?? authorityFor(textOf(locator), config) }, problems)
      : source && { source, locator: undefined };
  };
  return {
    ...config,
    listeners: rootOf("lds", "envoy.config.listener.v3.Listener"),
    clusters: rootOf("cds", "envoy.config.cluster.v3.Cluster"),
  };
}

/** A collection instead of a wildcard (C-XTP-12). */
function locatedRoot(
  locator: Place,
  { message, source }: { readonly message: string; readonly source: RootSource["source"] | undefined },
  problems: Problems,
): RootSource | undefined {
  const name = parseResourceName(textOf(locator));
  const isOfType = name !== undefined && (name.isGlob ? name.type === message : name.type === `${message}Collection`);
  if (!isOfType) {
    problems.error(
      locator.path,
      `expected the xdstp name of a collection of ${message}, got ${JSON.stringify(textOf(locator))}`,
      `such as xdstp://authority/${message}/directory/*`,
    );
    return undefined;
  }
  if (source === undefined) {
    problems.error(locator.path, `expected a source for the authority ${JSON.stringify(name.authority)}, got none`);
    return undefined;
  }
  return { source, locator: textOf(locator) };
}

/** Only the parts of the bootstrap that name sources or servers. */
function withSources({ value, path }: Place): Place {
  const part = mapFields(value, (name, field) => {
    if (name !== "cluster_manager") return sourceFields.includes(name) ? field : undefined;
    return mapFields(field, (inner, own) => (isPartlyTaken(name, inner) ? own : undefined));
  });
  return { value: part, path };
}

/** Checks tracing, statistics and the like; mistakes in them concern only Envoy. */
function checkTheRest(messageName: string, bootstrap: Place, reading: MessageReading, problems: Problems): void {
  const rest = mapFields(bootstrap.value, (name, field) => {
    if (name === "node" || sourceFields.includes(name)) return undefined;
    if (!isObject(field) || !partlyTaken.has(name)) return field;
    return mapFields(field, (inner, own) => (isPartlyTaken(name, inner) ? undefined : own));
  });
  const found = new Problems();
  readMessage(messageName, { value: rest, path: bootstrap.path }, reading, found);
  // An unknown field may be a misspelled one that the client needs.
  for (const problem of found.all) if (problem.path.length === 1) problems.unread(problem);
  problems.takeOver(found, "warning");
}

function isPartlyTaken(field: string, inner: string): boolean {
  return partlyTaken.get(field)?.includes(inner) === true;
}

/** Maps the fields of an object by their proto names; drops undefined results. */
function mapFields(value: unknown, map: (name: string, field: unknown) => unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) return {};
  const mapped = Object.entries(value).map(([key, field]) => [key, map(snakeCase(key), field)] as const);
  return Object.fromEntries(mapped.filter(([, field]) => field !== undefined));
}

/** The path of a field in a value with either spelling. */
function spelled(place: Place, field: string): ValuePath & readonly string[] {
  const camel = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return isPresent(firstOf(place, [field], [camel])) && !isPresent(at(place, field)) ? [camel] : [field];
}
