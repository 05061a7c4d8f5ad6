import type { ApiVersion } from "@xdskit/protocol";
import type { Locality } from "../../discovery/node-flags.ts";
import { type Address, formatReachedAddress } from "../../settings/address.ts";
import type { BootstrapTls } from "./tls.ts";

/** Who is to be served, and where. */
export interface GrpcBootstrapOptions {
  readonly server: Address;
  readonly node: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
  readonly version: ApiVersion;
  /** Over TLS. */
  readonly tls: BootstrapTls | undefined;
}

/** The JSON that GRPC_XDS_BOOTSTRAP names: read by gRPC in C++, Go, Java, Node and Python (client-behaviours 3). */
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
        // Releases from before v2 ended speak v3 only if they are told to.
        server_features: version === "v3" ? ["xds_v3"] : [],
      },
    ],
    // grpc-js refuses a node without a locality, be it empty.
    node: { id: node, cluster, locality, ...(Object.keys(metadata).length > 0 && { metadata }) },
  };
}

function tlsCredentials({ ca, client }: BootstrapTls): object {
  const identity = client === undefined ? {} : { certificate_file: client.cert, private_key_file: client.key };
  return { type: "tls", config: { ca_certificate_file: ca, ...identity } };
}
