import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEnvoy } from "./envoy.ts";
import { losesByItself, startGrpcClient } from "./grpc-client.ts";
import type { Backend } from "./http-backend.ts";
import { startHttpLoad } from "./http-load.ts";
import { adsDelta, configSource, type Mode, modes } from "./mode.ts";
import { type GrpcClientName, grpcClients, grpcV2Clients, type PeerName, speaksV2 } from "./peers.ts";
import { freePorts } from "./port.ts";
import { apiListener, cluster, endpoints, junctionName, listener, routes } from "./resource.ts";
import type { Stack } from "./stack.ts";

/** A client of any kind, under load, as far as a test needs it that does the same with all of them. */
export interface AnyClient {
  /** Resolves with the milliseconds until that backend answers it. */
  reaches(backend: Backend, withinMs: number): Promise<number>;
  /** What failed since it was started, and how often. */
  lost(): Promise<Readonly<Record<string, number>>>;
}

/** One of the clients that a server is to serve at the same time. */
export interface ClientRow {
  /** Also the id of its node. */
  readonly name: string;
  readonly peer: PeerName;
  /** What `xds nodes` says of its streams; of one that reads files, how they are written. */
  readonly speaks: string;
  /** Each type comes when it comes, so a call may fail while one Cluster is swapped for another (S-ORD-01). */
  readonly isUnordered?: true;
  /** What the server is to do for it besides. */
  readonly flags?: readonly string[];
  /** The files that only its node sees, while the service is on this Cluster. */
  files(clusterName: string): Readonly<Record<string, readonly object[]>>;
  start(stack: Stack, xdsPort: number): Promise<AnyClient>;
}

/** The one service that all of them call; its names are such as junction-core takes. */
const SERVICE = junctionName("shop.e2e.svc.cluster.local");

/** Every client that there is; another one is a row more. What they need goes last: the server writes to it as long as it runs. */
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

/** The files of the service: what everybody sees, and what is of single nodes. */
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
  /** The ConfigSource of all that it is given. */
  readonly source: object;
  readonly bootstrap?: object;
}

function streamingRow(mode: Mode, port: number): ClientRow {
  const speaks = mode.apiType === "DELTA_GRPC" ? "v3 delta" : "v3 sotw";
  return envoyRow({ name: `envoy-${mode.name}`, speaks, mode, port, source: configSource(mode) });
}

/** An Envoy that polls. */
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

/** An Envoy that has nothing but the files that the server writes. */
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

/** The backends answer calls, so an Envoy talks HTTP/2 to them. */
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

/** It resolves the backends and does not call them. */
const junctionRow = callingRow("junction", "v3 delta", (backend) => `127.0.0.1:${backend.port}`);

function callingRow(name: GrpcClientName, speaks: string, outcomeOf: (backend: Backend) => string): ClientRow {
  return {
    name,
    peer: name,
    speaks,
    files: () => ({}),
    async start(stack, xdsPort) {
      const client = stack.use(await startGrpcClient(name, { xdsPort, nodeId: name }));
      // Longer than a cold JVM takes beside a dozen other processes.
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
