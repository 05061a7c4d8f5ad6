import type { Node } from "../node/node.ts";

/** A decoded `LoadStatsRequest`: what a client counted since its last one. The first one has no counts. */
export interface LoadReport {
  /** The same object again when its bytes equal those of the previous report. */
  readonly node: Node | undefined;
  readonly clusters: readonly ClusterLoad[];
}

/** The load of one cluster. */
export interface ClusterLoad {
  readonly cluster: string;
  /** The EDS service name; "" if it is the cluster's name. */
  readonly service: string;
  /** The interval that the counts cover; 0 if the client does not say. */
  readonly intervalMs: number;
  readonly dropped: number;
  readonly droppedBy: readonly { readonly category: string; readonly count: number }[];
  readonly localities: readonly LocalityLoad[];
}

/** The locality of endpoints. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/** Counts since the last report; `inProgress` and `activeConnections` are current values. */
export interface LoadCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly issued: number;
  readonly inProgress: number;
}

/** The load of the endpoints of one locality and priority. */
export interface LocalityLoad extends LoadCounts {
  readonly locality: Locality;
  readonly priority: number;
  readonly activeConnections: number;
  readonly newConnections: number;
  readonly failedConnections: number;
  readonly metrics: readonly LoadMetric[];
  /** Empty unless the server asks for endpoints. */
  readonly endpoints: readonly EndpointLoad[];
}

/** A metric that endpoints reported about themselves: the sum over a number of requests. */
export interface LoadMetric {
  readonly name: string;
  readonly requests: number;
  readonly total: number;
}

export interface EndpointLoad extends LoadCounts {
  /** `host:port`, or the path of a socket. */
  readonly address: string;
}

/** A decoded `LoadStatsResponse`: what a client is to report from now on. */
export interface LoadRequest {
  /** The clusters to report, by name; empty for all. */
  readonly clusters: readonly string[];
  readonly sendAllClusters: boolean;
  readonly intervalMs: number;
  readonly endpoints: boolean;
}
