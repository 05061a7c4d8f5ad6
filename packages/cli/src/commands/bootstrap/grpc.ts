import { type Address, formatReachedAddress } from "../../settings/address.ts";
import type { Locality } from "./locality.ts";

/** Who is to be served, and where. */
export interface GrpcBootstrapOptions {
  readonly server: Address;
  readonly node: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
  /** Over TLS, trusting this authority. */
  readonly ca: string | undefined;
}

/** The JSON that GRPC_XDS_BOOTSTRAP names: read by gRPC in C++, Go, Java, Node and Python (client-behaviours 3). */
export function grpcBootstrap({ server, node, cluster, metadata, locality, ca }: GrpcBootstrapOptions): unknown {
  const insecure = { type: "insecure" };
  const tls = { type: "tls", config: { ca_certificate_file: ca } };
  return {
    xds_servers: [
      {
        server_uri: formatReachedAddress(server),
        channel_creds: [ca === undefined ? insecure : tls],
        // Releases from before v2 ended speak v3 only if they are told to.
        server_features: ["xds_v3"],
      },
    ],
    // grpc-js refuses a node without a locality, be it empty.
    node: { id: node, cluster, locality, ...(Object.keys(metadata).length > 0 && { metadata }) },
  };
}
