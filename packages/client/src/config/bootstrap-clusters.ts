import { type ApiVersion, formatTypeUrl } from "@xdskit/protocol";
import type { ServerConfig, StaticResource } from "./client-config.ts";
import { type ConfigDefaults, MAX_RESPONSE_BYTES } from "./config-defaults.ts";
import { tellUnknownServer } from "./config-source.ts";
import type { ServerFinder } from "./grpc-service.ts";
import { type MessageReading, readMessage } from "./message-reader.ts";
import { at, listOf, type Place, textOf } from "./place.ts";
import { Problems } from "./problems.ts";
import { readServerCluster, type ServerCluster } from "./server-cluster.ts";

/** The clusters of a bootstrap that may be management servers. */
export interface StaticServers {
  readonly all: ReadonlyMap<string, ServerConfig>;
  /** Finds a server, or reports why it is unusable. */
  readonly find: ServerFinder;
  /** All Clusters and Secrets, usable as servers or not. */
  readonly resources: readonly StaticResource[];
}

const messageNames = {
  v2: { cluster: "envoy.api.v2.Cluster", secret: "envoy.api.v2.auth.Secret" },
  v3: {
    cluster: "envoy.config.cluster.v3.Cluster",
    secret: "envoy.extensions.transport_sockets.tls.v3.Secret",
  },
} as const;

/** Reads the static clusters, in any order (C-CFG-05). A mistake in one is an error only when that cluster is used. */
export function readBootstrapClusters(
  resources: Place,
  options: {
    readonly reading: MessageReading;
    readonly version: ApiVersion;
    readonly defaults: ConfigDefaults;
    readonly problems: Problems;
  },
): StaticServers {
  const { reading, version, defaults, problems } = options;
  const names = messageNames[version];
  const found: StaticResource[] = [];
  const secrets = new Map<string, Place>();
  for (const place of listOf(at(resources, "secrets"))) {
    const message = readMessage(names.secret, place, reading, problems);
    if (message === undefined) continue;
    const name = textOf(at(message.place, "name"));
    secrets.set(name, message.place);
    found.push({ type: formatTypeUrl(names.secret), name, bytes: message.bytes });
  }
  const clusters = new Map<string, ServerCluster>();
  for (const place of listOf(at(resources, "clusters"))) {
    const own = new Problems();
    const message = readMessage(names.cluster, place, reading, own);
    problems.takeOver(own, "warning");
    const name = message === undefined ? "" : textOf(at(message.place, "name"));
    if (message === undefined || name === "") continue;
    if (clusters.has(name)) {
      problems.error([...place.path, "name"], `expected another name: there are two clusters ${JSON.stringify(name)}`);
    }
    const maxResponseBytes = defaults.maxResponseBytes ?? MAX_RESPONSE_BYTES;
    found.push({ type: formatTypeUrl(names.cluster), name, bytes: message.bytes });
    clusters.set(name, readServerCluster(message.place, { secrets, maxResponseBytes, problems: own }));
  }
  return { all: serversOf(clusters), find: finderOf(clusters), resources: found };
}

function serversOf(clusters: ReadonlyMap<string, ServerCluster>): ReadonlyMap<string, ServerConfig> {
  return new Map(
    [...clusters].flatMap(([name, { server }]) => (server === undefined ? [] : [[name, server] as const])),
  );
}

function finderOf(clusters: ReadonlyMap<string, ServerCluster>): ServerFinder {
  return (name, protocol, problems) => {
    const cluster = clusters.get(textOf(name));
    if (cluster === undefined) {
      tellUnknownServer(name, clusters.keys(), problems);
      return undefined;
    }
    problems.takeOver(cluster.problems);
    if (protocol === "grpc" && !cluster.speaksHttp2) {
      problems.warning(
        cluster.place.path,
        "expected a cluster that speaks HTTP/2, as gRPC wants it: Envoy would speak HTTP/1.1 with it",
        "set http2_protocol_options",
      );
    }
    return cluster.server;
  };
}
