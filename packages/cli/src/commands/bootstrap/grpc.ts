import type { ApiVersion } from "@xdskit/protocol";
import type { Locality } from "../../discovery/node-flags.ts";
import { type Address, formatReachedAddress } from "../../settings/address.ts";
import type { BootstrapTls } from "./tls.ts";

/** What a gRPC bootstrap is made from. */
export interface GrpcBootstrapOptions {
  readonly server: Address;
  readonly node: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
  readonly version: ApiVersion;
  /** TLS files; undefined connects in plaintext. */
  readonly tls: BootstrapTls | undefined;
}

/**
 * Builds the JSON of a gRPC bootstrap, which GRPC_XDS_BOOTSTRAP names for C++, Go, Java, Node and Python
 * (client-behaviours 3).
 */
export function grpcBootstrap({
  server,
  node,
  cluster,
  metadata,
  locality,
  version,
  tls,
}: GrpcBootstrapOptions): object {
  return {
    xds_servers: [
      {
        server_uri: formatReachedAddress(server),
        channel_creds: [tls === undefined ? { type: "insecure" } : tlsCredentials(tls)],
        // Releases that still supported v2 use v3 only with this feature.
        server_features: version === "v3" ? ["xds_v3"] : [],
      },
    ],
    // grpc-js rejects a node without a locality; an empty one is enough.
    node: { id: node, cluster, locality, ...(Object.keys(metadata).length > 0 && { metadata }) },
  };
}

function tlsCredentials({ ca, client }: BootstrapTls): object {
  const identity = client === undefined ? {} : { certificate_file: client.cert, private_key_file: client.key };
  return { type: "tls", config: { ca_certificate_file: ca, ...identity } };
}
