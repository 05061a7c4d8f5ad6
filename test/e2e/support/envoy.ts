import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiConfigSource, configSource, type Mode } from "./mode.ts";
import { peerCommand } from "./peers.ts";
import { freePort } from "./port.ts";
import { type StartedProcess, startProcess } from "./process.ts";
import { until } from "./wait.ts";

export interface EnvoySettings {
  readonly mode: Mode;
  /** The port of the xDS server. */
  readonly xdsPort: number;
  readonly node?: { readonly id?: string; readonly cluster?: string; readonly metadata?: object };
  /** Merged into the top level of the bootstrap. */
  readonly bootstrap?: object;
  /** The transport socket to the xDS server; plaintext if absent. */
  readonly xdsTransportSocket?: object;
  /** Static listeners. */
  readonly staticListeners?: readonly object[];
  /** Static clusters; disables dynamic clusters and listeners. */
  readonly staticClusters?: readonly object[];
  /** Merged into the ApiConfigSource of ADS. */
  readonly ads?: object;
  /** When a former listener closes its connections, also those that wait for a response. @default 1 */
  readonly drainSeconds?: number;
}

/** A running Envoy with its admin interface. */
export interface Envoy extends AsyncDisposable {
  readonly process: StartedProcess;
  readonly adminPort: number;
  /** Waits for `/ready`; resolves with the milliseconds since the start. */
  ready(withinMs: number): Promise<number>;
  /** Counters and gauges by their full names; missing ones are 0. */
  stats(): Promise<Stats>;
  /** Text readouts (versions) whose names match. */
  texts(filter: string): Promise<Readonly<Record<string, string>>>;
  /** GETs JSON from the admin interface. */
  admin(path: string): Promise<unknown>;
  /** A section of `/config_dump?resource=`. */
  dumped(resource: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export type Stats = (name: string) => number;

/** Starts Envoy with one worker. Await `ready`, which rejects if the start fails. */
export async function startEnvoy(settings: EnvoySettings): Promise<Envoy> {
  const adminPort = await freePort();
  const bootstrap = { ...envoyBootstrap(settings, adminPort), ...settings.bootstrap };
  return startEnvoyFrom(JSON.stringify(bootstrap), adminPort, settings.drainSeconds);
}

/** Starts Envoy with a literal bootstrap, JSON or YAML, whose admin interface uses this port. */
export async function startEnvoyFrom(text: string, adminPort: number, drainSeconds = 1): Promise<Envoy> {
  const command = envoyCommand();
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-envoy-"));
  const bootstrap = join(directory, "bootstrap.yaml");
  writeFileSync(bootstrap, text);
  const startedAt = performance.now();
  const process = await startProcess([
    ...command,
    ...["-c", bootstrap, "--disable-hot-restart", "--concurrency", "1"],
    ...["-l", "warning", "--component-log-level", "config:info,upstream:info"],
    ...["--drain-time-s", `${drainSeconds}`, "--parent-shutdown-time-s", `${drainSeconds + 1}`],
    ...["--file-flush-interval-msec", "50"],
  ]);
  const get = async (path: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${adminPort}${path}`);
    const body = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body}`);
    return body;
  };
  return {
    process,
    adminPort,
    async ready(withinMs) {
      await until({ says: "Envoy is ready", withinMs }, async () => {
        if (process.ended() !== undefined) return false;
        return (await get("/ready")).startsWith("LIVE");
      }).catch((error: unknown) => {
        throw new Error(`Envoy is not ready; it says:\n${process.log().slice(-3000)}`, { cause: error });
      });
      return Math.round(performance.now() - startedAt);
    },
    async stats() {
      const { stats } = JSON.parse(await get("/stats?format=json")) as {
        stats: readonly { name?: string; value?: number }[];
      };
      const byName = new Map(stats.map((stat) => [stat.name, stat.value]));
      return (name) => byName.get(name) ?? 0;
    },
    async texts(filter) {
      const text = await get(`/stats?type=TextReadouts&filter=${encodeURIComponent(filter)}`);
      const pairs = text.split("\n").flatMap((line) => [...line.matchAll(/^(.*): "(.*)"$/g)]);
      return Object.fromEntries(pairs.map(([, name, value]) => [name ?? "", value ?? ""]));
    },
    admin: async (path) => JSON.parse(await get(path)) as unknown,
    async dumped(resource) {
      const dump = JSON.parse(await get(`/config_dump?resource=${resource}`)) as {
        configs?: Record<string, unknown>[];
      };
      return dump.configs ?? [];
    },
    async [Symbol.asyncDispose]() {
      await process.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The output and exit code of `envoy --mode validate`. */
export function validateBootstrap(text: string): { readonly code: number | null; readonly says: string } {
  const [program = "", ...args] = envoyCommand();
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-envoy-"));
  const file = join(directory, "bootstrap.yaml");
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(program, [...args, "--mode", "validate", "-l", "warning", "-c", file], {
    encoding: "utf8",
  });
  rmSync(directory, { recursive: true, force: true });
  return { code: status, says: `${stdout}${stderr}`.replaceAll(file, "FILE").trim() };
}

function envoyCommand(): readonly string[] {
  const command = peerCommand("envoy");
  if (command === undefined) throw new Error("Envoy is not installed: node tools/peers/install.mjs envoy");
  return command;
}

/** The number of open streams to the server: one with ADS, else one per type and name. */
export async function connectedStreams(envoy: Envoy): Promise<number> {
  return (await connectedStates(envoy)).filter((state) => state === 1).length;
}

/** Whether every stream is open; each has its own back-off. */
export async function isConnected(envoy: Envoy): Promise<boolean> {
  const states = await connectedStates(envoy);
  return states.length > 0 && states.every((state) => state === 1);
}

async function connectedStates(envoy: Envoy): Promise<number[]> {
  const { stats } = (await envoy.admin("/stats?format=json&filter=control_plane.connected_state")) as {
    stats: readonly { name?: string; value?: number }[];
  };
  return stats.flatMap(({ value }) => (value === undefined ? [] : [value]));
}

/** Every `init_fetch_timeout` counter that is not 0: subscriptions that timed out without a response. */
export async function timersFired(envoy: Envoy): Promise<Readonly<Record<string, number>>> {
  const { stats } = (await envoy.admin("/stats?format=json&filter=init_fetch_timeout")) as {
    stats: readonly { name?: string; value?: number }[];
  };
  return Object.fromEntries(
    stats.flatMap(({ name, value = 0 }) => (name === undefined || value === 0 ? [] : [[name, value]])),
  );
}

/** The bootstrap for a mode; `bootstrap` of the settings replaces its top-level fields. */
export function envoyBootstrap(settings: EnvoySettings, adminPort: number): Readonly<Record<string, unknown>> {
  const { mode, staticClusters, staticListeners = [] } = settings;
  const unified = { name: "unified", static_layer: { "envoy.reloadable_features.unified_mux": true } };
  return {
    ...(mode.unifiedMux === true ? { layered_runtime: { layers: [unified] } } : {}),
    node: { id: "e2e-1", cluster: "e2e", ...settings.node },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: adminPort } } },
    dynamic_resources: {
      ...(mode.aggregated ? { ads_config: apiConfigSource(mode, settings.ads) } : {}),
      ...(staticClusters === undefined ? { cds_config: configSource(mode), lds_config: configSource(mode) } : {}),
    },
    static_resources: { clusters: [xdsCluster(settings), ...(staticClusters ?? [])], listeners: staticListeners },
  };
}

/** The cluster of the xDS server. */
function xdsCluster({ xdsPort, xdsTransportSocket }: EnvoySettings): object {
  return {
    ...(xdsTransportSocket === undefined ? {} : { transport_socket: xdsTransportSocket }),
    name: "xds",
    type: "STATIC",
    connect_timeout: "1s",
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: { http2_protocol_options: { connection_keepalive: { interval: "5s", timeout: "2s" } } },
      },
    },
    load_assignment: {
      cluster_name: "xds",
      endpoints: [
        {
          lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: xdsPort } } } }],
        },
      ],
    },
  };
}
