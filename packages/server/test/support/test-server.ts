import type { EnvoyApi } from "@xdskit/envoy-api";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, createResource, formatTypeUrl, type Node, type Resource, type TypeUrl } from "@xdskit/protocol";
import { createServer, type ManagementServer, type ManagementServerOptions } from "@xdskit/server";
import { RawPeer } from "./raw-peer.ts";

export const CLUSTER: TypeUrl = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const ENDPOINTS: TypeUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const SECRET: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

export const ADS_SOTW = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
export const ADS_DELTA = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
export const CDS_SOTW = "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters";
export const CDS_DELTA = "/envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters";
export const CDS_FETCH = "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters";

let api: EnvoyApi | undefined;
/** One for all tests of a file: reading the descriptors takes a moment. */
export function testApi(): EnvoyApi {
  api ??= createEnvoyApi();
  return api;
}

/** A resource whose message has a name and, as an unknown field, so many bytes of padding. */
export function resource(type: TypeUrl, name: string, padding: string = ""): Resource {
  const bytes = Buffer.concat([field(1, name), field(1_000, padding)]);
  return createResource({ type, name, bytes }, contentDigest);
}

export function cluster(name: string, padding?: string): Resource {
  return resource(CLUSTER, name, padding);
}

function field(number: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.byteLength), bytes]);
}

function varint(value: number): Buffer {
  return value < 0x80
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value % 0x80) + 0x80]), varint(Math.floor(value / 0x80))]);
}

export function put(...puts: readonly Resource[]): { changes: { layer: string; puts: readonly Resource[] }[] } {
  return { changes: [{ layer: "base", puts }] };
}

export function node(id: string): Node {
  return { ...anonymousNode, id };
}

export function sotwRequest(
  type: TypeUrl,
  names: readonly string[] = [],
  nonce?: string,
  version?: string,
): Uint8Array {
  return encodeSotwRequest({
    node: node("test"),
    typeUrl: type,
    resourceNames: names,
    responseNonce: nonce,
    versionInfo: version,
  });
}

export function deltaRequest(
  type: TypeUrl,
  subscribe: readonly string[] = [],
  nonce?: string,
  initial: Iterable<readonly [name: string, version: string]> = [],
): Uint8Array {
  return encodeDeltaRequest({
    node: node("test"),
    typeUrl: type,
    resourceNamesSubscribe: subscribe,
    initialResourceVersions: initial,
    responseNonce: nonce,
  });
}

/** A started server and the peers that were connected to it; all of it goes with `close`. */
export interface World {
  readonly server: ManagementServer;
  readonly address: { readonly host: string; readonly port: number };
  /** Undefined without an admin API. */
  readonly adminAddress: { readonly host: string; readonly port: number } | undefined;
  connect(): Promise<RawPeer>;
  close(): Promise<void>;
}

/** Serves one cluster, `a`, unless told otherwise. */
export async function startWorld(
  options: Partial<ManagementServerOptions> = {},
  resources: readonly Resource[] | undefined = [cluster("a")],
): Promise<World> {
  const server = createServer({ api: testApi(), ...options });
  if (resources.length > 0) server.commit(put(...resources));
  const { address, adminAddress } = await server.listen();
  const peers: RawPeer[] = [];
  return {
    server,
    address,
    adminAddress,
    async connect() {
      const peer = await RawPeer.connect(address);
      peers.push(peer);
      return peer;
    },
    async close() {
      await Promise.all(peers.map((peer) => peer.close()));
      await server.close();
    },
  };
}

/** How many streams the server holds, by counting what opened and closed. */
export function countStreams(server: ManagementServer): {
  readonly open: number;
  readonly opened: number;
  readonly reasons: readonly string[];
} {
  let open = 0;
  let opened = 0;
  const reasons: string[] = [];
  server.on("stream-opened", () => {
    open++;
    opened++;
  });
  server.on("stream-closed", ({ reason }) => {
    open--;
    reasons.push(reason);
  });
  return {
    get open() {
      return open;
    },
    get opened() {
      return opened;
    },
    reasons,
  };
}
