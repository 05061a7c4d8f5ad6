import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource, type TypeUrl } from "@xdskit/protocol";
import { createServer, type ManagementServer, type ManagementServerOptions } from "@xdskit/server";
import { createXdsClient, type XdsClient, type XdsClientOptions } from "../../src/index.ts";
import { atEnd } from "./ends.ts";
import { testApi } from "./sources.ts";

/** A resource by its JSON. */
export function read(json: object): Resource {
  const { input, problems } = testApi().readResource(json);
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

/** Our own server, until the test is over. */
export interface Served {
  readonly server: ManagementServer;
  readonly port: number;
  /** Host and port. */
  readonly address: string;
  /** Where its admin API is; undefined without one. */
  readonly adminPort: number | undefined;
  put(...puts: readonly Resource[]): void;
  remove(type: TypeUrl, name: string): void;
}

/** Starts a server that has these. */
export function serve(...puts: readonly Resource[]): Promise<Served> {
  return serveWith({}, ...puts);
}

/** The same, of a certain kind. */
export async function serveWith(
  options: Partial<ManagementServerOptions>,
  ...puts: readonly Resource[]
): Promise<Served> {
  const server = createServer({ api: testApi(), ...options });
  const put = (...more: readonly Resource[]): void => {
    server.commit({ changes: [{ layer: "base", puts: more }] });
  };
  put(...puts);
  const { address, adminAddress } = await server.listen();
  atEnd(() => server.close());
  const remove = (type: TypeUrl, name: string): void => {
    server.commit({ changes: [{ layer: "base", deletes: [{ type, name }] }] });
  };
  return {
    ...{ server, put, remove, port: address.port, adminPort: adminAddress?.port },
    address: `${address.host}:${address.port}`,
  };
}

/** Starts a client that comes back soon. */
export async function start(options: XdsClientOptions): Promise<XdsClient> {
  const client = await createXdsClient({
    api: testApi(),
    node: "test",
    ...options,
    limits: { backOff: { baseMs: 5, maxMs: 20 }, ...options.limits },
  });
  atEnd(() => client.close());
  return client;
}

/** Of an Envoy with two servers, `live` and `dead`; nobody listens at port 1. `envoyGrpc` is said of the first. */
export function bootstrap(
  port: number,
  dynamic: object = {},
  envoyGrpc: object = {},
): Readonly<Record<string, unknown>> {
  return bootstrapOf({ live: port, dead: 1 }, dynamic, envoyGrpc);
}

/** Of an Envoy with servers at these ports, each an authority as well. */
export function bootstrapOf(
  ports: Readonly<Record<string, number>>,
  dynamic: object,
  envoyGrpc: object = {},
): Readonly<Record<string, unknown>> {
  const serverAt = (name: string, port_value: number): object => {
    const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value } } };
    const load_assignment = { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] };
    return { name, connect_timeout: "1s", type: "STATIC", load_assignment };
  };
  const sourceAt = (name: string): object => ({
    authorities: [{ name }],
    resource_api_version: "V3",
    api_config_source: {
      api_type: "AGGREGATED_GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: name, ...(name === "live" ? envoyGrpc : {}) } }],
    },
  });
  return {
    node: { id: "test", cluster: "test" },
    static_resources: { clusters: Object.entries(ports).map(([name, port]) => serverAt(name, port)) },
    config_sources: Object.keys(ports).map(sourceAt),
    dynamic_resources: dynamic,
  };
}
