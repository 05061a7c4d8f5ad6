import { isIP, SocketAddress } from "node:net";
import type { ApiVersion } from "@xdskit/protocol";
import type { Address } from "../../settings/address.ts";
import type { BootstrapTls } from "./tls.ts";

/** The name of the xDS server's cluster in a bootstrap. */
export const SERVER_CLUSTER = "xds_server";

/** How a client reaches the xDS server. */
export interface ServerClusterOptions {
  readonly server: Address;
  readonly version: ApiVersion;
  /** gRPC needs HTTP/2; REST uses HTTP/1.1. */
  readonly protocol: "http1" | "http2";
  /** TLS files; undefined connects in plaintext. */
  readonly tls: BootstrapTls | undefined;
}

/** Builds the static Cluster of the xDS server, with keepalive (C-CFG-04, C-CFG-06). */
export function serverCluster(options: ServerClusterOptions): object {
  const { server, version, protocol, tls } = options;
  return {
    name: SERVER_CLUSTER,
    ...discovery(options),
    connect_timeout: "1s",
    ...(protocol === "http2" && http2Options[version]),
    // Keepalive detects a server that disappears without closing the connection.
    upstream_connection_options: { tcp_keepalive: {} },
    load_assignment: {
      cluster_name: SERVER_CLUSTER,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(server) } }] }],
    },
    ...(tls !== undefined && { transport_socket: tlsSocket(options, tls) }),
  };
}

/**
 * By default Envoy uses IPv6 addresses alone where a name has any: `localhost` is ::1 then, while the server usually
 * listens at 127.0.0.1. The API of v2 has no V4_PREFERRED.
 */
function discovery({ server: { host }, version }: ServerClusterOptions): object {
  if (isIP(host) !== 0) return { type: "STATIC" };
  if (version === "v3") return { type: "STRICT_DNS", dns_lookup_family: "V4_PREFERRED" };
  return { type: "STRICT_DNS", ...(host === "localhost" && { dns_lookup_family: "V4_ONLY" }) };
}

/** An address as Envoy's Address message. */
export function socketAddress({ host, port }: Address): object {
  return { socket_address: { address: host, port_value: port } };
}

const http2Options: Readonly<Record<ApiVersion, object>> = {
  v2: { http2_protocol_options: {} },
  v3: {
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: { http2_protocol_options: { connection_keepalive: { interval: "30s", timeout: "5s" } } },
      },
    },
  },
};

const tlsContexts: Readonly<Record<ApiVersion, string>> = {
  v2: "type.googleapis.com/envoy.api.v2.auth.UpstreamTlsContext",
  v3: "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
};

function tlsSocket({ version, protocol }: ServerClusterOptions, { ca, serverName, client }: BootstrapTls): object {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": tlsContexts[version],
      ...(isIP(serverName) === 0 && { sni: serverName }),
      common_tls_context: {
        ...(client !== undefined && {
          tls_certificates: [{ certificate_chain: { filename: client.cert }, private_key: { filename: client.key } }],
        }),
        validation_context: { trusted_ca: { filename: ca }, ...certifiedAs(serverName, version) },
        // Releases before 2021 offer no ALPN protocol unless configured, and would be taken for HTTP/1.1.
        alpn_protocols: [protocol === "http2" ? "h2" : "http/1.1"],
      },
    },
  };
}

/** Without a name to match, Envoy accepts every certificate of the CA, whatever server it was issued to. */
function certifiedAs(name: string, version: ApiVersion): object {
  const isAddress = isIP(name) !== 0;
  const exact = isAddress ? canonicalAddress(name) : name;
  if (version === "v2") return { verify_subject_alt_name: [exact] };
  return { match_typed_subject_alt_names: [{ san_type: isAddress ? "IP_ADDRESS" : "DNS", matcher: { exact } }] };
}

/** Envoy compares addresses as text, and shortens those of certificates: `2001:db8:0:0::1` is `2001:db8::1`. */
function canonicalAddress(address: string): string {
  return new SocketAddress({ address, family: isIP(address) === 6 ? "ipv6" : "ipv4" }).address;
}
