import { readFileSync, watchFile } from "node:fs";
import {
  type AnyMessage,
  Cluster,
  ClusterLoadAssignment,
  createServer,
  HttpConnectionManager,
  Listener,
  RouteConfiguration,
  Router,
  XdsError,
} from "@xdskit/server";

/** What the inventory knows of a service. */
interface Service {
  readonly name: string;
  readonly domains: readonly string[];
  /** Ports on this machine. */
  readonly ports: readonly number[];
}

const { PORT = "18000", LISTENER_PORT = "10000" } = process.env;
const file = process.argv[2] ?? "inventory.json";
const ads = { ads: {}, resourceApiVersion: "V3" } as const;

/** All resources for an inventory; made anew at each change, the server finds out what differs. */
function resourcesOf(services: readonly Service[]): readonly AnyMessage[] {
  const http = HttpConnectionManager({
    statPrefix: "http",
    rds: { routeConfigName: "services", configSource: ads },
    httpFilters: [{ name: "envoy.filters.http.router", typedConfig: Router({}) }],
  });
  return [
    Listener({
      name: "http",
      address: { socketAddress: { address: "127.0.0.1", portValue: Number(LISTENER_PORT) } },
      filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: http }] }],
    }),
    RouteConfiguration({
      name: "services",
      virtualHosts: services.map(({ name, domains }) => ({
        name,
        domains,
        routes: [{ match: { prefix: "/" }, route: { cluster: name } }],
      })),
    }),
    ...services.map(({ name }) =>
      Cluster({ name, type: "EDS", connectTimeout: "1s", edsClusterConfig: { edsConfig: ads } }),
    ),
    ...services.map(({ name, ports }) =>
      ClusterLoadAssignment({
        clusterName: name,
        endpoints: [
          {
            lbEndpoints: ports.map((portValue) => ({
              endpoint: { address: { socketAddress: { address: "127.0.0.1", portValue } } },
            })),
          },
        ],
      }),
    ),
  ];
}

const server = createServer({ listen: { port: Number(PORT) } });
server.on("response-nacked", ({ node, type, error }) => console.log(`${node.id} NACKed ${type}: ${error.message}`));

/** Serves the inventory as it is now; one that is wrong is told, and what was served before stays in force. */
function load(): void {
  try {
    const services = JSON.parse(readFileSync(file, "utf8")) as readonly Service[];
    const { revision, changed } = server.set("base", resourcesOf(services));
    console.log(`revision ${revision}: ${changed.map(({ kind, name }) => `${kind} ${name}`).join(", ")}`);
    for (const { name, code, message } of server.check()) console.log(`${name}: ${message} [${code}]`);
  } catch (error) {
    if (error instanceof XdsError) for (const { path, message } of error.problems) console.log(`${path}: ${message}`);
    else console.log(String(error));
  }
}

load();
watchFile(file, { interval: 200 }, load);
const { address } = await server.listen();
console.log(`xDS at ${address.host}:${address.port}`);
process.once("SIGTERM", () => process.exit(0));
