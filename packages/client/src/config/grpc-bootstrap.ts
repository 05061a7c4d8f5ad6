import type { ClientDialect } from "@xdskit/protocol";
import { isObject } from "@xdskit/protocol/internal";
import type { AuthoritySource, ClientConfig, GrpcSource, ServerConfig, TlsConfig } from "./client-config.ts";
import {
  type ConfigDefaults,
  type ConfigOptions,
  dialectOf,
  grpcBackOff,
  INITIAL_FETCH_TIMEOUT_MS,
  MAX_RESPONSE_BYTES,
  systemTls,
} from "./config-defaults.ts";
import { readNode } from "./node-config.ts";
import { at, entriesOf, isPresent, itemsOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";
import { namedGrpcSource } from "./source-id.ts";

/** The default of gRPC, in milliseconds. */
const CONNECT_TIMEOUT_MS = 20_000;
const DEFAULT_TEMPLATE = "%s";

/** Reads a gRPC bootstrap (C-CFG-09; A27, A30, A47, A53, A71, A88). Ignores unknown fields, as gRPC does. */
export function readGrpcBootstrap(bootstrap: Place, options: ConfigOptions, problems: Problems): ClientConfig {
  const { api, defaults = {} } = options;
  const reading = { api, isLenient: false, ignoresUnknown: true, defaults };
  const source = readServers(at(bootstrap, "xds_servers"), defaults, problems);
  if (source === undefined && !isPresent(at(bootstrap, "xds_servers"))) {
    problems.error([...bootstrap.path, "xds_servers"], "expected at least one server in xds_servers");
  }
  return {
    ...readNode("envoy.config.core.v3.Node", at(bootstrap, "node"), reading, problems),
    mode: defaults.mode ?? "non-proxy",
    ads: source,
    listeners: undefined,
    clusters: undefined,
    authorities: readAuthorities(bootstrap, source, defaults, problems),
    defaultSource: source,
    nodeContextParams: new Map(),
    runtimeLayers: [],
    loadReports: undefined,
    healthChecks: undefined,
    servers: new Map(),
    staticResources: undefined,
  };
}

/**
 * Reads a list of servers; a fallback server is used only if all better ones fail while a resource is missing
 * (C-FBK-02).
 */
function readServers(list: Place, defaults: ConfigDefaults, problems: Problems): GrpcSource | undefined {
  if (!isPresent(list)) return undefined;
  const places = itemsOf(list);
  const servers = places.map((place) => readServer(place, defaults, problems));
  if (places.length === 0) problems.error(list.path, "expected a list of at least one server");
  const usable = servers.filter((server) => server !== undefined);
  const [first] = places;
  if (first === undefined || usable.length !== servers.length) return undefined;
  const features = featuresOf(first);
  if (places.some((place) => dialectKey(featuresOf(place)) !== dialectKey(features))) {
    problems.warning(list.path, "expected the same server_features of all servers: those of the first are used");
  }
  const version = features.has("xds_v3") ? "v3" : (defaults.autoVersion ?? "v3");
  return namedGrpcSource({
    kind: "grpc",
    resourceApiVersion: version,
    apiVersion: version,
    initialFetchTimeoutMs: INITIAL_FETCH_TIMEOUT_MS,
    dialect: dialectWith(features, defaults),
    parameters: defaults.parameters,
    servers: usable,
    variant: defaults.variant ?? "sotw",
    isAggregated: true,
    failover: "fallback-when-missing",
    nodeIn: "first-request",
    rateLimit: undefined,
    backOff: defaults.backOff ?? grpcBackOff,
  });
}

function readServer(place: Place, defaults: ConfigDefaults, problems: Problems): ServerConfig | undefined {
  const uri = at(place, "server_uri");
  const target = textOf(uri);
  if (target === "") problems.error(uri.path, "expected the target of a server, such as xds.example.com:443");
  const credentials = readCredentials(at(place, "channel_creds"), problems);
  const calls = itemsOf(at(place, "call_creds"));
  if (calls.length > 0) problems.warning([...place.path, "call_creds"], "credentials of calls are not sent");
  if (target === "" || credentials === undefined) return undefined;
  return {
    name: target,
    target,
    tls: credentials.tls,
    keepalive: undefined,
    tcpKeepalive: undefined,
    maxResponseBytes: defaults.maxResponseBytes ?? MAX_RESPONSE_BYTES,
    headers: [],
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  };
}

/** The first supported kind of credentials. */
function readCredentials(list: Place, problems: Problems): { readonly tls: TlsConfig | undefined } | undefined {
  for (const place of itemsOf(list)) {
    switch (textOf(at(place, "type"))) {
      case "insecure":
        return { tls: undefined };
      case "tls":
        return { tls: readTls(at(place, "config"), problems) };
      case "google_default":
        problems.warning(place.path, "google_default is TLS here: no credentials of calls are sent with it");
        return { tls: systemTls };
    }
  }
  const got = itemsOf(list).map((place) => textOf(at(place, "type")));
  problems.error(
    list.path,
    `expected channel_creds of the type insecure, tls or google_default, got ${got.length === 0 ? "none" : got.join(", ")}`,
  );
  return undefined;
}

/** Reads TLS settings as paths of files (A65). */
function readTls(config: Place, problems: Problems): TlsConfig {
  const pathIn = (field: string): string | undefined => textOf(at(config, field)) || undefined;
  const certificatePath = pathIn("certificate_file");
  const keyPath = pathIn("private_key_file");
  if ((certificatePath === undefined) !== (keyPath === undefined)) {
    problems.error(config.path, "expected certificate_file with private_key_file, got only one of them");
  }
  return { ...systemTls, caPath: pathIn("ca_certificate_file"), certificatePath, keyPath };
}

function featuresOf(server: Place): ReadonlySet<string> {
  return new Set(itemsOf(at(server, "server_features")).map(textOf));
}

/** The relevant server features, as a key. */
function dialectKey(features: ReadonlySet<string>): string {
  return JSON.stringify(switchedBy(features)) + String(features.has("xds_v3"));
}

function switchedBy(features: ReadonlySet<string>): Partial<ClientDialect> {
  const isTransient =
    features.has("resource_timer_is_transient_error") || features.has("resource_timer_is_transient_failure");
  return {
    ...(features.has("ignore_resource_deletion") && { ignoreDeletion: true }),
    ...(features.has("fail_on_data_errors") && { failOnDataErrors: true }),
    ...(isTransient && { timerIsTransient: true }),
  };
}

function dialectWith(features: ReadonlySet<string>, defaults: ConfigDefaults): ClientDialect {
  return { ...dialectOf(defaults), ...switchedBy(features) };
}

/**
 * The sources by authority, after the one for names without an authority, which has the default listener template
 * (A47).
 */
function readAuthorities(
  bootstrap: Place,
  source: GrpcSource | undefined,
  defaults: ConfigDefaults,
  problems: Problems,
): readonly AuthoritySource[] {
  const template = textOf(at(bootstrap, "client_default_listener_resource_name_template")) || DEFAULT_TEMPLATE;
  const map = at(bootstrap, "authorities");
  if (isPresent(map) && !isObject(map.value))
    problems.error(map.path, "expected an object, by the names of authorities");
  const others = entriesOf(map).flatMap(([name, place]) => {
    if (!isObject(place.value)) {
      problems.error(place.path, "expected an object");
      return [];
    }
    const listenerTemplate = templateOf(name, place, problems);
    const own = isPresent(at(place, "xds_servers"))
      ? readServers(at(place, "xds_servers"), defaults, problems)
      : source;
    return own === undefined ? [] : [{ authorities: [name], source: own, listenerTemplate }];
  });
  return source === undefined ? others : [{ authorities: [], source, listenerTemplate: template }, ...others];
}

function templateOf(authority: string, place: Place, problems: Problems): string {
  const field = at(place, "client_listener_resource_name_template");
  const prefix = `xdstp://${authority}/`;
  const template = textOf(field) || `${prefix}envoy.config.listener.v3.Listener/%s`;
  if (!template.startsWith(prefix)) {
    problems.error(field.path, `expected a template that begins with ${prefix}, got ${JSON.stringify(template)}`);
  }
  return template;
}
