/** What meshes are made of: resources that lead to each other, and snapshots as they come. */
import type { Resource } from "@xdskit/protocol";
import {
  Cluster,
  ClusterLoadAssignment,
  Listener,
  type Mesh,
  type MeshSnapshot,
  RouteConfiguration,
  type XdsClient,
} from "../../src/index.ts";
import { read } from "./own-server.ts";

export const ADS = { ads: {}, resource_api_version: "V3" };
export const HTTP =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** An `ApiConfigSource` of a cluster of the bootstrap. */
export function grpcTo(cluster_name: string, api_type = "GRPC"): object {
  return { api_type, transport_api_version: "V3", grpc_services: [{ envoy_grpc: { cluster_name } }] };
}

/** A `ConfigSource` of one. */
export function sourceAt(clusterName: string): object {
  return { resource_api_version: "V3", api_config_source: grpcTo(clusterName) };
}

/** A Listener of a gRPC client; `more` is said of its HttpConnectionManager. */
export function listener(name: string, route: string, more: object = {}): Resource {
  const rds = { route_config_name: route, config_source: ADS };
  const manager = { "@type": HTTP, stat_prefix: "s", rds, ...more };
  return read({ "@type": Listener.typeUrl, name, api_listener: { api_listener: manager } });
}

/** Routes to clusters, each for the host of its name. */
export function routes(name: string, ...clusters: readonly string[]): Resource {
  const virtual_hosts = clusters.map((cluster) => ({
    ...{ name: cluster, domains: [cluster] },
    routes: [{ match: { prefix: "/" }, route: { cluster } }],
  }));
  return read({ "@type": RouteConfiguration.typeUrl, name, virtual_hosts });
}

export function cluster(name: string, seconds: number = 1): Resource {
  const eds_cluster_config = { eds_config: ADS };
  return read({ "@type": Cluster.typeUrl, name, type: "EDS", connect_timeout: `${seconds}s`, eds_cluster_config });
}

/** The endpoints of a cluster, at ports of this machine. */
export function endpoints(cluster_name: string, ...[first = 1, ...more]: readonly number[]): Resource {
  const lb_endpoints = [first, ...more].map((port_value) => ({
    endpoint: { address: { socket_address: { address: "127.0.0.1", port_value } } },
  }));
  return read({ "@type": ClusterLoadAssignment.typeUrl, cluster_name, endpoints: [{ lb_endpoints }] });
}

/** The port of the first endpoint that stands in a resource. */
export function portOf(json: object | undefined): unknown {
  const port = /"portValue":(\d+)/.exec(JSON.stringify(json ?? {}));
  return port?.[1] ?? "nowhere";
}

export async function next(mesh: Mesh): Promise<MeshSnapshot> {
  const { value, done } = await mesh.next();
  if (done === true) throw new Error("expected a snapshot, got the end");
  return value;
}

/** The first snapshot from now on that is as it is wanted. */
export async function nextWith(mesh: Mesh, isWanted: (snapshot: MeshSnapshot) => boolean): Promise<MeshSnapshot> {
  for (;;) {
    const snapshot = await next(mesh);
    if (isWanted(snapshot)) return snapshot;
  }
}

/** The names that a client asks for. */
export function held(client: XdsClient): readonly string[] {
  return client
    .dump()
    .map(({ key }) => key)
    .sort();
}
