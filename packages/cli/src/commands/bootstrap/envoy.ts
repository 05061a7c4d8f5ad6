import type { ApiVersion } from "@xdskit/protocol";
import type { Locality } from "../../discovery/node-flags.ts";
import type { Address } from "../../settings/address.ts";
import { dynamicResources, type EnvoySource } from "./dynamic-resources.ts";
import { serverCluster, socketAddress } from "./server-cluster.ts";
import type { BootstrapTls } from "./tls.ts";

/** What an Envoy bootstrap is made from. */
export interface EnvoyBootstrapOptions {
  readonly server: Address;
  readonly node: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
  readonly source: EnvoySource;
  readonly version: ApiVersion;
  /** The address of Envoy's own admin interface. */
  readonly admin: Address;
  /** TLS files; undefined connects in plaintext. */
  readonly tls: BootstrapTls | undefined;
}

/** Builds a complete Envoy bootstrap (S-CFG-10; client-behaviours 2). */
export function envoyBootstrap(options: EnvoyBootstrapOptions): object {
  const { node, cluster, metadata, locality, admin, source, version } = options;
  return {
    node: {
      id: node,
      cluster,
      ...(Object.keys(locality).length > 0 && { locality }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    },
    // v2 requires an access log path beside the address.
    admin: { ...(version === "v2" && { access_log_path: "/dev/null" }), address: socketAddress(admin) },
    dynamic_resources: dynamicResources(source, version),
    ...(source.transport !== "file" && { static_resources: { clusters: [clusterOf(options)] } }),
  };
}

function clusterOf({ server, version, tls, source }: EnvoyBootstrapOptions): object {
  return serverCluster({ server, version, tls, protocol: source.transport === "rest" ? "http1" : "http2" });
}
