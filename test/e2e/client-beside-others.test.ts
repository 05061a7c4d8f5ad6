import { createXdsClient, Listener, type MeshSnapshot, STATIC_SOURCE } from "@xdskit/client";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { type Envoy, envoyBootstrap, startEnvoy } from "./support/envoy.ts";
import { type GrpcClient, startGrpcClient } from "./support/grpc-client.ts";
import { note, times } from "./support/measure.ts";
import { adsModes, configSource, type Mode, modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePorts } from "./support/port.ts";
import { createRandomMesh, type RandomMesh } from "./support/random-mesh.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const STATUS = formatTypeUrl("envoy.service.status.v3.ClientStatusResponse");

const SERVICE = "svc-a";
const GRPC_NODE = "grpc-1";
const CHANGES = times(200, 1_000);
/** The number of changes between comparisons. */
const PACE = 10;
const SETTLES_MS = 15_000;
const ALL_MS = times(90_000, 600_000);

/** Resources by type and name, as canonical JSON. */
type Holdings = Readonly<Record<string, unknown>>;

const api = createEnvoyApi();

describeWith("envoy", "our client holds what an Envoy with the same bootstrap holds", () => {
  test.each(named(modes))(
    `%s: C-CLI-01 after each ${PACE} of ${CHANGES} random changes`,
    async (name, mode) => {
      await using stack = createStack();
      const { world, site, server } = await startWorld(stack, mode, modes.indexOf(mode) + 1);
      const settings = { mode, xdsPort: server.port };
      const envoy = stack.use(await startEnvoy(settings));
      const client = stack.use(await createXdsClient({ bootstrap: envoyBootstrap(settings, 0), api }));
      const mesh = client.mesh();
      await envoy.ready(SETTLES_MS);
      const resources = await compare({ world, site }, wantedByProxy, async () => ({
        ours: heldByProxy(mesh.current),
        theirs: await heldByEnvoy(envoy),
      }));
      note("our client and Envoy", name, "changes, resources at the end", `${CHANGES}, ${resources}`);
    },
    ALL_MS,
  );
});

/**
 * grpc-js-xds keeps showing the first version of a resource while the fields that it reads stay the same, so only names
 * can be compared.
 */
const shownBy = {
  "grpc-python": (held: Holdings): Holdings => held,
  "grpc-node": (held: Holdings): Holdings => Object.fromEntries(Object.keys(held).map((key) => [key, "there"])),
};

describe.each(["grpc-python", "grpc-node"] as const)(
  "our client holds what a client of gRPC holds for a target",
  (peer) => {
    const shown = shownBy[peer];
    describeWith(peer, peer, () => {
      test.each(named(adsModes))(
        `%s: C-SUB-21 after each ${PACE} of ${CHANGES} random changes`,
        async (name, mode) => {
          await using stack = createStack();
          const { world, site, server } = await startWorld(stack, mode, modes.indexOf(mode) + 11);
          const theirs = stack.use(await startGrpcClient(peer, { xdsPort: server.port, nodeId: GRPC_NODE }));
          await theirs.add(SERVICE);
          const options = { server: `127.0.0.1:${server.port}`, node: GRPC_NODE, api } as const;
          const variant = mode.apiType === "DELTA_GRPC" ? "delta" : "sotw";
          const client = stack.use(await createXdsClient({ ...options, transport: { variant } }));
          const mesh = client.resolve(Listener, SERVICE);
          const resources = await compare(
            { world, site },
            (resources) => shown(wantedByName(resources)),
            async () => ({
              ours: shown(heldByName(mesh.current)),
              theirs: shown(await heldByGrpc(theirs)),
            }),
          );
          note(`our client and ${peer}`, name, "changes, resources at the end", `${CHANGES}, ${resources}`);
        },
        ALL_MS,
      );
    });
  },
);

async function startWorld(
  stack: Stack,
  mode: Mode,
  seed: number,
): Promise<{ readonly world: RandomMesh; readonly site: Site; readonly server: XdsServer }> {
  const settings = { service: SERVICE, node: GRPC_NODE, source: configSource(mode) };
  const world = createRandomMesh(seed, await freePorts(3), settings);
  const site = stack.use(createSite(world.files()));
  return { world, site, server: stack.use(await startXdsServer({ site })) };
}

/** Applies changes, and compares the holdings at intervals until they match the files; returns their number. */
async function compare(
  { world, site }: { readonly world: RandomMesh; readonly site: Site },
  expected: (resources: readonly Resource[]) => Holdings,
  look: () => Promise<{ readonly ours: Holdings; readonly theirs: Holdings }>,
): Promise<number> {
  let held = 0;
  for (let made = 0; made <= CHANGES; made += PACE) {
    const wanted = expected(Object.values(world.files()).flatMap(resourcesIn));
    held = Object.keys(wanted).length;
    let last: Awaited<ReturnType<typeof look>> | undefined;
    const isThere = async (): Promise<boolean> => {
      last = await look();
      return [last.ours, last.theirs].every((one) => JSON.stringify(one) === JSON.stringify(wanted));
    };
    const says = `both hold what is there after ${made} changes`;
    await until({ says, withinMs: SETTLES_MS, everyMs: 50 }, isThere).catch(() => {
      expect(last).toEqual({ ours: wanted, theirs: wanted });
    });
    for (let i = 0; i < PACE && made + i < CHANGES; i++) site.write(world.change());
  }
  return held;
}

/** A resource as canonical JSON. */
interface Resource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly json: unknown;
}

function resourcesIn(content: FileContent): readonly Resource[] {
  return typeof content === "string" ? [] : content.map(read);
}

function read(value: unknown): Resource {
  const { input } = api.readResource(value);
  if (input === undefined) throw new Error(`not a resource: ${JSON.stringify(value)}`);
  const { type, name } = input;
  return { type, name, json: api.toJson(type, input.bytes) };
}

/** Everything that a proxy receives; endpoints by their ports. */
function wantedByProxy(resources: readonly Resource[]): Holdings {
  const others = resources.filter(({ type, name }) => type !== ENDPOINTS && !name.endsWith(SERVICE));
  const endpoints = resources.filter(({ type }) => type === ENDPOINTS);
  return sorted([...others.map(entryOf), ...endpoints.map(({ json }) => portsOf(json))]);
}

/** The resources that the service refers to. */
function wantedByName(resources: readonly Resource[]): Holdings {
  const roots = resources.filter(({ name }) => name.endsWith(SERVICE));
  const text = JSON.stringify(roots.map(({ json }) => json));
  const used = resources.filter(({ name }) => text.includes(`"cluster":"${name}"`));
  return sorted([...roots, ...used].map(entryOf));
}

/** The resources that a proxy uses; endpoints by their ports, because Envoy adds defaults to them. */
function heldByProxy(snapshot: MeshSnapshot | undefined): Holdings {
  if (snapshot === undefined) return {};
  // Only resources from the server are compared.
  const clusters = [...snapshot.clusters.values()].filter(({ source }) => source !== STATIC_SOURCE);
  const held = [...snapshot.listeners.values(), ...snapshot.routes.values(), ...clusters];
  const resources = held.flatMap(({ type, name, resource }) =>
    resource === undefined ? [] : [entryOf({ type, name, json: resource.json })],
  );
  const endpoints = clusters.flatMap((one) => (one.endpoints === undefined ? [] : [portsOf(one.endpoints.json)]));
  return sorted([...resources, ...endpoints]);
}

function heldByName(snapshot: MeshSnapshot | undefined): Holdings {
  if (snapshot === undefined) return {};
  const resources = [...snapshot.all.values()].flatMap(({ type, name, resource }) =>
    resource === undefined ? [] : [entryOf({ type, name, json: resource.json })],
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
  const resources = raw.map((value) => entryOf(read(value)));
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

async function heldByGrpc(client: GrpcClient): Promise<Holdings> {
  const { config = [] } = api.toJson(STATUS, await client.status()) as Status;
  const generic = config.flatMap(({ genericXdsConfigs = [] }) => genericXdsConfigs);
  return sorted(
    generic.flatMap(({ typeUrl, name, xdsConfig: json }) => {
      // grpc-js-xds omits the prefix.
      const type = parseTypeUrl(typeUrl);
      return type === undefined || json === undefined ? [] : [entryOf({ type, name, json })];
    }),
  );
}

type Entry = readonly [key: string, value: unknown];

function entryOf({ type, name, json }: Resource): Entry {
  const { "@type": _, ...value } = Object(json) as Readonly<Record<string, unknown>>;
  return [`${type} ${name}`, value];
}

/** Ports of a ClusterLoadAssignment, in either spelling of the fields. */
function portsOf(assignment: unknown): Entry {
  const text = JSON.stringify(assignment);
  const name = /"cluster_?[nN]ame":"([^"]*)"/.exec(text)?.[1];
  return [`ports of ${name}`, [...text.matchAll(/"port_?[vV]alue":(\d+)/g)].map(([, port]) => Number(port)).sort()];
}

function sorted(entries: readonly Entry[]): Holdings {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
