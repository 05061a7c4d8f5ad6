import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { endpoints, staticCluster } from "../../e2e/support/resource.ts";
import { startXdsServer, type XdsServer } from "../../e2e/support/server.ts";
import { createSite, type FileContent } from "../../e2e/support/site.ts";
import { createStack } from "../../e2e/support/stack.ts";
import { until } from "../../e2e/support/wait.ts";
import { type GoodClient, startGoodClient } from "./good-client.ts";

/** Limits that are passed within the time of a test. Each attack comes from an address of its own. */
const LIMITS: Readonly<Record<string, string>> = {
  "max-connections-per-peer": "300",
  "max-streams-per-peer": "2000",
  "max-subscriptions-per-stream": "210000",
  "max-received-bytes-per-peer": "24MiB",
  "max-message-time": "2s",
  "max-blocked": "2s",
  "handshake-timeout": "2s",
};
const heapReporter = pathToFileURL(join(import.meta.dirname, "report-heap.mjs")).href;

export interface SceneSettings {
  /** Beside what the client that behaves follows; 200 small clusters if absent. */
  readonly files?: Readonly<Record<string, FileContent>>;
  readonly flags?: readonly string[];
}

/** `xds serve` as a process of its own, and a client that behaves. */
export interface Scene extends AsyncDisposable {
  readonly server: XdsServer;
  readonly client: GoodClient;
  /** An address that nobody came from before. */
  nextHost(): string;
  /** Bytes that the server holds once garbage is collected. */
  heldBytes(): Promise<number>;
  /** What the server logged, a value for each line. */
  logged(): readonly LogLine[];
}

export interface LogLine {
  readonly event?: string;
  readonly peer?: string;
  readonly limit?: string;
  readonly reason?: string;
}

export async function createScene(settings: SceneSettings = {}): Promise<Scene> {
  const stack = createStack();
  const clusters = Array.from({ length: 200 }, (_, index) => staticCluster(`small-${index}`, [1]));
  const site = stack.use(
    createSite({ "followed.json": [endpoints("followed", [1])], ...(settings.files ?? { "small.json": clusters }) }),
  );
  const server = stack.use(
    await startXdsServer({
      site,
      flags: [
        ...["--log-format", "json", "--state-dir", "off"],
        ...Object.entries(LIMITS).flatMap(([name, value]) => [`--${name}`, value]),
        ...(settings.flags ?? []),
      ],
      env: { NODE_OPTIONS: `--import=${heapReporter}` },
    }),
  );
  const client = stack.use(await startGoodClient(server.port, join(site.directory, "followed.json")));
  let hosts = 1;
  return {
    server,
    client,
    nextHost: () => `127.0.0.${++hosts}`,
    async heldBytes() {
      const said = (): readonly string[] =>
        server
          .process()
          .log()
          .match(/^bytes after collection: \d+$/gm) ?? [];
      const before = said().length;
      process.kill(server.process().pid, "SIGUSR2");
      await until({ says: "the server has collected garbage", withinMs: 20_000 }, () => said().length > before);
      return Number(said().at(-1)?.split(" ").at(-1));
    },
    logged: () => server.process().log().split("\n").flatMap(readLine),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

function readLine(line: string): readonly LogLine[] {
  return line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line) as LogLine] : [];
}
