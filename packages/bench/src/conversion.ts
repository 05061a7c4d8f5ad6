import { connectPeer } from "@xdskit/conformance";
import { contentDigest, createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import { decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, createResource, formatTypeUrl, type Resource, type TypeUrl } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";
import { format, median } from "./figures.ts";

const STREAMS = 1_000;
const CHANGES = 20;
const CONVERSIONS = 20_000;
const ENDPOINTS = 100;

const type = {
  cluster: formatTypeUrl("envoy.config.cluster.v3.Cluster"),
  endpoints: formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  listener: formatTypeUrl("envoy.config.listener.v3.Listener"),
};
const clusterInV2 = formatTypeUrl("envoy.api.v2.Cluster");
const http = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const router = "envoy.extensions.filters.http.router.v3.Router";
const ads = { ads: {}, resource_api_version: "V3" };

/** The cost of serving v3 resources to v2 clients. */
export interface ConversionCost {
  /** CPU time in microseconds, and size in bytes, per resource. */
  readonly resources: readonly { readonly name: string; readonly us: number; readonly bytes: number }[];
  /**
   * One changed Cluster for 1,000 delta streams: milliseconds until the last one has it, and conversions per change.
   */
  readonly change: { readonly v3Ms: number; readonly v2Ms: number; readonly conversions: number };
}

/**
 * Converts resources of three kinds, then changes one that 1,000 streams of each API version subscribe to, all in this
 * process.
 */
export async function measureConversion(): Promise<ConversionCost> {
  const api = createEnvoyApi();
  const resources = samples(api).map(({ name, resource }) => {
    for (let i = 0; i < CONVERSIONS / 10; i++) api.convert(resource.type, resource.bytes);
    const before = process.cpuUsage();
    for (let i = 0; i < CONVERSIONS; i++) api.convert(resource.type, resource.bytes);
    const { user, system } = process.cpuUsage(before);
    return { name, us: (user + system) / CONVERSIONS, bytes: resource.bytes.length };
  });
  const inV3 = await measureChanges(api, type.cluster, "v3");
  const inV2 = await measureChanges(api, clusterInV2, "v2");
  return { resources, change: { v3Ms: inV3.ms, v2Ms: inV2.ms, conversions: inV2.conversions } };
}

/** Formats the costs as Markdown tables. */
export function conversionTable({ resources, change }: ConversionCost): string {
  return [
    "| converted to v2 | bytes | µs |",
    "|---|---|---|",
    ...resources.map(({ name, us, bytes }) => `| ${name} | ${bytes} | ${format(us)} |`),
    "",
    `| one Cluster changed, ${STREAMS.toLocaleString("en")} delta streams | until the last has it, ms | conversions |`,
    "|---|---|---|",
    `| v3 | ${format(change.v3Ms)} | 0 |`,
    `| v2 | ${format(change.v2Ms)} | ${change.conversions} |`,
  ].join("\n");
}

function samples(api: EnvoyApi): readonly { readonly name: string; readonly resource: Resource }[] {
  const endpoint = (i: number): object => ({
    endpoint: { address: { socket_address: { address: `10.0.0.${i % 250}`, port_value: 80 } } },
  });
  const lb_endpoints = Array.from({ length: ENDPOINTS }, (_, i) => endpoint(i));
  const manager = {
    "@type": `type.googleapis.com/${http}`,
    stat_prefix: "in",
    rds: { route_config_name: "r", config_source: ads },
    http_filters: [{ name: "envoy.router", typed_config: { "@type": `type.googleapis.com/${router}` } }],
  };
  return [
    {
      name: `${ENDPOINTS} endpoints, whose bytes are shared`,
      resource: read(api, type.endpoints, {
        cluster_name: "c",
        endpoints: [{ locality: { region: "r" }, lb_endpoints }],
      }),
    },
    { name: "a Cluster with endpoints by EDS", resource: cluster(api, "c", 1) },
    {
      name: "a Listener with routes by RDS",
      resource: read(api, type.listener, {
        name: "l",
        address: { socket_address: { address: "0.0.0.0", port_value: 80 } },
        filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
      }),
    },
  ];
}

function cluster(api: EnvoyApi, name: string, seconds: number): Resource {
  const fields = { name, type: "EDS", connect_timeout: `${seconds}s`, eds_cluster_config: { eds_config: ads } };
  return read(api, type.cluster, fields);
}

function read(api: EnvoyApi, url: TypeUrl, fields: object): Resource {
  const { input, problems } = api.readResource({ "@type": url, ...fields });
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

async function measureChanges(
  api: EnvoyApi,
  asked: TypeUrl,
  version: "v2" | "v3",
): Promise<{ readonly ms: number; readonly conversions: number }> {
  await using server = createServer({ api });
  let conversions = 0;
  server.on("converted", ({ resources }) => {
    conversions += resources;
  });
  server.commit({ changes: [{ layer: "base", puts: [cluster(api, "c", 1)] }] });
  const { address } = await server.listen();
  await using peer = await connectPeer({ address: `${address.host}:${address.port}` });
  const path = `/envoy.service.discovery.${version}.AggregatedDiscoveryService/DeltaAggregatedResources`;
  const streams = Array.from({ length: STREAMS }, () => {
    const stream = peer.open(path);
    stream.send(encodeDeltaRequest({ node: { ...anonymousNode, id: "n" }, typeUrl: asked }));
    const messages = stream.messages[Symbol.asyncIterator]();
    return async () => {
      const { value } = await messages.next();
      stream.send(encodeDeltaRequest({ typeUrl: asked, responseNonce: decodeDeltaResponse(value).nonce }));
    };
  });
  await Promise.all(streams.map((next) => next()));
  conversions = 0;
  const times: number[] = [];
  for (let round = 0; round <= CHANGES; round++) {
    const received = Promise.all(streams.map((next) => next()));
    const startedAt = performance.now();
    server.commit({ changes: [{ layer: "base", puts: [cluster(api, "c", round + 2)] }] });
    await received;
    times.push(performance.now() - startedAt);
  }
  return { ms: median(times.slice(1)), conversions: conversions / (CHANGES + 1) };
}
