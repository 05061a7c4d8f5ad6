import { decodeSotwResponse, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node, type Resource, type TypeUrl } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { ManagementServerOptions } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { decoded, encoded } from "../support/messages.ts";
import { type RawCall, type RawPeer, within } from "../support/raw-peer.ts";
import { secret } from "../support/secret.ts";
import {
  ADS_SOTW,
  CDS_SOTW,
  CLUSTER,
  cluster,
  ENDPOINTS,
  put,
  SECRET,
  startWorld,
  type World,
} from "../support/test-server.ts";

const STREAM = "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus";
const FETCH = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
const FETCH_V2 = "/envoy.service.status.v2.ClientStatusDiscoveryService/FetchClientStatus";
const REQUEST = "envoy.service.status.v3.ClientStatusRequest";
const RESPONSE = "envoy.service.status.v3.ClientStatusResponse";

interface Config {
  readonly node: { readonly id?: string; readonly metadata?: unknown };
  readonly clientScope?: string;
  readonly genericXdsConfigs?: readonly Record<string, unknown>[];
  readonly xdsConfig?: readonly Record<string, unknown>[];
}

let world: World;
afterEach(() => world.close());

async function start(
  options: Partial<ManagementServerOptions> = {},
  resources: readonly Resource[] = [cluster("a"), cluster("b")],
): Promise<void> {
  world = await startWorld(options, resources);
}

/** A client that has asked for a type and got the answer, and has not said yet what it makes of it. */
async function client(
  node: Partial<Node>,
  {
    type = CLUSTER,
    names = [],
    path = ADS_SOTW,
    peer,
  }: { type?: TypeUrl; names?: string[]; path?: string; peer?: RawPeer } = {},
): Promise<Client> {
  const over = peer ?? (await world.connect());
  const call = over.open(path);
  call.send(encodeSotwRequest({ node: { ...anonymousNode, ...node }, typeUrl: type, resourceNames: names }));
  return { peer: over, call, type, names, ...(await answerOf(call)) };
}

interface Client {
  readonly peer: RawPeer;
  readonly call: RawCall;
  readonly type: TypeUrl;
  readonly names: readonly string[];
  readonly nonce: string;
  readonly version: string;
}

async function answerOf(call: RawCall): Promise<{ nonce: string; version: string }> {
  const { nonce, versionInfo } = decodeSotwResponse(await call.next());
  return { nonce, version: versionInfo };
}

function accept({ call, type, names, nonce, version }: Client): void {
  call.send(encodeSotwRequest({ typeUrl: type, resourceNames: names, responseNonce: nonce, versionInfo: version }));
}

function refuse({ call, type, names, nonce }: Client, message: string): void {
  const errorDetail = { code: 3, message, details: [] };
  call.send(encodeSotwRequest({ typeUrl: type, resourceNames: names, responseNonce: nonce, errorDetail }));
}

async function ask(request: unknown = {}, path = FETCH): Promise<readonly Config[]> {
  const call = (await world.connect()).open(path);
  call.send(encoded(REQUEST, request));
  call.end();
  const message = await call.next();
  expect(await within("the status", call.status)).toEqual({ code: statusCode.OK, message: "" });
  return configsIn(message);
}

function configsIn(message: Uint8Array): readonly Config[] {
  return (decoded(RESPONSE, message)["config"] ?? []) as readonly Config[];
}

async function refusal(request: unknown = {}, path = FETCH): Promise<unknown> {
  const call = (await world.connect()).open(path);
  call.send(request instanceof Uint8Array ? request : encoded(REQUEST, request));
  call.end();
  return within("the status", call.status);
}

/** `a STALE REQUESTED`, in short. */
function statusesIn([config]: readonly Config[]): readonly string[] {
  return (config?.genericXdsConfigs ?? []).map(
    ({ name, configStatus, clientStatus }) => `${name} ${configStatus} ${clientStatus}`,
  );
}

async function eventually(look: () => Promise<unknown>, wanted: unknown): Promise<void> {
  await expect.poll(look, { timeout: 5_000, interval: 10 }).toEqual(wanted);
}

const ids = (configs: readonly Config[]): readonly unknown[] => configs.map(({ node }) => node.id ?? "");

describe("S-CSD-01 the status of clients", () => {
  test("S-CSD-01 is that of every client without matchers, each with its streams together", async () => {
    await start({}, [cluster("a")]);
    const one = await client({ id: "one" }, { path: CDS_SOTW });
    await client({ id: "two" });
    const EDS = "/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints";
    one.peer.open(EDS).send(encodeSotwRequest({ node: { ...anonymousNode, id: "one" }, resourceNames: ["e"] }));
    await eventually(async () => {
      const configs = await ask();
      return configs.map(({ node, genericXdsConfigs }) => [node.id, genericXdsConfigs?.map(({ name }) => name)]);
    }, [
      ["one", ["a", "e"]],
      ["two", ["a"]],
    ]);
  });

  test("S-CSD-01 a stream gets one answer for each request, in order", async () => {
    await start();
    await client({ id: "one" });
    const call = (await world.connect()).open(STREAM);
    call.send(encoded(REQUEST, {}));
    call.send(encoded(REQUEST, { nodeMatchers: [{ nodeId: { exact: "nobody" } }] }));
    expect(ids(configsIn(await call.next()))).toEqual(["one"]);
    expect(await call.next()).toEqual(Buffer.alloc(0));
    call.end();
    expect(await within("the status", call.status)).toEqual({ code: statusCode.OK, message: "" });
    expect(call.waiting).toBe(0);
  });

  const nodes: readonly Partial<Node>[] = [
    { id: "web-1", metadata: { group: "web", weight: 3, tags: ["x", "y"], deep: { er: true }, none: null } },
    { id: "web-2", metadata: { group: "web", weight: 5 } },
    { id: "DB-1", metadata: { group: "db" } },
  ];
  const struct = (path: string, value: unknown): unknown => ({
    path: path.split("/").map((key) => ({ key })),
    value,
  });
  const byMetadata = (path: string, value: unknown): unknown => [{ nodeMetadatas: [struct(path, value)] }];

  test.each<[string, unknown, readonly string[]]>([
    ["or between matchers", [{ nodeId: { exact: "web-2" } }, { nodeId: { exact: "DB-1" } }], ["web-2", "DB-1"]],
    [
      "and inside one",
      [{ nodeId: { prefix: "web" }, nodeMetadatas: [struct("weight", { doubleMatch: { exact: 5 } })] }],
      ["web-2"],
    ],
    ["an empty one matches all", [{}], ["web-1", "web-2", "DB-1"]],
    ["a suffix", [{ nodeId: { suffix: "-1" } }], ["web-1", "DB-1"]],
    ["a part", [{ nodeId: { contains: "eb" } }], ["web-1", "web-2"]],
    ["case that does not count", [{ nodeId: { exact: "db-1", ignoreCase: true } }], ["DB-1"]],
    ["a whole regular expression", [{ nodeId: { safeRegex: { regex: "(web|DB)-1" } } }], ["web-1", "DB-1"]],
    ["one that would take for ever elsewhere", [{ nodeId: { safeRegex: { regex: "((.+)+)+B-1" } } }], ["DB-1"]],
    ["no part of a regular expression", [{ nodeId: { safeRegex: { regex: "web" } } }], []],
    ["a string in the metadata", byMetadata("group", { stringMatch: { exact: "db" } }), ["DB-1"]],
    ["a range, its end not in it", byMetadata("weight", { doubleMatch: { range: { start: 3, end: 5 } } }), ["web-1"]],
    ["an element of a list", byMetadata("tags", { listMatch: { oneOf: { stringMatch: { exact: "y" } } } }), ["web-1"]],
    ["a nested boolean", byMetadata("deep/er", { boolMatch: true }), ["web-1"]],
    ["null", byMetadata("none", { nullMatch: {} }), ["web-1"]],
    ["what is there", byMetadata("weight", { presentMatch: true }), ["web-1", "web-2"]],
    [
      "either of two values",
      byMetadata("weight", {
        orMatch: { valueMatchers: [{ doubleMatch: { exact: 3 } }, { doubleMatch: { exact: 9 } }] },
      }),
      ["web-1"],
    ],
    ["nothing along a wrong path", byMetadata("group/web", { presentMatch: true }), []],
  ])("node matchers: %s", async (_, nodeMatchers, wanted) => {
    await start();
    for (const node of nodes) await client(node);
    expect(ids(await ask({ nodeMatchers }))).toEqual(wanted);
    expect(ids(await ask({ nodeMatchers }, FETCH_V2))).toEqual(wanted);
  });

  test.each<[string, unknown, string]>([
    [
      "an empty path",
      [{ nodeMetadatas: [{ value: { boolMatch: true } }] }],
      "node_matchers: expected a path into the metadata, got none",
    ],
    [
      "no value",
      [{ nodeMetadatas: [{ path: [{ key: "a" }] }] }],
      "node_matchers: expected a matcher for a value, got nothing",
    ],
    [
      "a regular expression that is none",
      [{ nodeId: { safeRegex: { regex: "a)(b" } } }],
      'node_matchers: expected a regular expression, got "a)(b": there is a ) without its (',
    ],
    [
      "one that looks ahead",
      [{ nodeId: { safeRegex: { regex: "(?=a).*" } } }],
      'node_matchers: expected a regular expression, got "(?=a).*": looking ahead or behind is not known here',
    ],
    [
      "expressions that are too large",
      [{ nodeId: { safeRegex: { regex: "((a{100}){100}){100}" } } }],
      "node_matchers: the regular expressions are too large",
    ],
  ])("refuses matchers: %s", async (_, nodeMatchers, message) => {
    await start();
    await client({ id: "a".repeat(60) });
    expect(await refusal({ nodeMatchers })).toEqual({ code: statusCode.INVALID_ARGUMENT, message });
  });

  test("refuses what is no request", async () => {
    await start();
    expect(await refusal(Buffer.from([0x0a, 0x05, 0x01]))).toMatchObject({ code: statusCode.INVALID_ARGUMENT });
  });
});

describe("S-CSD-02 the status of a resource", () => {
  test("B-OBS-04 S-CSD-02 goes from STALE to SYNCED with the ACK, over ERROR with the refused resource after a NACK", async () => {
    await start();
    const first = await client({ id: "one" });
    await eventually(async () => statusesIn(await ask()), ["a STALE REQUESTED", "b STALE REQUESTED"]);
    accept(first);
    await eventually(async () => statusesIn(await ask()), ["a SYNCED ACKED", "b SYNCED ACKED"]);

    world.server.commit(put(cluster("a", "worse")));
    refuse({ ...first, ...(await answerOf(first.call)) }, "no such thing");
    await eventually(async () => statusesIn(await ask()), ["a ERROR NACKED", "b SYNCED ACKED"]);
    const [refused] = (await ask())[0]?.genericXdsConfigs ?? [];
    const content = { "@type": CLUSTER, name: "a" };
    expect(refused).toMatchObject({
      typeUrl: CLUSTER,
      versionInfo: cluster("a", "worse").version,
      xdsConfig: content,
      errorState: {
        failedConfiguration: content,
        details: "no such thing",
        versionInfo: cluster("a", "worse").version,
      },
    });

    world.server.commit(put(cluster("a", "better")));
    const third = { ...first, ...(await answerOf(first.call)) };
    await eventually(async () => statusesIn(await ask()), ["a STALE REQUESTED", "b SYNCED ACKED"]);
    accept(third);
    await eventually(async () => statusesIn(await ask()), ["a SYNCED ACKED", "b SYNCED ACKED"]);
  });

  test("S-CSD-02 is NOT_SENT for a name that does not exist, and for what waits", async () => {
    await start();
    const waiting = await client({ id: "one" });
    world.server.commit(put(cluster("c")));
    waiting.call.send(encodeSotwRequest({ typeUrl: ENDPOINTS, resourceNames: ["nowhere"] }));
    await eventually(
      async () => statusesIn(await ask()),
      ["a STALE REQUESTED", "b STALE REQUESTED", "c NOT_SENT REQUESTED", "nowhere NOT_SENT DOES_NOT_EXIST"],
    );
  });
});

describe("B-CSD-04 what is told of a client", () => {
  test("B-CSD-04 leaves contents out on request, and tells clients of one id apart", async () => {
    await start({}, [cluster("a")]);
    const clones = [await client({ id: "same" }), await client({ id: "same" })];
    for (const clone of clones) accept(clone);
    await eventually(
      async () => (await ask()).map((config) => statusesIn([config])),
      [["a SYNCED ACKED"], ["a SYNCED ACKED"]],
    );
    const configs = await ask({ excludeResourceContents: true });
    expect(
      configs.map(({ genericXdsConfigs }) => genericXdsConfigs?.map((config) => Object.keys(config).sort())),
    ).toEqual(clones.map(() => [["clientStatus", "configStatus", "lastUpdated", "name", "typeUrl", "versionInfo"]]));
    expect(new Set(configs.map(({ clientScope }) => clientScope)).size).toBe(2);
    for (const { clientScope } of configs) expect(clientScope).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test("holds no secret: neither of a resource nor of the node's metadata", async () => {
    await start({}, [secret("s", "very secret")]);
    await client({ id: "one", metadata: { api_token: "hidden too", group: "web" } }, { type: SECRET, names: ["s"] });
    const call = (await world.connect()).open(FETCH);
    call.send(encoded(REQUEST, {}));
    call.end();
    const answer = await call.next();
    expect(Buffer.from(answer).toString("latin1")).not.toMatch(/very secret|hidden too/);
    const [config] = configsIn(answer);
    expect(config?.node.metadata).toEqual({ api_token: "[redacted]", group: "web" });
    expect(config?.genericXdsConfigs).toMatchObject([
      { name: "s", xdsConfig: { genericSecret: { secret: { inlineString: "[redacted]" } } } },
    ]);
  });

  test("B-CSD-05 of v2 has a part for each of four types, and knows neither endpoints nor the status of clients", async () => {
    await start();
    const one = await client({ id: "one" });
    accept(one);
    one.call.send(encodeSotwRequest({ typeUrl: ENDPOINTS, resourceNames: ["nowhere"] }));
    await eventually(async () => statusesIn(await ask()).length, 3);
    const [config] = await ask({}, FETCH_V2);
    expect(config).toEqual({
      node: { id: "one" },
      xdsConfig: [
        {
          status: "SYNCED",
          clusterConfig: {
            dynamicActiveClusters: ["a", "b"].map((name) => ({
              versionInfo: cluster(name).version,
              cluster: { "@type": CLUSTER, name },
              lastUpdated: expect.any(String),
            })),
          },
        },
      ],
    });
  });
});

describe("whoever asks", () => {
  test("is not answered where the service is off", async () => {
    await start({ clientStatus: "off" });
    expect(await refusal()).toEqual({
      code: statusCode.PERMISSION_DENIED,
      message: "client status is not told here (client-status)",
    });
  });

  test("gets RESOURCE_EXHAUSTED and the way out when the answer would be too large", async () => {
    await start({ limits: { maxStatusBytes: 200 } });
    const hits: string[] = [];
    world.server.on("limit-hit", ({ limit }) => hits.push(limit));
    await client({ id: "one" });
    expect(await refusal()).toEqual({
      code: statusCode.RESOURCE_EXHAUSTED,
      message:
        "the answer would be larger than 200 bytes (maxStatusBytes); ask for fewer nodes with node_matchers, or set exclude_resource_contents",
    });
    expect(hits).toEqual(["maxStatusBytes"]);
    expect(await ask({ nodeMatchers: [{ nodeId: { exact: "other" } }] })).toEqual([]);
  });
});
