import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PeerTls } from "@xdskit/conformance";
import { endpoints, staticCluster } from "../../e2e/support/resource.ts";
import { startXdsServer, type XdsServer } from "../../e2e/support/server.ts";
import { createSite, type FileContent, type Site } from "../../e2e/support/site.ts";
import { createStack } from "../../e2e/support/stack.ts";
import { until } from "../../e2e/support/wait.ts";
import { type GoodClient, startGoodClient } from "./good-client.ts";

/** Limits that an attack can exceed during a test. Each attack comes from its own address. */
const LIMITS: Readonly<Record<string, string>> = {
  "max-connections-per-peer": "300",
  "max-streams-per-peer": "2000",
  "max-subscriptions-per-stream": "210000",
  "max-received-bytes-per-peer": "24MiB",
  "max-client-bytes-per-peer": "16MiB",
  "max-poller-bytes-per-peer": "4MiB",
  "max-message-time": "2s",
  "max-blocked": "2s",
  "handshake-timeout": "2s",
};
const heapReporter = pathToFileURL(join(import.meta.dirname, "report-heap.mjs")).href;

export interface SceneSettings {
  /** Files in addition to the good client's. @default 200 small clusters */
  readonly files?: Readonly<Record<string, FileContent>>;
  readonly flags?: readonly string[];
  /** The certificate of the client that behaves; then all come from one address. @default plaintext */
  readonly tls?: PeerTls;
}

/** `xds serve` in its own process, and a well-behaved client. */
export interface Scene extends AsyncDisposable {
  readonly site: Site;
  readonly server: XdsServer;
  readonly client: GoodClient;
  /** Returns an unused address; over TLS, the address of all. */
  nextHost(): string;
  /** Bytes that the server uses after garbage collection. */
  heldBytes(): Promise<number>;
  /** The longest turn of the server's event loop between the last two collections, in milliseconds of processor time. */
  longestTurn(): number;
  /** The server's log, an object per line. */
  logged(): readonly LogLine[];
}

export interface LogLine {
  readonly event?: string;
  readonly peer?: string;
  readonly limit?: string;
  readonly reason?: string;
  readonly file?: string;
  readonly code?: string;
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
  const client = stack.use(await startGoodClient(server.port, join(site.directory, "followed.json"), settings.tls));
  let hosts = 1;
  return {
    site,
    server,
    client,
    nextHost: () => (settings.tls === undefined ? `127.0.0.${++hosts}` : "127.0.0.1"),
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
    longestTurn: () =>
      Number(
        [
          ...server
            .process()
            .log()
            .matchAll(/^longest turn: (\S+) ms$/gm),
        ].at(-1)?.[1],
      ),
    logged: () => server.process().log().split("\n").flatMap(readLine),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

function readLine(line: string): readonly LogLine[] {
  return line.startsWith("{") && line.endsWith("}") ? [JSON.parse(line) as LogLine] : [];
}
