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
  /** Where the xDS server listens. */
  readonly xdsPort: number;
  readonly node?: { readonly id?: string; readonly cluster?: string; readonly metadata?: object };
  /** Merged into the bootstrap at the top. */
  readonly bootstrap?: object;
  /** How it reaches the xDS server, if not in plaintext. */
  readonly xdsTransportSocket?: object;
  /** Listeners that are not discovered. */
  readonly staticListeners?: readonly object[];
  /** Clusters that are not discovered: then none are, nor are Listeners. */
  readonly staticClusters?: readonly object[];
  /** Merged into the ApiConfigSource of ADS. */
  readonly ads?: object;
}

/** A running Envoy, asked by its admin interface. */
export interface Envoy extends AsyncDisposable {
  readonly process: StartedProcess;
  readonly adminPort: number;
  /** Resolves with the milliseconds since its start when `/ready` says so. */
  ready(withinMs: number): Promise<number>;
  /** Counters and gauges by their full name; a name that does not exist yet is 0. */
  stats(): Promise<Stats>;
  /** The text read-outs (versions) whose name matches. */
  texts(filter: string): Promise<Readonly<Record<string, string>>>;
  /** A GET on the admin interface, as JSON. */
  admin(path: string): Promise<unknown>;
  /** Names in `/config_dump?resource=`. */
  dumped(resource: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

export type Stats = (name: string) => number;

/** Starts Envoy with one worker. It is up when `ready` resolves; a start that fails rejects there. */
export async function startEnvoy(settings: EnvoySettings): Promise<Envoy> {
  const adminPort = await freePort();
  return startEnvoyFrom(JSON.stringify({ ...envoyBootstrap(settings, adminPort), ...settings.bootstrap }), adminPort);
}

/** The same with a bootstrap as it is, JSON or YAML, whose admin interface listens at this port. */
export async function startEnvoyFrom(text: string, adminPort: number): Promise<Envoy> {
  const command = envoyCommand();
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-envoy-"));
  const bootstrap = join(directory, "bootstrap.yaml");
  writeFileSync(bootstrap, text);
  const startedAt = performance.now();
  const process = await startProcess([
    ...command,
    ...["-c", bootstrap, "--disable-hot-restart", "--concurrency", "1"],
    ...["-l", "warning", "--component-log-level", "config:info,upstream:info"],
    ...["--drain-time-s", "1", "--parent-shutdown-time-s", "2", "--file-flush-interval-msec", "50"],
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

/** What `envoy --mode validate` says of a bootstrap, and its exit code. */
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

/** How many of its streams to the server are open: one on ADS, else one for each type and name. */
export async function connectedStreams(envoy: Envoy): Promise<number> {
  return (await connectedStates(envoy)).filter((state) => state === 1).length;
}

/** Every stream that Envoy wants is open; each has a back-off of its own. */
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

/** Every `init_fetch_timeout` that is not 0: what waited for a timer because the server did not say it. */
export async function timersFired(envoy: Envoy): Promise<Readonly<Record<string, number>>> {
  const { stats } = (await envoy.admin("/stats?format=json&filter=init_fetch_timeout")) as {
    stats: readonly { name?: string; value?: number }[];
  };
  return Object.fromEntries(
    stats.flatMap(({ name, value = 0 }) => (name === undefined || value === 0 ? [] : [[name, value]])),
  );
}

/** The start-up configuration for a mode; `bootstrap` of the settings replaces top-level fields of it. */
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

/** The cluster through which Envoy reaches the xDS server. */
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
