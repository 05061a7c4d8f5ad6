/**
 * `LoadStatsRequest` and `LoadStatsResponse` of v2 and v3. Every report of an Envoy carries its whole node, so a
 * stream's reader decodes it once (client-behaviours H8).
 */
import type { EndpointLoad, LoadReport } from "@xdskit/protocol";
import {
  type ClusterLoad,
  finish,
  type LoadMetric,
  type LoadRequest,
  type LocalityLoad,
  type Steps,
} from "@xdskit/protocol/internal";
import { readDuration, writeDuration } from "./duration.ts";
import { MAX_NODE_BYTES, NodeMemory, readLocality } from "./node.ts";
import { fixed64Tag, lengthTag, varintTag, WireReader } from "./reader.ts";
import { WireError } from "./wire-error.ts";
import { WireWriter } from "./writer.ts";

/** The most clusters, localities, metrics, drops and endpoints in one report, together. */
const MAX_ENTRIES = 1_000_000;

/** Reads the reports of one stream, in order of arrival. */
export interface LoadReportReader {
  /**
   * Decodes a report.
   *
   * @throws {WireError} if the bytes are not a `LoadStatsRequest`
   */
  read(message: Uint8Array): LoadReport;
  /** As `read`, an entry at a time. */
  readInSteps(message: Uint8Array): Steps<LoadReport>;
}

/** Creates a reader, which throws a `NodeSizeError` for a node of more than `maxNodeBytes`. */
export function createLoadReportReader(maxNodeBytes: number = MAX_NODE_BYTES): LoadReportReader {
  const memory = new NodeMemory(maxNodeBytes);
  const readInSteps = (message: Uint8Array): Steps<LoadReport> => readReport(new WireReader(message), memory);
  return { read: (message) => finish(readInSteps(message)), readInSteps };
}

function* readReport(reader: WireReader, memory: NodeMemory): Steps<LoadReport> {
  const count = new EntryCount();
  let node: LoadReport["node"];
  const clusters: ClusterLoad[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) node = memory.read(reader.bytes());
    else if (tag === lengthTag(2)) clusters.push(yield* readCluster(reader.message(), count));
    else reader.skip(tag);
  }
  return { node, clusters };
}

class EntryCount {
  #left = MAX_ENTRIES;

  add(): void {
    if (this.#left-- <= 0) throw new WireError(`more than ${MAX_ENTRIES} entries in one load report`);
  }
}

function* readCluster(reader: WireReader, count: EntryCount): Steps<ClusterLoad> {
  count.add();
  yield;
  let cluster = "";
  let service = "";
  let intervalMs = 0;
  let dropped = 0;
  const droppedBy: { category: string; count: number }[] = [];
  const localities: LocalityLoad[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case lengthTag(1):
        cluster = reader.string();
        break;
      case lengthTag(2):
        localities.push(yield* readLocalityLoad(reader.message(), count));
        break;
      case varintTag(3):
        dropped = counted(reader);
        break;
      case lengthTag(4):
        intervalMs = readMilliseconds(reader.message());
        break;
      case lengthTag(5):
        count.add();
        yield;
        droppedBy.push(readDropped(reader.message()));
        break;
      case lengthTag(6):
        service = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { cluster, service, intervalMs, dropped, droppedBy, localities };
}

function readDropped(reader: WireReader): { category: string; count: number } {
  let category = "";
  let count = 0;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) category = reader.string();
    else if (tag === varintTag(2)) count = counted(reader);
    else reader.skip(tag);
  }
  return { category, count };
}

/** The counts of an `UpstreamLocalityStats`, by tag. */
const localityCounts: ReadonlyMap<number, keyof LocalityLoad & keyof typeof noCounts> = new Map([
  [varintTag(2), "succeeded"],
  [varintTag(3), "inProgress"],
  [varintTag(4), "failed"],
  [varintTag(6), "priority"],
  [varintTag(8), "issued"],
  [varintTag(9), "activeConnections"],
  [varintTag(10), "newConnections"],
  [varintTag(11), "failedConnections"],
]);
const noCounts = {
  succeeded: 0,
  failed: 0,
  issued: 0,
  inProgress: 0,
  priority: 0,
  activeConnections: 0,
  newConnections: 0,
  failedConnections: 0,
};
/** Metrics with a field of their own in v3, by name. */
export const ownMetricFields: ReadonlyMap<string, number> = new Map([
  ["cpu_utilization", 12],
  ["mem_utilization", 13],
  ["application_utilization", 14],
]);
const metricsByTag: ReadonlyMap<number, string> = new Map(
  [...ownMetricFields].map(([name, field]) => [lengthTag(field), name]),
);

function* readLocalityLoad(reader: WireReader, count: EntryCount): Steps<LocalityLoad> {
  count.add();
  yield;
  const counts = { ...noCounts };
  let locality: LocalityLoad["locality"] = { region: "", zone: "", subZone: "" };
  const metrics: LoadMetric[] = [];
  const endpoints: EndpointLoad[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    const counter = localityCounts.get(tag);
    const metric = metricsByTag.get(tag);
    if (counter !== undefined) counts[counter] = counted(reader);
    else if (metric !== undefined) {
      count.add();
      yield;
      metrics.push({ ...readMetric(reader.message(), unnamedMetric), name: metric });
    } else if (tag === lengthTag(1)) locality = readLocality(reader.message()) ?? locality;
    else if (tag === lengthTag(5)) {
      count.add();
      yield;
      metrics.push(readMetric(reader.message(), namedMetric));
    } else if (tag === lengthTag(7)) {
      count.add();
      yield;
      endpoints.push(readEndpoint(reader.message()));
    } else reader.skip(tag);
  }
  return { ...counts, locality, metrics, endpoints };
}

/** Tags of `EndpointLoadMetricStats` and of `UnnamedEndpointLoadMetricStats`. */
const namedMetric = { name: lengthTag(1), requests: varintTag(2), total: fixed64Tag(3) };
const unnamedMetric = { name: undefined, requests: varintTag(1), total: fixed64Tag(2) };

function readMetric(reader: WireReader, tags: typeof namedMetric | typeof unnamedMetric): LoadMetric {
  let name = "";
  let requests = 0;
  let total = 0;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === tags.name) name = reader.string();
    else if (tag === tags.requests) requests = counted(reader);
    else if (tag === tags.total) total = finite(reader.double());
    else reader.skip(tag);
  }
  return { name, requests, total };
}

function readEndpoint(reader: WireReader): EndpointLoad {
  const counts = { succeeded: 0, failed: 0, issued: 0, inProgress: 0 };
  let address = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) address = readAddress(reader.message());
    else if (tag === varintTag(2)) counts.succeeded = counted(reader);
    else if (tag === varintTag(3)) counts.inProgress = counted(reader);
    else if (tag === varintTag(4)) counts.failed = counted(reader);
    else if (tag === varintTag(7)) counts.issued = counted(reader);
    else reader.skip(tag);
  }
  return { ...counts, address };
}

/** Returns a socket address as `host:port`, a pipe as its path, any other as "". */
function readAddress(reader: WireReader): string {
  let address = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) address = readSocketAddress(reader.message());
    else if (tag === lengthTag(2)) address = readPipe(reader.message());
    else reader.skip(tag);
  }
  return address;
}

function readSocketAddress(reader: WireReader): string {
  let host = "";
  let port = 0;
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(2)) host = reader.string();
    else if (tag === varintTag(3)) port = reader.uint32();
    else reader.skip(tag);
  }
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function readPipe(reader: WireReader): string {
  let path = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) path = reader.string();
    else reader.skip(tag);
  }
  return path;
}

/** Reads a `Duration`; one that is negative or longer than a day counts as 0. */
function readMilliseconds(reader: WireReader): number {
  const milliseconds = readDuration(reader);
  return milliseconds > 0 && milliseconds <= LONGEST_INTERVAL_MS ? milliseconds : 0;
}

const LONGEST_INTERVAL_MS = 86_400_000;

/** Reads a uint64; an impossibly large count is 0. */
function counted(reader: WireReader): number {
  const value = reader.int64();
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** Encodes the request that says what a client is to report. */
export function encodeLoadRequest({ clusters, sendAllClusters, intervalMs, endpoints }: LoadRequest): Uint8Array {
  return new WireWriter()
    .strings(1, clusters)
    .message(2, (duration) => writeDuration(duration, intervalMs))
    .bool(3, endpoints)
    .bool(4, sendAllClusters)
    .finish();
}
