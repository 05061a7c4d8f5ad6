import { isIP, isIPv6 } from "node:net";
import { isObject } from "@xdskit/protocol/internal";
import type { ServerConfig, TlsConfig } from "./client-config.ts";
import { CONNECT_TIMEOUT_MS } from "./config-defaults.ts";
import { at, durationMsOf, entriesOf, firstOf, isPresent, itemsOf, numberOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";
import { readUpstreamTls, type StaticSecrets } from "./upstream-tls.ts";

/** A cluster of the bootstrap as a management server. */
export interface ServerCluster {
  readonly place: Place;
  /** Undefined: it cannot be a server; `problems` says why. */
  readonly server: ServerConfig | undefined;
  /** gRPC requires HTTP/2 (C-CFG-04). */
  readonly speaksHttp2: boolean;
  readonly problems: Problems;
}

const EXTENSION_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** Reads a Cluster as a management server. Problems are kept for later, because the cluster may not be used as one. */
export function readServerCluster(
  cluster: Place,
  options: { readonly secrets: StaticSecrets; readonly maxResponseBytes: number; readonly problems: Problems },
): ServerCluster {
  const { secrets, maxResponseBytes, problems } = options;
  const target = targetOf(cluster, problems);
  const http2 = http2OptionsOf(cluster);
  const tls = tlsOf(cluster, secrets, problems);
  const isUsable = target !== undefined && !problems.hasErrors;
  const server: ServerConfig | undefined = isUsable
    ? {
        name: textOf(at(cluster, "name")),
        target,
        tls,
        keepalive: keepaliveOf(at(http2 ?? cluster, "connection_keepalive")),
        tcpKeepalive: tcpKeepaliveOf(at(cluster, "upstream_connection_options", "tcp_keepalive")),
        maxResponseBytes,
        headers: [],
        connectTimeoutMs: durationMsOf(at(cluster, "connect_timeout")) ?? CONNECT_TIMEOUT_MS,
      }
    : undefined;
  return { place: cluster, server, speaksHttp2: http2 !== undefined, problems };
}

function targetOf(cluster: Place, problems: Problems): string | undefined {
  const kind = kindOf(cluster);
  if (kind !== "STATIC" && kind !== "STRICT_DNS" && kind !== "LOGICAL_DNS") {
    const place = firstOf(cluster, ["type"], ["cluster_type"]);
    const hint = kind === "EDS" ? "who is to be asked for endpoints would have to be asked for its own" : undefined;
    problems.error(place.path, `expected a STATIC, STRICT_DNS or LOGICAL_DNS cluster, got ${kind}`, hint);
    return undefined;
  }
  const addresses = addressesOf(cluster);
  if (addresses.length === 0) {
    problems.error([...cluster.path, "load_assignment"], "expected the address of a server");
    return undefined;
  }
  const targets = addresses.map((address) => targetOfAddress(address, kind, problems));
  return joinTargets(targets, addresses, problems);
}

/** The discovery type; for an extension, its name. */
function kindOf(cluster: Place): string {
  const extension = at(cluster, "cluster_type");
  if (!isPresent(extension)) return textOf(at(cluster, "type")) || "STATIC";
  const name = textOf(at(extension, "name"));
  if (/\.static$/.test(name)) return "STATIC";
  if (/[._]dns$/.test(name)) return "STRICT_DNS";
  return JSON.stringify(name);
}

/** The addresses, best first: by priority, then in order. `hosts` is the v2 field from before 2018 (C-CFG-03). */
function addressesOf(cluster: Place): readonly Place[] {
  const hosts = itemsOf(at(cluster, "hosts"));
  const localities = itemsOf(at(cluster, "load_assignment", "endpoints"));
  const byPriority = localities.toSorted((a, b) => priorityOf(a) - priorityOf(b));
  const assigned = byPriority
    .flatMap((locality) => itemsOf(at(locality, "lb_endpoints")))
    .map((endpoint) => at(endpoint, "endpoint", "address"));
  return assigned.length > 0 ? assigned : hosts;
}

function priorityOf(locality: Place): number {
  return numberOf(at(locality, "priority")) ?? 0;
}

function targetOfAddress(address: Place, kind: string, problems: Problems): string | undefined {
  const pipe = at(address, "pipe", "path");
  if (isPresent(pipe)) return targetOfPipe(pipe, problems);
  const socket = at(address, "socket_address");
  const host = textOf(at(socket, "address"));
  const port = numberOf(at(socket, "port_value"));
  if (host === "" || port === undefined) {
    const missing = isPresent(socket) ? [...socket.path, host === "" ? "address" : "port_value"] : address.path;
    problems.error(missing, "expected a host and a port in numbers, or the path of a pipe");
    return undefined;
  }
  if (isIP(host) !== 0) return isIPv6(host) ? `ipv6:[${host}]:${port}` : `ipv4:${host}:${port}`;
  if (kind === "STATIC") {
    problems.error(
      [...socket.path, "address"],
      `expected an IP address in a STATIC cluster, got ${JSON.stringify(host)}`,
      "a name is looked up where the type is STRICT_DNS",
    );
    return undefined;
  }
  return `dns:///${host}:${port}`;
}

function targetOfPipe(pipe: Place, problems: Problems): string | undefined {
  const path = textOf(pipe);
  if (path.startsWith("@")) {
    problems.error(pipe.path, `expected the path of a socket, got the abstract one ${JSON.stringify(path)}`);
    return undefined;
  }
  return `unix:${path}`;
}

/** Joins addresses of one kind to a gRPC target, which cannot hold mixed kinds. */
function joinTargets(
  targets: readonly (string | undefined)[],
  addresses: readonly Place[],
  problems: Problems,
): string | undefined {
  const [first] = targets;
  if (first === undefined) return undefined;
  const [, scheme] = /^(ipv[46]:)/.exec(first) ?? [];
  const joined = targets.flatMap((target) =>
    scheme !== undefined && target?.startsWith(scheme) === true ? [target.slice(scheme.length)] : [],
  );
  const used = scheme === undefined ? 1 : joined.length;
  const [, second] = addresses;
  if (used < addresses.length && second !== undefined) {
    problems.warning(second.path, `only ${used} of ${addresses.length} addresses can be used together`);
  }
  return scheme === undefined ? first : `${scheme}${joined.join(",")}`;
}

/** The HTTP/2 options, in any of their places; undefined if the cluster uses HTTP/1.1. */
function http2OptionsOf(cluster: Place): Place | undefined {
  const extensions = entriesOf(at(cluster, "typed_extension_protocol_options"));
  const [, extension] = extensions.find(([key]) => key === EXTENSION_OPTIONS) ?? [];
  const options = firstOf(
    extension ?? { value: undefined, path: cluster.path },
    ["explicit_http_config", "http2_protocol_options"],
    ["auto_config", "http2_protocol_options"],
    ["use_downstream_protocol_config", "http2_protocol_options"],
    ["auto_config"],
  );
  const own = at(cluster, "http2_protocol_options");
  if (isPresent(options)) return options;
  return isPresent(own) ? own : undefined;
}

function keepaliveOf(keepalive: Place): ServerConfig["keepalive"] {
  const intervalMs = durationMsOf(at(keepalive, "interval"));
  const timeoutMs = durationMsOf(at(keepalive, "timeout"));
  // Without an interval Envoy sends pings only on idle connections.
  return intervalMs === undefined || timeoutMs === undefined ? undefined : { intervalMs, timeoutMs };
}

function tcpKeepaliveOf(keepalive: Place): ServerConfig["tcpKeepalive"] {
  if (!isPresent(keepalive)) return undefined;
  const seconds = numberOf(at(keepalive, "keepalive_time"));
  return { idleMs: seconds === undefined ? undefined : seconds * 1000 };
}

/** TLS from a v2 field or a transport socket; undefined for plain text. */
function tlsOf(cluster: Place, secrets: StaticSecrets, problems: Problems): TlsConfig | undefined {
  const old = at(cluster, "tls_context");
  if (isPresent(old)) return readUpstreamTls(old, secrets, problems);
  const socket = at(cluster, "transport_socket");
  if (!isPresent(socket)) return undefined;
  const name = textOf(at(socket, "name"));
  const context = firstOf(socket, ["typed_config"], ["config"]);
  const type = textOf(at(context, "@type"));
  if (/\.UpstreamTlsContext$/.test(type) || (type === "" && /(?:^|\.)tls$/.test(name))) {
    return readUpstreamTls(context, secrets, problems);
  }
  const isPlain = /\.RawBuffer$/.test(type) || /(?:^|\.)raw_buffer$/.test(name);
  if (!isPlain && isObject(socket.value)) {
    problems.error(socket.path, `expected TLS or no transport socket, got ${JSON.stringify(type || name)}`);
  }
  return undefined;
}
