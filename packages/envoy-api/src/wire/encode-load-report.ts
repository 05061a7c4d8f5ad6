/** The client's half of load reporting: encodes `LoadStatsRequest` of v2 and v3, and decodes `LoadStatsResponse`. */
import type { ApiVersion, EndpointLoad, LoadReport } from "@xdskit/protocol";
import type { ClusterLoad, LoadCounts, LoadMetric, LoadRequest, LocalityLoad } from "@xdskit/protocol/internal";
import { readDuration, writeDuration } from "./duration.ts";
import { ownMetricFields } from "./load-stats.ts";
import { encodeNode, writeLocality } from "./node.ts";
import { lengthTag, varintTag, WireReader } from "./reader.ts";
import { WireWriter } from "./writer.ts";

/** A `LoadStatsRequest` to encode. */
export interface LoadReportMessage extends Omit<LoadReport, "node"> {
  /** A `Node`, or encoded bytes, which may have fields that `Node` lacks. */
  readonly node: LoadReport["node"] | Uint8Array;
}

/** Encodes a load report. Connection counts and dedicated utilization fields exist only in v3. */
export function encodeLoadReport(version: ApiVersion, { node, clusters }: LoadReportMessage): Uint8Array {
  const writer = new WireWriter();
  if (node !== undefined) writer.bytes(1, node instanceof Uint8Array ? node : encodeNode(node));
  for (const cluster of clusters) writer.message(2, (inner) => writeCluster(inner, cluster, version));
  return writer.finish();
}

function writeCluster(writer: WireWriter, load: ClusterLoad, version: ApiVersion): void {
  writer.optionalString(1, load.cluster);
  for (const locality of load.localities) writer.message(2, (inner) => writeLocalityLoad(inner, locality, version));
  writer.integer(3, load.dropped).message(4, (inner) => writeDuration(inner, load.intervalMs));
  for (const { category, count } of load.droppedBy) {
    writer.message(5, (inner) => inner.optionalString(1, category).integer(2, count));
  }
  writer.optionalString(6, load.service);
}

function writeLocalityLoad(writer: WireWriter, load: LocalityLoad, version: ApiVersion): void {
  const ownFieldOf = ({ name }: LoadMetric): number | undefined =>
    version === "v3" ? ownMetricFields.get(name) : undefined;
  writer.message(1, (inner) => writeLocality(inner, load.locality));
  writeCounts(writer, load);
  for (const metric of load.metrics) if (ownFieldOf(metric) === undefined) writeMetric(writer, metric);
  writer.integer(6, load.priority);
  for (const endpoint of load.endpoints) writer.message(7, (inner) => writeEndpoint(inner, endpoint));
  writer.integer(8, load.issued);
  if (version === "v2") return;
  writer.integer(9, load.activeConnections).integer(10, load.newConnections).integer(11, load.failedConnections);
  for (const metric of load.metrics) {
    const field = ownFieldOf(metric);
    if (field === undefined) continue;
    writer.message(field, (inner) => inner.integer(1, metric.requests).double(2, metric.total));
  }
}

function writeMetric(writer: WireWriter, { name, requests, total }: LoadMetric): void {
  writer.message(5, (inner) => inner.optionalString(1, name).integer(2, requests).double(3, total));
}

function writeEndpoint(writer: WireWriter, load: EndpointLoad): void {
  writer.message(1, (inner) => writeAddress(inner, load.address));
  writeCounts(writer, load);
  writer.integer(7, load.issued);
}

/** Writes all counts but `issued`, whose field number differs between messages. */
function writeCounts(writer: WireWriter, { succeeded, inProgress, failed }: LoadCounts): void {
  writer.integer(2, succeeded).integer(3, inProgress).integer(4, failed);
}

/** Writes `host:port` as a socket address, anything else as a pipe. */
function writeAddress(writer: WireWriter, address: string): void {
  const [, host, port] = /^([^/@].*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined) {
    writer.message(2, (pipe) => pipe.optionalString(1, address));
    return;
  }
  const plain = host.startsWith("[") ? host.slice(1, -1) : host;
  writer.message(1, (socket) => socket.optionalString(2, plain).integer(3, Number(port)));
}

/**
 * Decodes a request for load reports.
 *
 * @throws {WireError} if the bytes are not a `LoadStatsResponse`
 */
export function decodeLoadRequest(message: Uint8Array): LoadRequest {
  const reader = new WireReader(message);
  const clusters: string[] = [];
  let intervalMs = 0;
  let endpoints = false;
  let sendAllClusters = false;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) clusters.push(reader.string());
    else if (tag === lengthTag(2)) intervalMs = readDuration(reader.message());
    else if (tag === varintTag(3)) endpoints = reader.bool();
    else if (tag === varintTag(4)) sendAllClusters = reader.bool();
    else reader.skip(tag);
  }
  return { clusters, sendAllClusters, intervalMs, endpoints };
}
