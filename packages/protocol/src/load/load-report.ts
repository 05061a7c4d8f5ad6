import type { Node } from "../node/node.ts";

/** One `LoadStatsRequest`: what a client counted since its last one. Empty at first. */
export interface LoadReport {
  /** The same object again when its bytes are those of the report before. */
  readonly node: Node | undefined;
  readonly clusters: readonly ClusterLoad[];
}

/** What became of requests to one cluster. */
export interface ClusterLoad {
  readonly cluster: string;
  /** The name that its endpoints have; "" if it is the cluster's own. */
  readonly service: string;
  /** How long it was counted for; 0 if the client does not say. */
  readonly intervalMs: number;
  readonly dropped: number;
  readonly droppedBy: readonly { readonly category: string; readonly count: number }[];
  readonly localities: readonly LocalityLoad[];
}

/** Where endpoints are. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/** Counts since the last report; `inProgress` and `activeConnections` are as things stand. */
export interface LoadCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly issued: number;
  readonly inProgress: number;
}

/** What became of requests to the endpoints of one locality and priority. */
export interface LocalityLoad extends LoadCounts {
  readonly locality: Locality;
  readonly priority: number;
  readonly activeConnections: number;
  readonly newConnections: number;
  readonly failedConnections: number;
  readonly metrics: readonly LoadMetric[];
  /** Only where it was asked for. */
  readonly endpoints: readonly EndpointLoad[];
}

/** What endpoints said of themselves: a sum over so many requests. */
export interface LoadMetric {
  readonly name: string;
  readonly requests: number;
  readonly total: number;
}

export interface EndpointLoad extends LoadCounts {
  /** `host:port`, or a path. */
  readonly address: string;
}

/** One `LoadStatsResponse`: what a client is to report from now on. */
export interface LoadRequest {
  /** Clusters to report, by name; empty where all are. */
  readonly clusters: readonly string[];
  readonly sendAllClusters: boolean;
  readonly intervalMs: number;
  readonly endpoints: boolean;
}
