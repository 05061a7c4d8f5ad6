import type { BackOff } from "@xdskit/protocol";
import type { ServerConfig, TlsConfig } from "./client-config.ts";
import { MAX_RESPONSE_BYTES, systemTls } from "./config-defaults.ts";
import { at, durationMsOf, firstOf, isPresent, itemsOf, numberOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";
import { certificatesOf, readDataSource } from "./upstream-tls.ts";

/** Finds a server by the name of its cluster; reports a problem if there is none. */
export type ServerFinder = (name: Place, protocol: "grpc" | "rest", problems: Problems) => ServerConfig | undefined;

/** The connection timeout of a `GrpcService` with `google_grpc`, in milliseconds. */
const GRPC_CONNECT_TIMEOUT_MS = 20_000;
const GRPC_KEEPALIVE_TIMEOUT_MS = 20_000;

/** Reads the server of a `GrpcService`. */
export function readGrpcService(
  service: Place,
  findServer: ServerFinder,
  problems: Problems,
): ServerConfig | undefined {
  const google = at(service, "google_grpc");
  if (isPresent(google)) return withMetadata(readGoogleGrpc(google, problems), service);
  const envoy = at(service, "envoy_grpc");
  const server = findServer(at(envoy, "cluster_name"), "grpc", problems);
  if (server === undefined) return undefined;
  const maxResponseBytes = numberOf(at(envoy, "max_receive_message_length")) ?? server.maxResponseBytes;
  const authority = textOf(at(envoy, "authority"));
  return withMetadata({ ...server, maxResponseBytes, ...(authority !== "" && { authority }) }, service);
}

/** The back-off of a `GrpcService`, if it sets one; the maximum defaults to ten times the base. */
export function backOffOf(service: Place): BackOff | undefined {
  const policy = firstOf(service, ["envoy_grpc", "retry_policy"], ["google_grpc", "retry_policy"], ["retry_policy"]);
  const baseMs = durationMsOf(at(policy, "retry_back_off", "base_interval"));
  if (baseMs === undefined) return undefined;
  return { baseMs, maxMs: durationMsOf(at(policy, "retry_back_off", "max_interval")) ?? 10 * baseMs };
}

function withMetadata(server: ServerConfig | undefined, service: Place): ServerConfig | undefined {
  const metadata = itemsOf(at(service, "initial_metadata")).map(
    (header) => [textOf(at(header, "key")), textOf(at(header, "value"))] as const,
  );
  return server && { ...server, headers: [...server.headers, ...metadata] };
}

function readGoogleGrpc(google: Place, problems: Problems): ServerConfig | undefined {
  const uri = at(google, "target_uri");
  const target = textOf(uri);
  if (target === "") {
    problems.error(uri.path, "expected the target of a server, such as dns:///xds.example.com:443");
    return undefined;
  }
  const intervalMs = channelArgument(google, "grpc.keepalive_time_ms");
  const timeoutMs = channelArgument(google, "grpc.keepalive_timeout_ms") ?? GRPC_KEEPALIVE_TIMEOUT_MS;
  return {
    name: target,
    target,
    tls: channelTls(at(google, "channel_credentials"), problems),
    keepalive: intervalMs === undefined ? undefined : { intervalMs, timeoutMs },
    tcpKeepalive: undefined,
    maxResponseBytes: channelArgument(google, "grpc.max_receive_message_length") ?? MAX_RESPONSE_BYTES,
    headers: callHeaders(at(google, "call_credentials"), problems),
    connectTimeoutMs: GRPC_CONNECT_TIMEOUT_MS,
  };
}

function channelArgument(google: Place, name: string): number | undefined {
  return numberOf(at(google, "channel_args", "args", name, "int_value"));
}

function channelTls(credentials: Place, problems: Problems): TlsConfig | undefined {
  const ssl = at(credentials, "ssl_credentials");
  if (isPresent(ssl)) {
    const ca = readDataSource(at(ssl, "root_certs"), problems);
    const certificate = readDataSource(at(ssl, "cert_chain"), problems);
    const key = readDataSource(at(ssl, "private_key"), problems);
    return { ...systemTls, ...certificatesOf({ ca, certificate, key }) };
  }
  return isPresent(at(credentials, "google_default")) ? systemTls : undefined;
}

function callHeaders(credentials: Place, problems: Problems): readonly (readonly [string, string])[] {
  return itemsOf(credentials).flatMap((one) => {
    const token = textOf(at(one, "access_token"));
    if (token !== "") return [["authorization", `Bearer ${token}`] as const];
    problems.warning(one.path, "only an access_token is sent with calls, other credentials are not");
    return [];
  });
}
