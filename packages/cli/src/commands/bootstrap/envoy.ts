import { isIP } from "node:net";
import { stringify } from "yaml";
import type { Address } from "../../settings/address.ts";
import type { Locality } from "./locality.ts";
import type { BootstrapTls } from "./tls.ts";

/** All types on one stream or a stream for each, in delta or State of the World. */
export type EnvoyMode = "ads-delta" | "ads-sotw" | "delta" | "sotw";

/** Who is to be served, where and how. */
export interface EnvoyBootstrapOptions {
  readonly server: Address;
  readonly node: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
  readonly mode: EnvoyMode;
  /** Envoy's own admin interface. */
  readonly admin: Address;
  /** Over TLS. */
  readonly tls: BootstrapTls | undefined;
}

const SERVER_CLUSTER = "xds_server";

/** A whole Envoy configuration, as YAML (client-behaviours 2). */
export function envoyBootstrap(options: EnvoyBootstrapOptions): string {
  const { node, cluster, metadata, locality, admin } = options;
  return stringify(
    {
      node: {
        id: node,
        cluster,
        ...(Object.keys(locality).length > 0 && { locality }),
        ...(Object.keys(metadata).length > 0 && { metadata }),
      },
      admin: { address: socketAddress(admin) },
      dynamic_resources: dynamicResources(options.mode),
      static_resources: { clusters: [serverCluster(options)] },
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

function dynamicResources(mode: EnvoyMode): unknown {
  const apiType = mode.endsWith("delta") ? "DELTA_GRPC" : "GRPC";
  const source = {
    api_type: apiType,
    transport_api_version: "V3",
    // A node with every extension is 58 KB: once per stream is enough.
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: SERVER_CLUSTER } }],
  };
  const config = {
    resource_api_version: "V3",
    ...(mode.startsWith("ads-") ? { ads: {} } : { api_config_source: source }),
  };
  // With streams of their own for clusters and listeners, too: those may say that their endpoints and routes come by ADS.
  return { ads_config: source, cds_config: config, lds_config: config };
}

function serverCluster({ server, tls }: EnvoyBootstrapOptions): unknown {
  return {
    name: SERVER_CLUSTER,
    type: isIP(server.host) === 0 ? "STRICT_DNS" : "STATIC",
    connect_timeout: "1s",
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        // A server that is gone without a word is noticed, and another connection made.
        explicit_http_config: { http2_protocol_options: { connection_keepalive: { interval: "30s", timeout: "5s" } } },
      },
    },
    load_assignment: {
      cluster_name: SERVER_CLUSTER,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(server) } }] }],
    },
    ...(tls !== undefined && { transport_socket: tlsSocket(server, tls) }),
  };
}

function tlsSocket(server: Address, { ca, client }: BootstrapTls): unknown {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      ...(isIP(server.host) === 0 && { sni: server.host }),
      common_tls_context: {
        ...(client !== undefined && {
          tls_certificates: [{ certificate_chain: { filename: client.cert }, private_key: { filename: client.key } }],
        }),
        validation_context: { trusted_ca: { filename: ca } },
      },
    },
  };
}

function socketAddress({ host, port }: Address): unknown {
  return { socket_address: { address: host, port_value: port } };
}
