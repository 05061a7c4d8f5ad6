import { startEnvoy } from "./envoy.ts";
import { losesByItself, startGrpcClient } from "./grpc-client.ts";
import type { Backend } from "./http-backend.ts";
import { startHttpLoad } from "./http-load.ts";
import { configSource, type Mode, modes } from "./mode.ts";
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
  /** What `xds nodes` says of its streams. */
  readonly speaks: string;
  /** The files that only its node sees, while the service is on this Cluster. */
  files(clusterName: string): Readonly<Record<string, readonly object[]>>;
  start(stack: Stack, xdsPort: number): Promise<AnyClient>;
}

/** The one service that all of them call; its names are such as junction-core takes. */
const SERVICE = junctionName("shop.e2e.svc.cluster.local");

/** Every client that there is; another one is a row more. */
export async function everyClient(): Promise<readonly ClientRow[]> {
  const ports = await freePorts(modes.length);
  return [
    ...modes.map((mode, i) => envoyRow(mode, ports[i] ?? 0)),
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

function envoyRow(mode: Mode, port: number): ClientRow {
  const name = `envoy-${mode.name}`;
  const source = configSource(mode);
  return {
    name,
    peer: "envoy",
    speaks: mode.apiType === "DELTA_GRPC" ? "v3 delta" : "v3 sotw",
    files: (clusterName) => ({
      [`nodes/${name}/service.json`]: [
        listener({ name, port, routes: "requests", source }),
        cluster({ name: clusterName, serviceName: clusterName, source, more: HTTP2 }),
      ],
    }),
    async start(stack, xdsPort) {
      const envoy = stack.use(await startEnvoy({ mode, xdsPort, node: { id: name, cluster: "e2e" } }));
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
