import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEnvoy } from "./envoy.ts";
import { junctionLosesWithoutServer, losesByItself, startGrpcClient } from "./grpc-client.ts";
import type { Backend } from "./http-backend.ts";
import { startHttpLoad } from "./http-load.ts";
import { adsDelta, configSource, type Mode, modes } from "./mode.ts";
import { type GrpcClientName, grpcClients, grpcV2Clients, type PeerName, speaksV2 } from "./peers.ts";
import { freePorts } from "./port.ts";
import { apiListener, cluster, endpoints, junctionName, listener, routes } from "./resource.ts";
import type { Stack } from "./stack.ts";

/** A client of any kind under load, for tests that treat all alike. */
export interface AnyClient {
  /** Resolves with the milliseconds until the backend answers it. */
  reaches(backend: Backend, withinMs: number): Promise<number>;
  /** Failures since the start, by reason. */
  lost(): Promise<Readonly<Record<string, number>>>;
}

/** One of the clients that a server serves at the same time. */
export interface ClientRow {
  /** The name of the client, and its node id. */
  readonly name: string;
  readonly peer: PeerName;
  /** What `xds nodes` prints for its streams; for a file client, how its files are written. */
  readonly speaks: string;
  /** Types arrive in any order, so a call may fail during a cluster swap (S-ORD-01). */
  readonly isUnordered?: true;
  /**
   * Failures that the client makes by itself when it has no server for some seconds. junction-core has each call wait
   * until its subscriptions are read, which happens only while it is connected, and gives up after 5 s.
   */
  readonly losesWithoutServer?: RegExp;
  /** Additional flags of the server. */
  readonly flags?: readonly string[];
  /** The files that only its node sees, while the service uses this Cluster. */
  files(clusterName: string): Readonly<Record<string, readonly object[]>>;
  start(stack: Stack, xdsPort: number): Promise<AnyClient>;
}

/** The service that all clients call, with names that junction-core accepts. */
const SERVICE = junctionName("shop.e2e.svc.cluster.local");

/**
 * All clients; adding one takes one row. Temporary directories are removed last, because the server writes to them
 * until its end.
 */
export async function everyClient(stack: Stack): Promise<readonly ClientRow[]> {
  const [filePort = 0, restPort = 0, ...ports] = await freePorts(modes.length + 2);
  return [
    ...modes.map((mode, i) => streamingRow(mode, ports[i] ?? 0)),
    pollingRow(restPort),
    readingRow(filePort, stack),
    ...grpcClients.map(grpcRow),
    ...grpcV2Clients.map(grpcRow),
    junctionRow,
  ];
}

/** The files of the service: shared ones, and those of single nodes. */
export function serviceFiles(
  rows: readonly ClientRow[],
  clusterName: string,
  port: number,
): Readonly<Record<string, readonly object[]>> {
  const shared = [
    apiListener(SERVICE, "calls"),
    routes("calls", [{ cluster: clusterName }], {}, [SERVICE.split(":")[0] ?? "", SERVICE]),
    routes("requests", [{ cluster: clusterName }]),
    cluster({ name: clusterName, serviceName: clusterName }),
    endpoints(clusterName, [port]),
  ];
  return Object.assign({ "service.json": shared }, ...rows.map((row) => row.files(clusterName)));
}

interface EnvoyWay extends Pick<ClientRow, "name" | "speaks" | "isUnordered" | "flags"> {
  readonly mode: Mode;
  readonly port: number;
  /** The config source of all its resources. */
  readonly source: object;
  readonly bootstrap?: object;
}

function streamingRow(mode: Mode, port: number): ClientRow {
  const speaks = mode.apiType === "DELTA_GRPC" ? "v3 delta" : "v3 sotw";
  return envoyRow({ name: `envoy-${mode.name}`, speaks, mode, port, source: configSource(mode) });
}

/** An Envoy that polls over REST. */
function pollingRow(port: number): ClientRow {
  const source = {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "REST",
      transport_api_version: "V3",
      cluster_names: ["xds"],
      refresh_delay: "0.1s",
      request_timeout: "5s",
    },
  };
  const bootstrap = { dynamic_resources: { lds_config: source, cds_config: source } };
  return envoyRow({
    ...{ name: "envoy-rest", speaks: "v3 sotw", isUnordered: true, mode: adsDelta },
    ...{ port, source, bootstrap },
  });
}

/** An Envoy that is configured by files that the server writes. */
function readingRow(port: number, stack: Stack): ClientRow {
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-out-"));
  stack.use({ [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) });
  const file = (name: string): object => ({
    resource_api_version: "V3",
    path_config_source: { path: join(directory, `${name}.yaml`) },
  });
  const name = "envoy-files";
  return envoyRow({
    ...{ name, speaks: "v3 delta", mode: adsDelta, port },
    flags: ["--export-directory", directory, "--export-node", name, "--export-rewrite-sources"],
    source: configSource(adsDelta),
    bootstrap: { dynamic_resources: { lds_config: file("lds"), cds_config: file("cds") } },
  });
}

function envoyRow({ name, speaks, isUnordered, flags, mode, port, source, bootstrap }: EnvoyWay): ClientRow {
  return {
    name,
    peer: "envoy",
    speaks,
    ...(isUnordered && { isUnordered }),
    ...(flags && { flags }),
    files: (clusterName) => ({
      [`nodes/${name}/service.json`]: [
        listener({ name, port, routes: "requests", source }),
        cluster({ name: clusterName, serviceName: clusterName, source, more: HTTP2 }),
      ],
    }),
    async start(stack, xdsPort) {
      const node = { id: name, cluster: "e2e" };
      const envoy = stack.use(await startEnvoy({ mode, xdsPort, node, ...(bootstrap && { bootstrap }) }));
      await envoy.ready(30_000);
      const load = stack.use(startHttpLoad({ port, keptPerSecond: 40, newPerSecond: 10 }));
      const lost: Record<string, number> = {};
      return {
        reaches: (backend, withinMs) => load.answeredBy(backend.name, withinMs),
        async lost() {
          for (const [text, count] of Object.entries(load.take().failed)) lost[text] = (lost[text] ?? 0) + count;
          return lost;
        },
      };
    },
  };
}

/** The backends serve gRPC, so Envoy uses HTTP/2. */
const HTTP2 = {
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function grpcRow(name: GrpcClientName): ClientRow {
  return callingRow(name, speaksV2(name) ? "v2 sotw" : "v3 sotw", (backend) => backend.name);
}

/** junction resolves the backends and does not call them. */
const junctionRow: ClientRow = {
  ...callingRow("junction", "v3 delta", (backend) => `127.0.0.1:${backend.port}`),
  losesWithoutServer: junctionLosesWithoutServer,
};

function callingRow(name: GrpcClientName, speaks: string, outcomeOf: (backend: Backend) => string): ClientRow {
  return {
    name,
    peer: name,
    speaks,
    files: () => ({}),
    async start(stack, xdsPort) {
      const client = stack.use(await startGrpcClient(name, { xdsPort, nodeId: name }));
      // Longer than a cold JVM needs beside a dozen other processes.
      await client.add(SERVICE, { rate: 50, deadlineMs: 30_000 });
      return {
        reaches: (backend, withinMs) => client.lastIs(SERVICE, outcomeOf(backend), withinMs),
        async lost() {
          const { failed } = await client.counts(SERVICE);
          const counted = failed.filter(({ text }) => !losesByItself(name, text));
          return Object.fromEntries(counted.map(({ code, text, count }) => [`${code} ${text}`, count]));
        },
      };
    },
  };
}
