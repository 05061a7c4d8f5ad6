import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { Authority } from "../../../packages/server/test/support/authority.ts";
import { closing } from "./closing.ts";
import { CLUSTER } from "./delta-client.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import { type Backend, startHttpBackend } from "./http-backend.ts";
import { type HttpLoad, startHttpLoad } from "./http-load.ts";
import { configSource, type Mode } from "./mode.ts";
import { freePort } from "./port.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./resource.ts";
import { startXdsServer, type XdsServer } from "./server.ts";
import { type SimulatedFleet, startFleet } from "./simulated-fleet.ts";
import { createSite, type FileContent, type Site } from "./site.ts";
import type { Stack } from "./stack.ts";
import { until } from "./wait.ts";

/** Within which whoever is paged has to see that something is wrong, in milliseconds. */
export const SEEN_WITHIN_MS = 10_000;

export const OLD_BUILD = "1.34.1";
export const NODES = 12;
export const NACK_REASON = "cluster web: lb_policy CLUSTER_PROVIDED is unknown to this build";

const HOUR_MS = 3_600_000;

/** A fleet of two builds beside an Envoy under load, whose files break in ways that the test chooses. */
export interface DrillScene {
  readonly site: Site;
  readonly server: XdsServer;
  readonly fleet: SimulatedFleet;
  readonly envoy: Envoy;
  readonly load: HttpLoad;
  readonly url: string;
  /** The files when all is well. */
  readonly good: Readonly<Record<string, FileContent>>;
  /** Routes that no server can read. */
  readonly brokenRoutes: Readonly<Record<string, FileContent>>;
  /** Routes of the Envoy to a cluster. */
  routesTo(name: string): Readonly<Record<string, FileContent>>;
  /** The endpoints of the cluster that has the load. */
  endpointsOf(ports: readonly number[]): Readonly<Record<string, FileContent>>;
  /** A certificate in the Secret that ends at this time. */
  certificateUntil(at: Date): Readonly<Record<string, FileContent>>;
}

export async function startDrillScene(stack: Stack, mode: Mode): Promise<DrillScene> {
  const authority = new Authority("authority");
  stack.use(authority);
  const backend: Backend = stack.use(await startHttpBackend("web"));
  const port = await freePort();
  const legacy = stack.use(await startRetiredBackend());
  const source = configSource(mode);
  const certificateUntil = (until: Date): Record<string, FileContent> => {
    const { cert, key } = authority.issue("DNS:edge.example", { until });
    return { "certs/edge.key": key, "certs/edge.crt": cert };
  };
  const routesTo = (name: string): Record<string, FileContent> => ({
    "routes.json": [routes("web-routes", [{ cluster: name }])],
  });
  const brokenRoutes = {
    "routes.json": [routes("web-routes", [{ cluster: "web" }], { validate_clusters: "maybe" })],
  };
  const endpointsOf = (ports: readonly number[]): Record<string, FileContent> => ({
    "endpoints.json": [endpoints("web", ports)],
  });
  const good = {
    "listeners.json": [listener({ name: "web", port, routes: "web-routes", source })],
    ...routesTo("web"),
    "clusters.json": [cluster({ name: "web", source }), staticCluster("legacy", [legacy.port])],
    ...endpointsOf([backend.port]),
    ...certificateUntil(new Date(Date.now() + 48 * HOUR_MS)),
    "secrets.json": [SECRET],
  };
  const site = stack.use(createSite(good));
  const flags = ["--load-reports-interval", "1s"];
  const server = stack.use(await startXdsServer({ site, hasFuses: true, flags }));
  const ids = Array.from({ length: NODES }, (_, index) => ({
    id: `edge-${String(index).padStart(2, "0")}`,
    cluster: "edge",
    userAgentName: "envoy",
    userAgentVersion: index % 3 === 0 ? OLD_BUILD : "1.39.0",
  }));
  const fleet = stack.use(
    await startFleet({ port: server.port, nodes: ids, routesOf: () => ["web-routes"], secrets: ["edge-tls"] }),
  );
  const envoy = stack.use(
    await startEnvoy({
      mode,
      xdsPort: server.port,
      node: { id: "front-1", cluster: "front" },
      bootstrap: {
        cluster_manager: {
          load_stats_config: {
            api_type: "GRPC",
            transport_api_version: "V3",
            grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
          },
        },
      },
    }),
  );
  await envoy.ready(10_000);
  const load = stack.use(startHttpLoad({ port, keptPerSecond: 40, newPerSecond: 10 }));
  await load.answeredBy("web", 10_000);
  await until({ says: "all nodes have it", withinMs: 30_000, everyMs: 50 }, async () => {
    const { deployed } = (await server.admin("/api/v1/progress/head")) as { deployed: number };
    return deployed === NODES + 1;
  });
  return {
    ...{ site, server, fleet, envoy, load, good, brokenRoutes, routesTo, endpointsOf, certificateUntil },
    url: `http://127.0.0.1:${server.adminPort}/console/`,
  };
}

/** The old build refuses clusters from now on. */
export function refuseOnOldBuild(fleet: SimulatedFleet): void {
  fleet.answers = (id, type) =>
    type === CLUSTER && Number(id.slice("edge-".length)) % 3 === 0 ? { nack: NACK_REASON } : "ack";
}

/** What the overview says is wrong; empty if nothing is. */
export async function concerns(page: Page): Promise<readonly string[]> {
  const list = page.getByRole("region", { name: "Needs attention" }).getByRole("listitem");
  return await list.allTextContents();
}

/** Waits, as long as whoever is paged may look, until the overview says something. */
export async function seeOnOverview(page: Page, text: RegExp, withinMs = SEEN_WITHIN_MS): Promise<void> {
  await page
    .getByRole("region", { name: "Needs attention" })
    .getByRole("listitem")
    .filter({ hasText: text })
    .waitFor({ timeout: withinMs })
    .catch(async (cause: unknown) => {
      const shown = await page.locator("main").textContent();
      throw new Error(`the overview says instead: ${shown?.slice(0, 1_500)}`, { cause });
    });
}

/** A backend that is to be switched off: it answers 503. */
async function startRetiredBackend(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer((_, response) => response.writeHead(503).end("retired"));
  const close = closing(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: close,
  };
}

const SECRET = {
  "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
  name: "edge-tls",
  tls_certificate: {
    certificate_chain: { filename: "certs/edge.crt" },
    private_key: { filename: "certs/edge.key" },
  },
};
