import { CLUSTER } from "./delta-client.ts";
import { cluster, endpoints, listener, routes } from "./resource.ts";
import { startXdsServer, type XdsServer } from "./server.ts";
import { type SimulatedFleet, startFleet } from "./simulated-fleet.ts";
import { createSite, type Site } from "./site.ts";
import type { Stack } from "./stack.ts";
import { until } from "./wait.ts";

export const SERVICES = ["cart", "catalog", "checkout", "identity", "ledger", "payments", "search", "shipping"];
const GROUPS = ["edge", "edge", "edge", "mesh", "mesh", "batch"];
const BUILDS = ["1.39.0", "1.39.0", "1.39.0", "1.38.2", "1.38.2", "1.34.1"];

/** What markup in a name must never become. */
export const MARKUP = `<img src=x onerror="window.attacked='name'">`;
export const MARKUP_REASON = `<script>window.attacked='reason'</script> route: no such cluster`;

const REASON = "cluster ledger-v2: unknown field in the HTTP protocol options";

export interface ConsoleScene {
  readonly server: XdsServer;
  readonly site: Site;
  readonly fleet: SimulatedFleet;
  readonly url: string;
  /** Moves every endpoint to other ports, and waits until every node ACKed that. */
  move(by: number): Promise<void>;
  /** Makes a change that some nodes reject, some leave unanswered, and the others ACK. */
  change(): Promise<void>;
  /** The nodes by state, as the server counts them. */
  nodesIn(state: string): Promise<number>;
}

/** `xds serve` with a few services, and so many nodes. `hasMarkup`: names and reasons that try to be markup. */
export async function startConsoleScene(
  stack: Stack,
  { nodes, hasMarkup }: { readonly nodes: number; readonly hasMarkup: boolean },
): Promise<ConsoleScene> {
  const site = stack.use(createSite(filesOf(SERVICES)));
  // The node that stays silent has to be waited for as long as the tests look at it.
  const server = stack.use(await startXdsServer({ site, flags: ["--order-limit", "1h"] }));
  const ids = Array.from({ length: nodes }, (_, index) => {
    const group = GROUPS[index % GROUPS.length] ?? "";
    return {
      id: index === 1 && hasMarkup ? `edge-${MARKUP}` : `${group}-${String(index).padStart(5, "0")}`,
      cluster: group,
      userAgentName: "envoy",
      userAgentVersion: BUILDS[(index * 7) % BUILDS.length] ?? "",
      locality: { region: "eu-central", zone: `eu-central-${index % 3}`, subZone: "" },
    };
  });
  const fleet = stack.use(
    await startFleet({ port: server.port, nodes: ids, routesOf: (name) => [`${name}-routes`], secrets: ["edge-tls"] }),
  );
  const nodesIn = async (state: string): Promise<number> => {
    const { total } = (await server.admin(`/api/v1/nodes?state=${state}&limit=0`)) as { total: number };
    return total;
  };
  const allAcked = async (): Promise<unknown> =>
    await until({ says: "all nodes ACKed everything", withinMs: 60_000, everyMs: 100 }, async () => {
      const { state, deployed } = (await server.admin("/api/v1/progress/source")) as {
        state: string;
        deployed: number;
      };
      return state === "deployed" && deployed === nodes && (await nodesIn("acked")) === nodes;
    });
  await allAcked();
  return {
    server,
    site,
    fleet,
    url: `http://127.0.0.1:${server.adminPort}/console/`,
    nodesIn,
    async move(by) {
      site.write(filesOf(SERVICES, by));
      await allAcked();
    },
    async change() {
      const [rejecting, silent] = [ids[1]?.id, ids[2]?.id];
      fleet.answers = (id, type) => {
        if (type !== CLUSTER) return "ack";
        if (id === rejecting) return { nack: hasMarkup ? MARKUP_REASON : REASON };
        if (id === silent) return "silence";
        return id.endsWith("77") ? { nack: REASON } : "ack";
      };
      site.write(filesOf([...SERVICES, "ledger-v2"]));
      await until({ says: "the change is with those who take it", withinMs: 60_000, everyMs: 100 }, async () => {
        const states = await Promise.all(["waiting", "pending", "nacked"].map(nodesIn));
        return states[0] === 1 && states[1] === 0 && (states[2] ?? 0) > 0;
      });
    },
  };
}

function filesOf(services: readonly string[], offset = 0): Record<string, readonly object[]> {
  const split = (name: string): readonly { cluster: string }[] =>
    name === "ledger" && services.includes("ledger-v2") ? [{ cluster: "ledger-v2" }] : [{ cluster: name }];
  return {
    "listeners.json": SERVICES.slice(0, 4).map((name, index) =>
      listener({ name, port: 10_000 + index, routes: `${name}-routes` }),
    ),
    "routes.json": [
      routes("cart-routes", [{ cluster: "cart" }, { cluster: "catalog" }, { cluster: "search" }]),
      routes("catalog-routes", [{ cluster: "catalog" }, { cluster: "search" }]),
      routes("checkout-routes", [{ cluster: "payments" }, { cluster: "shipping" }, ...split("ledger")]),
      routes("identity-routes", [{ cluster: "identity" }]),
    ],
    "clusters.json": services.map((name) => cluster({ name })),
    "endpoints.json": services.map((name, index) => endpoints(name, [9_000 + index + offset, 9_100 + index + offset])),
    "secrets.json": [SECRET],
  };
}

const SECRET = {
  "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
  name: "edge-tls",
  generic_secret: { secret: { inline_string: "must-never-be-shown" } },
};
