import type { TypeUrl } from "@xdskit/protocol";
import { createEnvoyApi, type EnvoyApi, type FieldProblem } from "../../src/index.ts";

/** One for all tests of a file: it has no state that a caller could see. */
export const api: EnvoyApi = createEnvoyApi();

export const V3 = {
  listener: "envoy.config.listener.v3.Listener",
  route: "envoy.config.route.v3.RouteConfiguration",
  scope: "envoy.config.route.v3.ScopedRouteConfiguration",
  virtualHost: "envoy.config.route.v3.VirtualHost",
  cluster: "envoy.config.cluster.v3.Cluster",
  endpoints: "envoy.config.endpoint.v3.ClusterLoadAssignment",
  lbEndpoint: "envoy.config.endpoint.v3.LbEndpoint",
  secret: "envoy.extensions.transport_sockets.tls.v3.Secret",
  runtime: "envoy.service.runtime.v3.Runtime",
  extension: "envoy.config.core.v3.TypedExtensionConfig",
  thriftRoute: "envoy.extensions.filters.network.thrift_proxy.v3.RouteConfiguration",
  http: "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  router: "envoy.extensions.filters.http.router.v3.Router",
  wrapper: "envoy.service.discovery.v3.Resource",
} as const;

export function url(message: string): TypeUrl {
  return `type.googleapis.com/${message}`;
}

/** A JSON value of a message, as it stands in a file. */
export function typed(message: string, fields: object): Record<string, unknown> {
  return { "@type": url(message), ...fields };
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** The bytes of a value that has no error; fails with its problems otherwise. */
export function encode(value: unknown): Uint8Array {
  const { input, problems } = api.readResource(value);
  if (input === undefined) throw new Error(JSON.stringify(problems, null, 2));
  return input.bytes;
}

/** Problems as one line each, which is what tests compare. */
export function lines(problems: readonly FieldProblem[]): readonly string[] {
  return problems.map(({ severity, code, path, message }) => `${severity} ${code} ${path.join(".")}: ${message}`);
}
