import { join } from "node:path";
import type { NodesAnswer, ServerAnswer } from "@xdskit/server";
import { root } from "./peers.ts";
import { freePort } from "./port.ts";
import { type StartedProcess, startProcess } from "./process.ts";
import type { Site } from "./site.ts";
import { until } from "./wait.ts";

export interface XdsServerSettings {
  readonly site: Site;
  readonly flags?: readonly string[];
  /** Whether it follows the store of the flags, and reads no directory. @default false */
  readonly isFollower?: boolean;
  /** Whether fuses hold changes. @default false, because stories remove and replace everything */
  readonly hasFuses?: boolean;
  /** The port to listen on. @default a free one */
  readonly port?: number;
  /** False for a broken directory: the server runs, but is not ready. */
  readonly expectReady?: boolean;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `xds serve DIR` in its own process. */
export interface XdsServer extends AsyncDisposable {
  readonly port: number;
  readonly adminPort: number;
  readonly process: () => StartedProcess;
  /** GETs JSON from the admin API. */
  admin(path: string): Promise<unknown>;
  /** The value of a metric, summed over all series with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** The revision of the newest transaction. */
  revision(): Promise<number>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Restarts it on the same ports; resolves when it is ready, or with a broken directory when it runs. */
  start(options?: { readonly expectReady?: boolean }): Promise<void>;
}

const noFuses: readonly string[] = [
  ...["--fuses-resources-removed", "off", "--no-fuses-last-listener", "--fuses-nodes-moved", "off"],
  ...["--fuses-endpoints-emptied", "off"],
  ...["--fuses-nodes-cut-off", "off", "--fuses-size-grown", "off", "--fuses-size-shrunk", "off"],
];

/** Starts a server and waits until it is ready. */
export async function startXdsServer(settings: XdsServerSettings): Promise<XdsServer> {
  const port = settings.port ?? (await freePort());
  const adminPort = await freePort();
  const base = `http://127.0.0.1:${adminPort}`;
  let process: StartedProcess;
  const start = async ({
    expectReady = settings.expectReady,
  }: {
    expectReady?: boolean | undefined;
  } = {}): Promise<void> => {
    process = await startProcess(
      [
        ...xdsCommand(),
        ...["serve", ...(settings.isFollower === true ? [] : [settings.site.directory])],
        ...["--listen", `127.0.0.1:${port}`, "--admin", `127.0.0.1:${adminPort}`],
        ...(settings.hasFuses === true ? [] : noFuses),
        ...(settings.flags ?? []),
      ],
      { cwd: settings.site.directory, ...(settings.env === undefined ? {} : { env: settings.env }) },
    );
    const path = expectReady === false ? "/livez" : "/readyz";
    await until({ says: `xds serve answers ${path}`, withinMs: 30_000 }, async () => {
      const end = process.ended();
      if (end !== undefined) return true;
      return (await fetch(`${base}${path}`)).ok;
    }).catch((error: unknown) => {
      throw new Error(`xds serve is not ready:\n${process.log().slice(-3000)}`, { cause: error });
    });
    const end = process.ended();
    if (end !== undefined)
      throw new Error(`xds serve ended with ${end.code ?? end.signal}:\n${process.log().slice(-3000)}`);
  };
  const admin = async (path: string): Promise<unknown> => {
    const response = await fetch(`${base}${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as unknown;
  };
  /** Approves what a restarted server holds because its directory was set back; stories do that on purpose. */
  const adopt = async (): Promise<void> => {
    let status: ServerAnswer | undefined;
    await until({ says: "xds serve has read its directory", withinMs: 30_000 }, async () => {
      status = (await admin("/api/v1/server")) as ServerAnswer;
      return status.source.state !== "loading";
    });
    const held = status?.ledger?.held?.number;
    if (held !== undefined) await fetch(`${base}/api/v1/approve/${held}`, { method: "POST" });
  };
  await start();
  return {
    port,
    adminPort,
    process: () => process,
    admin,
    revision: async () => Number(((await admin("/api/v1/server")) as { revision?: unknown }).revision),
    async metric(name, labels = {}) {
      const text = await (await fetch(`${base}/metrics`)).text();
      return sumSeries(text, name, labels);
    },
    kill: () => process.kill(),
    async start(options) {
      await start(options);
      if (settings.hasFuses !== true) await adopt();
    },
    // A test does not wait for draining.
    [Symbol.asyncDispose]: () => process.kill(),
  };
}

/** The output of `xds nodes`. */
export async function nodesOf({ adminPort }: XdsServer): Promise<NodesAnswer> {
  const asked = await startProcess([...xdsCommand(), "nodes", "-o", "json", "--admin", `127.0.0.1:${adminPort}`]);
  // The process may exit before its output has been read.
  await asked.closed;
  return JSON.parse(asked.log()) as NodesAnswer;
}

/** The built command with the Node that runs the tests; XDS_E2E_COMMAND names another, such as an installed package. */
export function xdsCommand(): readonly string[] {
  const named = globalThis.process.env["XDS_E2E_COMMAND"];
  return named === undefined ? [globalThis.process.execPath, join(root, "packages/cli/bin/xds.js")] : named.split(" ");
}

/** Sums the series of a metric in Prometheus text format. */
function sumSeries(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
