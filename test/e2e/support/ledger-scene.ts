import { execFileSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { connectPeer } from "@xdskit/conformance";
import { encodeLoadReport } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import type { RevisionsAnswer, ServerAnswer } from "@xdskit/server";
import { MARKUP, MARKUP_REASON } from "./console-scene.ts";
import { CLUSTER } from "./delta-client.ts";
import { listener, routes, staticCluster } from "./resource.ts";
import { startXdsServer, type XdsServer } from "./server.ts";
import { startFleet } from "./simulated-fleet.ts";
import { createSite, type FileContent } from "./site.ts";
import { createStack, type Stack } from "./stack.ts";
import { until } from "./wait.ts";

const REASON = "cluster cart: connect_timeout above the limit of this build";
const LOADS = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";

/** How long the server takes the newest commit for the one that it asked Git for. */
const ORIGIN_FRESH_MS = 1_100;

/** How many nodes there are; two of them reject what is called `broken`. */
export const LEDGER_NODES = 60;

export interface LedgerScene {
  readonly server: XdsServer;
  readonly url: string;
  /** Commits files and puts them in place; resolves when the server has recorded what became of them. */
  publish(files: Readonly<Record<string, FileContent | undefined>>, message: string): Promise<void>;
  /** The newest records, newest first. */
  records(): Promise<RevisionsAnswer["items"]>;
  /** The number of the held change. */
  held(): Promise<number | undefined>;
  /** A client reports the load of two clusters. */
  reportLoad(): Promise<void>;
}

/** The clusters of a file; each has a connect timeout of so many seconds. */
export function clusters(names: readonly string[], seconds: number = 1): Record<string, FileContent> {
  return {
    "clusters.json": names.map((name) =>
      staticCluster(name, [9_000 + name.length], { connect_timeout: `${seconds}s` }),
    ),
  };
}

export const TEAMS = ["cart", "catalog", "checkout", "identity", "ledger", "payments", "search", "shipping"];
export const ALL = TEAMS.flatMap((team) => [team, `${team}-v2`, `${team}-canary`]);

/** `xds serve` on a Git work tree with 24 clusters, fuses, and nodes. `hasMarkup`: names that try to be markup. */
export async function startLedgerScene(
  stack: Stack,
  { hasMarkup }: { readonly hasMarkup: boolean },
): Promise<LedgerScene> {
  const site = stack.use(createSite());
  const git = (...args: readonly string[]): void => {
    execFileSync("git", ["-C", site.directory, ...args], { stdio: "pipe" });
  };
  git("init", "--quiet");
  git("config", "user.name", "release pipeline");
  git("config", "user.email", "release@example.com");
  let current: Readonly<Record<string, FileContent | undefined>> = {};
  /** The commit is made before its files are in place, so that the server never finds a change without it. */
  const put = async (files: Readonly<Record<string, FileContent | undefined>>, message: string): Promise<void> => {
    current = { ...current, ...files };
    await using staged = createStack();
    const { directory } = staged.use(createSite(current));
    git("--work-tree", directory, "add", "--all");
    git("--work-tree", directory, "commit", "--quiet", "--allow-empty", "--message", message);
    site.write(files);
  };
  await put(
    {
      ...clusters(hasMarkup ? [...ALL, MARKUP] : ALL),
      "routes.json": [routes("web-routes", [{ cluster: "cart" }, { cluster: "catalog" }])],
      "listeners.json": [listener({ name: "web", port: 10_000, routes: "web-routes" })],
      "secrets.json": [secret("must-never-be-shown")],
    },
    hasMarkup ? MARKUP : "Serve all teams",
  );
  const server = stack.use(await startXdsServer({ site, hasFuses: true, flags: ["--load-reports-interval", "1s"] }));
  const ids = Array.from({ length: LEDGER_NODES }, (_, index) => {
    const id = index === 0 && hasMarkup ? `edge-${MARKUP}` : `edge-${String(index).padStart(2, "0")}`;
    return { id, cluster: "edge", userAgentName: "envoy", userAgentVersion: "1.39.0" };
  });
  const fleet = stack.use(
    await startFleet({ port: server.port, nodes: ids, routesOf: () => ["web-routes"], secrets: ["edge-tls"] }),
  );
  const rejecting = ids.slice(0, 2).map(({ id }) => id);
  let isRejecting = false;
  let recordedAt = performance.now();
  fleet.answers = (id, type) =>
    isRejecting && type === CLUSTER && rejecting.includes(id) ? { nack: hasMarkup ? MARKUP_REASON : REASON } : "ack";
  const status = async (): Promise<ServerAnswer> => (await server.admin("/api/v1/server")) as ServerAnswer;
  const deployed = async (): Promise<unknown> =>
    await until({ says: "all nodes have it", withinMs: 60_000, everyMs: 50 }, async () => {
      const progress = (await server.admin("/api/v1/progress/head")) as { deployed: number };
      return progress.deployed === LEDGER_NODES;
    });
  await deployed();
  return {
    server,
    url: `http://127.0.0.1:${server.adminPort}/console/`,
    async publish(files, message) {
      const { ledger: before } = await status();
      await setTimeout(Math.max(0, recordedAt + ORIGIN_FRESH_MS - performance.now()));
      isRejecting = message.includes("broken");
      await put(files, message);
      await until({ says: "the change is recorded", withinMs: 30_000, everyMs: 50 }, async () => {
        const { ledger } = await status();
        return ledger !== undefined && ledger.number > (before?.number ?? 0);
      });
      recordedAt = performance.now();
    },
    records: async () => ((await server.admin("/api/v1/revisions")) as RevisionsAnswer).items,
    held: async () => (await status()).ledger?.held?.number,
    async reportLoad() {
      const peer = await connectPeer({ address: `127.0.0.1:${server.port}` });
      stack.use({ [Symbol.asyncDispose]: () => peer.close() });
      const stream = peer.open(LOADS);
      const node = { ...anonymousNode, id: "edge-00", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] };
      stream.send(encodeLoadReport("v3", { node, clusters: [] }));
      await stream.messages[Symbol.asyncIterator]().next();
      stream.send(
        encodeLoadReport("v3", { node: undefined, clusters: [load("cart", 900, 90), load("search", 40, 0)] }),
      );
      await until({ says: "the load is known", withinMs: 30_000, everyMs: 50 }, async () => {
        const { total } = (await server.admin("/api/v1/loads")) as { total: number };
        return total === 2;
      });
    },
  };
}

export function secret(content: string): object {
  return {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    name: "edge-tls",
    generic_secret: { secret: { inline_string: content } },
  };
}

type Loads = Parameters<typeof encodeLoadReport>[1]["clusters"];

function load(cluster: string, issued: number, failed: number): Loads[number] {
  const locality = { region: "eu-central", zone: "eu-central-1", subZone: "" };
  const counts = { issued, failed, succeeded: issued - failed, inProgress: 7 };
  const connections = { activeConnections: 0, newConnections: 0, failedConnections: 0 };
  const one = { locality, priority: 0, ...counts, ...connections, metrics: [], endpoints: [] };
  return { cluster, service: "", intervalMs: 1_000, dropped: 0, droppedBy: [], localities: [one] };
}
