import { createXdsClient, Listener, type Mesh, type MeshSnapshot, type XdsClient } from "@xdskit/client";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Envoy, startEnvoy } from "./support/envoy.ts";
import { type GrpcClient, startGrpcClient } from "./support/grpc-client.ts";
import { note, times } from "./support/measure.ts";
import { modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePorts } from "./support/port.ts";
import { createRandomMesh, type RandomMesh } from "./support/random-mesh.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const LISTENER = formatTypeUrl("envoy.config.listener.v3.Listener");
const ROUTES = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const STATUS = formatTypeUrl("envoy.service.status.v3.ClientStatusResponse");

const SERVICE = "svc-a";
const GRPC_NODE = "grpc-1";
const CHANGES = times(200, 1_000);
/** After how many changes all are compared. */
const PACE = 10;
const SETTLES_MS = 15_000;

/** What somebody holds, by type and name, as canonical JSON. */
type Holdings = Readonly<Record<string, unknown>>;

const api = createEnvoyApi();

describe.each(named(modes))("%s: our client holds what others hold, through random changes", (name, mode) => {
  const node = { id: "e2e-1", cluster: "e2e" };
  const variant = mode.apiType === "DELTA_GRPC" ? "delta" : "sotw";

  describeWith("envoy", "and an Envoy", () => {
    test(`C-CLI-01 after each ${PACE} of ${CHANGES} changes both hold the same resources`, async () => {
      await using stack = createStack();
      const { world, site, server } = await startWorld(stack, modes.indexOf(mode) + 1);
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, node }));
      const client = stack.use(await clientOf(server, { variant, isAggregated: mode.aggregated, node, mode: "proxy" }));
      const mesh = client.mesh();
      await envoy.ready(SETTLES_MS);
      const counted = await compare({ world, site }, async () => {
        const [ours, theirs] = [heldByProxy(mesh.current), await heldByEnvoy(envoy)];
        return { ours, theirs };
      });
      note("our client and Envoy", name, "changes, resources at the end", `${CHANGES}, ${counted}`);
    });
  });

  describeWith("grpc-python", "and a client on the C core", () => {
    test(`C-SUB-21 after each ${PACE} of ${CHANGES} changes both hold what is reachable from one target`, async () => {
      await using stack = createStack();
      const { world, site, server } = await startWorld(stack, modes.indexOf(mode) + 11);
      const theirs = stack.use(await startGrpcClient("grpc-python", { xdsPort: server.port, nodeId: GRPC_NODE }));
      await theirs.add(SERVICE);
      const client = stack.use(
        await clientOf(server, { variant, isAggregated: mode.aggregated, node: { id: GRPC_NODE }, mode: "non-proxy" }),
      );
      const mesh = client.resolve(Listener, SERVICE);
      const counted = await compare({ world, site }, async () => ({
        ours: heldByName(mesh.current),
        theirs: await heldByCore(theirs),
      }));
      note("our client and grpcio", name, "changes, resources at the end", `${CHANGES}, ${counted}`);
    });
  });
});

async function startWorld(
  stack: Stack,
  seed: number,
): Promise<{ readonly world: RandomMesh; readonly site: Site; readonly server: XdsServer }> {
  const world = createRandomMesh(seed, await freePorts(3), { service: SERVICE, node: GRPC_NODE });
  const site = stack.use(createSite(world.files()));
  return { world, site, server: stack.use(await startXdsServer({ site })) };
}

function clientOf(
  server: XdsServer,
  options: Omit<Parameters<typeof createXdsClient>[0] & object, "server">,
): Promise<XdsClient> {
  return createXdsClient({ server: `127.0.0.1:${server.port}`, api, ...options });
}

/** Makes the changes, and waits now and then until both hold the same; returns how many resources that are. */
async function compare(
  { world, site }: { readonly world: RandomMesh; readonly site: Site },
  look: () => Promise<{ readonly ours: Holdings; readonly theirs: Holdings }>,
): Promise<number> {
  let held = 0;
  for (let made = 0; made <= CHANGES; made += PACE) {
    let last: Awaited<ReturnType<typeof look>> | undefined;
    const isEqual = async (): Promise<boolean> => {
      last = await look();
      held = Object.keys(last.ours).length;
      return held > 0 && JSON.stringify(last.ours) === JSON.stringify(last.theirs);
    };
    await until({ says: `both hold the same after ${made} changes`, withinMs: SETTLES_MS, everyMs: 50 }, isEqual).catch(
      () => {
        expect(last?.ours).toEqual(last?.theirs);
      },
    );
    for (let i = 0; i < PACE && made + i < CHANGES; i++) site.write(world.change());
  }
  return held;
}

/** What a proxy has in use; endpoints by their ports, because an Envoy adds what it makes of them. */
function heldByProxy(snapshot: MeshSnapshot | undefined): Holdings {
  if (snapshot === undefined) return {};
  const held = [...snapshot.listeners.values(), ...snapshot.routes.values(), ...snapshot.clusters.values()];
  const resources = held.flatMap(({ type, name, resource }) =>
    resource === undefined ? [] : [entry(type, name, resource.json)],
  );
  const endpoints = [...snapshot.clusters.values()].flatMap((one) =>
    one.endpoints === undefined ? [] : [portsOf(one.endpoints.json)],
  );
  return sorted([...resources, ...endpoints]);
}

function heldByName(snapshot: MeshSnapshot | undefined): Holdings {
  if (snapshot === undefined) return {};
  const resources = [...snapshot.all.values()].flatMap(({ type, name, resource }) =>
    resource === undefined ? [] : [entry(type, name, resource.json)],
  );
  return sorted(resources);
}

interface Dump {
  readonly dynamic_active_clusters?: readonly { readonly cluster: unknown }[];
  readonly dynamic_listeners?: readonly { readonly active_state?: { readonly listener: unknown } }[];
  readonly dynamic_route_configs?: readonly { readonly route_config: unknown }[];
  readonly dynamic_endpoint_configs?: readonly { readonly endpoint_config: unknown }[];
}

async function heldByEnvoy(envoy: Envoy): Promise<Holdings> {
  const { configs } = (await envoy.admin("/config_dump?include_eds")) as { readonly configs: readonly Dump[] };
  const raw = configs.flatMap((dump) => [
    ...(dump.dynamic_active_clusters ?? []).map(({ cluster }) => cluster),
    ...(dump.dynamic_listeners ?? []).flatMap(({ active_state }) => active_state?.listener ?? []),
    ...(dump.dynamic_route_configs ?? []).map(({ route_config }) => route_config),
  ]);
  const resources = raw.map((value) => {
    const { input } = api.readResource(value);
    if (input === undefined) throw new Error(`not a resource: ${JSON.stringify(value)}`);
    return entry(input.type, input.name, api.toJson(input.type, input.bytes));
  });
  const endpoints = configs
    .flatMap(({ dynamic_endpoint_configs = [] }) => dynamic_endpoint_configs)
    .map(({ endpoint_config }) => portsOf(endpoint_config));
  return sorted([...resources, ...endpoints]);
}

interface Status {
  readonly config?: readonly {
    readonly genericXdsConfigs?: readonly {
      readonly typeUrl: string;
      readonly name: string;
      readonly xdsConfig?: unknown;
    }[];
  }[];
}

async function heldByCore(client: GrpcClient): Promise<Holdings> {
  const { config = [] } = api.toJson(STATUS, await client.status()) as Status;
  const generic = config.flatMap(({ genericXdsConfigs = [] }) => genericXdsConfigs);
  return sorted(
    generic.flatMap(({ typeUrl, name, xdsConfig }) =>
      xdsConfig === undefined ? [] : [entry(typeUrl as TypeUrl, name, xdsConfig)],
    ),
  );
}

type Entry = readonly [key: string, value: unknown];

function entry(type: TypeUrl, name: string, json: unknown): Entry {
  const { "@type": _, ...value } = Object(json) as Readonly<Record<string, unknown>>;
  return [`${type} ${name}`, value];
}

/** In either spelling of the fields. */
function portsOf(assignment: unknown): Entry {
  const text = JSON.stringify(assignment);
  const name = /"cluster_?[nN]ame":"([^"]*)"/.exec(text)?.[1];
  return [`ports of ${name}`, [...text.matchAll(/"port_?[vV]alue":(\d+)/g)].map(([, port]) => Number(port)).sort()];
}

function sorted(entries: readonly Entry[]): Holdings {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
