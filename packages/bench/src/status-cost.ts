import { once } from "node:events";
import { type ClientHttp2Stream, connect } from "node:http2";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { contentDigest, createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createServer, type ManagementServer } from "@xdskit/server";
import { format } from "./figures.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const STATUS = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
const LOADS = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";
const CLIENTS = 1_000;
const CONNECTIONS = 10;
const RESOURCES = 100;
const REPORTED_CLUSTERS = 10;
const REPORTING_MS = 10_000;

/** Measures the cost of client status and of load reports for the server; its clients run in another thread. */
export async function measureStatus(): Promise<string> {
  const api = createEnvoyApi();
  const server = createServer({ api, admin: {}, limits: { maxStatusBytes: 512 * 1024 * 1024 } });
  server.commit({ changes: [{ layer: "base", puts: Array.from({ length: RESOURCES }, (_, i) => cluster(api, i)) }] });
  const { address } = await server.listen();
  const fleet = await startFleet({ kind: "clients", port: address.port });
  const whole = await askForStatus(address.port, api, {});
  const again = await askForStatus(address.port, api, {});
  const names = await askForStatus(address.port, api, { excludeResourceContents: true });
  const one = await askForStatus(address.port, api, { nodeMatchers: [{ nodeId: { exact: "node-7" } }] });
  await fleet.terminate();
  const load = await measureLoadReports(server, address.port);
  await server.close();
  const row = (what: string, { ms, cpuMs, bytes, longestMs }: StatusCost): string =>
    `| ${what} | ${format(ms)} | ${format(cpuMs)} | ${format(bytes / 1e6)} | ${format(longestMs)} |`;
  return [
    `Client status of ${CLIENTS} clients with ${RESOURCES} clusters each:`,
    "",
    "| answer | ms | processor, both sides, ms | MB | event loop late at most, ms |",
    "| --- | --- | --- | --- | --- |",
    row("everything, for the first time", whole),
    row("everything, again", again),
    row("without contents", names),
    row("one node", one),
    "",
    load,
  ].join("\n");
}

function cluster(api: EnvoyApi, number: number): Resource {
  const name = `cluster-${number}`;
  const { input } = api.readResource({
    "@type": CLUSTER,
    name,
    type: "EDS",
    connectTimeout: "1s",
    edsClusterConfig: { edsConfig: { ads: {}, resourceApiVersion: "V3" }, serviceName: `${name}.example.internal` },
  });
  if (input === undefined) throw new Error("the cluster is not read");
  return createResource(input, contentDigest);
}

interface StatusCost {
  readonly ms: number;
  /** CPU time of server and client together, in milliseconds. */
  readonly cpuMs: number;
  readonly bytes: number;
  readonly longestMs: number;
}

async function askForStatus(port: number, api: EnvoyApi, request: object): Promise<StatusCost> {
  const { bytes: message } = api.readMessage("envoy.service.status.v3.ClientStatusRequest", request);
  if (message === undefined) throw new Error("the request is not read");
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const asker = new Worker(new URL(import.meta.url), { workerData: { kind: "asker", port, message } });
  await once(asker, "message");
  delay.reset();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  asker.postMessage("go");
  const [bytes] = (await once(asker, "message")) as [number];
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  delay.disable();
  await asker.terminate();
  return { ms, cpuMs: (user + system) / 1000, bytes, longestMs: delay.max / 1e6 };
}

async function measureLoadReports(server: ManagementServer, port: number): Promise<string> {
  let reports = 0;
  server.on("load-reported", () => {
    reports++;
  });
  const fleet = await startFleet({ kind: "reporters", port });
  reports = 0;
  const before = process.cpuUsage();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  await pause(REPORTING_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  delay.disable();
  await fleet.terminate();
  const { user, system } = process.cpuUsage(before);
  return [
    `${CLIENTS} clients that report ${REPORTED_CLUSTERS} clusters every second: ${format(reports / seconds)} reports a second,`,
    `server and clients together ${format(((user + system) / 1e6 / seconds) * 100)} % of a core,`,
    `the event loop of the server was late by ${format(delay.percentile(99) / 1e6)} ms at most in 99 % of all looks, ${format(delay.max / 1e6)} ms at worst.`,
  ].join(" ");
}

async function startFleet(data: FleetData): Promise<Worker> {
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  await once(worker, "message");
  return worker;
}

type FleetData = { readonly kind: "clients" | "reporters"; readonly port: number };

function openStreams(port: number, path: string): ClientHttp2Stream[] {
  const sessions = Array.from({ length: CONNECTIONS }, () => connect(`http://127.0.0.1:${port}`));
  return Array.from({ length: CLIENTS }, (_, i) => {
    const session = sessions[i % CONNECTIONS];
    if (session === undefined) throw new Error("no session");
    return openCall(session, path);
  });
}

function openCall(session: ReturnType<typeof connect>, path: string): ClientHttp2Stream {
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  return session.request(headers, { endStream: false });
}

function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([prefix, message]);
}

function subscribe(stream: ClientHttp2Stream, number: number): Promise<unknown> {
  stream.write(frame(encodeSotwRequest({ node: { ...anonymousNode, id: `node-${number}` }, typeUrl: CLUSTER })));
  stream.on("data", () => undefined);
  return once(stream, "data").then(() => {
    // The first response of a stream has nonce 1; a request without an error ACKs it, whatever its version.
    stream.write(frame(encodeSotwRequest({ typeUrl: CLUSTER, responseNonce: "1", versionInfo: "1" })));
  });
}

function startReporting(api: EnvoyApi, streams: readonly ClientHttp2Stream[]): void {
  const encode = (value: object): Buffer => {
    const { bytes } = api.readMessage("envoy.service.load_stats.v3.LoadStatsRequest", value);
    return frame(bytes ?? new Uint8Array());
  };
  const clientFeatures = ["envoy.lrs.supports_send_all_clusters"];
  const counts = { totalIssuedRequests: 10, totalSuccessfulRequests: 9, totalErrorRequests: 1 };
  const upstreamLocalityStats = [{ locality: { region: "here", zone: "a" }, ...counts, totalRequestsInProgress: 1 }];
  const clusterStats = Array.from({ length: REPORTED_CLUSTERS }, (_, i) => {
    return { clusterName: `cluster-${i}`, loadReportInterval: "1s", upstreamLocalityStats };
  });
  const report = encode({ clusterStats });
  for (const [i, stream] of streams.entries()) {
    stream.on("data", () => undefined);
    stream.write(encode({ node: { id: `node-${i}`, clientFeatures } }));
    setTimeout(() => setInterval(() => stream.write(report), 1_000), i);
  }
}

async function beFleet({ kind, port }: FleetData): Promise<void> {
  if (kind === "clients") await Promise.all(openStreams(port, ADS).map(subscribe));
  else startReporting(createEnvoyApi(), openStreams(port, LOADS));
  await pause(1_500);
  parentPort?.postMessage("ready");
}

async function beAsker({ port, message }: { readonly port: number; readonly message: Uint8Array }): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  parentPort?.postMessage("ready");
  if (parentPort !== null) await once(parentPort, "message");
  const stream = openCall(session, STATUS);
  stream.end(frame(message));
  let bytes = 0;
  for await (const chunk of stream) bytes += (chunk as Uint8Array).byteLength;
  parentPort?.postMessage(bytes);
}

if (!isMainThread) {
  const data = workerData as
    | FleetData
    | { readonly kind: "asker"; readonly port: number; readonly message: Uint8Array };
  if (data.kind === "asker") await beAsker(data);
  else await beFleet(data);
}
