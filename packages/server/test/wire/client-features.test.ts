import { contentDigest } from "@xdskit/envoy-api";
import { decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { type Constraints, createResource, messageNameOf, type Resource } from "@xdskit/protocol";
import type { ManagementServerOptions } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";
import { ADS_DELTA, CLUSTER, cluster, node, put, startWorld, testApi, type World } from "../support/test-server.ts";

let world: World | undefined;

afterEach(async () => {
  await world?.close();
});

async function start(options: Partial<ManagementServerOptions>, resources?: readonly Resource[]): Promise<World> {
  world = await startWorld(options, resources);
  return world;
}

/** What a client with these features is told first. */
async function firstAnswer({ connect }: World, clientFeatures: readonly string[], names: readonly string[] = ["*"]) {
  const peer = await connect();
  const call = peer.open(ADS_DELTA);
  call.send(
    encodeDeltaRequest({
      node: { ...node("test"), clientFeatures },
      typeUrl: CLUSTER,
      resourceNamesSubscribe: names,
    }),
  );
  return decodeDeltaResponse(await call.next());
}

function namesIn({ resources }: ReturnType<typeof decodeDeltaResponse>): readonly string[] {
  return resources.map(({ name }) => name);
}

test("S-MSC-04 a client that takes structs only is given what was converted, once for all such clients", async () => {
  const structs = ["envoy.config.require-any-fields-contain-struct"];
  const converted: string[] = [];
  const as = Uint8Array.of(0x0a, 1, 0x7a);
  const here = await start(
    {
      convertForStructs({ type, name, bytes }) {
        converted.push(`${messageNameOf(type)} ${name}`);
        return name === "a" ? as : bytes;
      },
    },
    [cluster("a"), cluster("b")],
  );
  const bytesOf = async (features: readonly string[]) =>
    (await firstAnswer(here, features)).resources.map(({ name, version, resource }) => [
      name,
      version,
      Uint8Array.from(resource?.value ?? []),
    ]);
  const [plain, one, other] = [await bytesOf([]), await bytesOf(structs), await bytesOf(structs)];
  const [a, b] = [cluster("a"), cluster("b")];
  expect(plain).toEqual([
    [a.name, a.version, Uint8Array.from(a.bytes)],
    [b.name, b.version, Uint8Array.from(b.bytes)],
  ]);
  expect(one).toEqual([
    [a.name, a.version, as],
    [b.name, b.version, Uint8Array.from(b.bytes)],
  ]);
  expect(other).toEqual(one);
  expect(converted).toEqual([`${messageNameOf(CLUSTER)} a`, `${messageNameOf(CLUSTER)} b`]);
});

test("S-MSC-05 a node mapping sees that a client does not support overprovisioning", async () => {
  const feature = "envoy.lb.does_not_support_overprovisioning";
  const here = await start({
    nodeMapping: ({ clientFeatures }) => [clientFeatures.includes(feature) ? "group/old" : "base"],
  });
  here.server.commit({ changes: [{ layer: "group/old", puts: [cluster("old")] }] });
  expect([namesIn(await firstAnswer(here, [])), namesIn(await firstAnswer(here, [feature]))]).toEqual([["a"], ["old"]]);
});

test("S-LOC-08 a transaction that makes a name ambiguous is refused whole", async () => {
  const here = await start({});
  const variant = (constraints: Constraints): Resource =>
    createResource({ type: CLUSTER, name: "v", bytes: cluster("v").bytes, constraints }, contentDigest);
  const [prod, any] = [variant({ kind: "value", key: "env", value: "prod" }), variant({ kind: "exists", key: "env" })];
  here.server.commit(put(prod));
  const { revision } = here.server;
  expect(() => here.server.commit(put(any, cluster("b")))).toThrow(
    expect.objectContaining({
      code: "VARIANTS_AMBIGUOUS",
      message:
        'envoy.config.cluster.v3.Cluster "v" in layer base: expected constraints of which no client meets two, got env = "prod"; env exists',
    }),
  );
  expect(() => here.server.commit(put(cluster("v")))).toThrow("got one without: it is for everybody");
  expect([here.server.revision, namesIn(await firstAnswer(here, []))]).toEqual([revision, ["a"]]);
  here.server.commit({
    changes: [
      {
        layer: "base",
        puts: [any],
        deletes: [{ type: CLUSTER, name: "v", constraints: { kind: "value", key: "env", value: "prod" } }],
      },
    ],
  });
  expect(here.server.revision).toBe(revision + 1);
});

test("S-XTP-10 a locator is sent in the place of a member of a glob, and not read in that of the glob", async () => {
  const directory = "xdstp://a/envoy.config.cluster.v3.Cluster/d";
  const redirect = (name: string) =>
    testApi().readResource({
      "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
      name,
      resource: {
        "@type": "type.googleapis.com/xds.core.v3.ResourceLocator",
        id: "e",
        authority: "b",
        resource_type: "envoy.config.cluster.v3.Cluster",
      },
    });
  expect([`${directory}/*`, "plain"].map((name) => redirect(name).problems.map(({ code }) => code))).toEqual([
    ["REDIRECT_INVALID"],
    ["REDIRECT_INVALID"],
  ]);
  const { input } = redirect(`${directory}/one`);
  if (input === undefined) throw new Error("the locator was not read");
  const here = await start({}, [createResource(input, contentDigest)]);
  const { resources } = await firstAnswer(here, [], [`${directory}/*`]);
  expect(resources.map(({ name, resource }) => [name, resource?.typeUrl])).toEqual([
    [`${directory}/one`, "type.googleapis.com/xds.core.v3.ResourceLocator"],
  ]);
});
