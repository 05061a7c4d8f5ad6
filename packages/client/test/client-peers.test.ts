import type { EnvoyApi } from "@xdskit/envoy-api";
import {
  createRequestReader,
  decodeNode,
  encodeDeltaResponse,
  encodeSotwResponse,
  type RequestReader,
} from "@xdskit/envoy-api/internal";
import type { TypeUrl } from "@xdskit/protocol";
import { type DiscoveryRequest, statusCode } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import {
  type Change,
  Cluster,
  createXdsClient,
  type Watch,
  type XdsClient,
  type XdsClientOptions,
} from "../src/index.ts";
import { atEnd } from "./support/ends.ts";
import { type ScriptedCall, type ScriptedGrpc, startScriptedGrpc } from "./support/scripted-grpc.ts";
import { CLUSTER, ENDPOINTS, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

async function peer(port?: number): Promise<ScriptedGrpc> {
  const made = await startScriptedGrpc(port);
  atEnd(() => made.close());
  return made;
}

async function start(port: number, options: Partial<XdsClientOptions> = {}): Promise<XdsClient> {
  const server = `127.0.0.1:${port}`;
  const backOff = { baseMs: 5, maxMs: 20 };
  const client = await createXdsClient({
    api: testApi(),
    node: "test",
    server,
    ...options,
    limits: { backOff, ...options.limits },
  });
  atEnd(() => client.close());
  return client;
}

function cluster(name: string, seconds: number = 1): Uint8Array {
  const { input } = testApi().readResource({ "@type": CLUSTER, name, type: "STATIC", connectTimeout: `${seconds}s` });
  if (input === undefined) throw new Error("not a cluster");
  return input.bytes;
}

function clusters(nonce: string, versionInfo: string, ...values: readonly Uint8Array[]): Uint8Array {
  const resources = values.map((value) => ({ typeUrl: CLUSTER, value }));
  return encodeSotwResponse({ typeUrl: CLUSTER, nonce, versionInfo, resources });
}

/** What a call was asked, one after the other. */
async function requests(call: ScriptedCall, count: number): Promise<readonly DiscoveryRequest[]> {
  await call.request(count - 1);
  const reader: RequestReader = createRequestReader(call.path.includes("/Delta") ? "delta" : "sotw");
  return call.received.map((bytes) => reader.read(bytes));
}

async function next(watch: Watch<unknown>): Promise<string> {
  const { value } = await watch.next();
  return value === undefined ? "end" : words(value);
}

function words(change: Change): string {
  switch (change.kind) {
    case "added":
    case "changed":
      return `${change.kind} ${change.key} ${(change.resource.json as { connectTimeout?: string }).connectTimeout}`;
    case "does-not-exist":
      return `gone ${change.key} ${change.reason}`;
    case "error":
      return `error ${change.key} ${change.error.code} ${change.error.message}`;
    case "recovered":
    case "synced":
      return change.kind;
  }
}

test("what has to be known of a type is made once, while its first answer is on its way", async () => {
  const scripted = await peer();
  const looks: (readonly [type: string, bytes: number])[] = [];
  const api = testApi();
  const soundName: EnvoyApi["soundName"] = (type, bytes, hasRules) => {
    looks.push([type, bytes.length]);
    return api.soundName(type, bytes, hasRules);
  };
  const client = await start(scripted.port, { api: { ...api, soundName } });
  client.watch(Cluster, "a");
  await (await scripted.call(0)).request(0);
  await until("it was looked at", () => looks.length > 0);
  client.watch(Cluster, "b");
  await (await scripted.call(0)).request(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(looks).toEqual([[CLUSTER, 0]]);
});

test("bytes that are no response end the stream, and on the next one all is well", async () => {
  const scripted = await peer();
  const client = await start(scripted.port);
  const watch = client.watch(Cluster);
  const first = await scripted.call(0);
  first.send(clusters("1", "1", cluster("a")));
  expect([await next(watch), await next(watch)]).toEqual(["added a 1s", "synced"]);
  // Cut off within a resource.
  first.send(clusters("2", "2", cluster("a", 2)).subarray(0, 60));
  const second = await scripted.call(1);
  await until("the first call is over", () => first.isOver);
  const [asked] = await requests(second, 1);
  expect(asked).toMatchObject({ type: CLUSTER, nonce: undefined, versionInfo: "1", node: { id: "test" } });
  expect(watch.current.get("a")?.json).toMatchObject({ connectTimeout: "1s" });
  second.send(clusters("1", "3", cluster("a", 3)));
  expect(await next(watch)).toBe("changed a 3s");
});

test("a stream that ends again and again before it said anything is told as unreachable, until one answers", async () => {
  const scripted = await peer();
  const client = await start(scripted.port);
  const watch = client.watch(Cluster, "a");
  for (let i = 0; i < 3; i++) (await scripted.call(i)).end(statusCode.PERMISSION_DENIED, "go away");
  expect(await next(watch)).toBe("error undefined UNREACHABLE go away");
  (await scripted.call(3)).send(clusters("1", "1", cluster("a")));
  await until("it is there", () => watch.current.has("a"));
  expect(client.stats()).toMatchObject({
    sources: [{ connectedState: true }],
    subscriptions: [{ updateFailure: 3, updateSuccess: 1 }],
  });
});

test("C-NEX-02 C-NEX-05 a server that says nothing: what was asked for does not exist, until it comes", async () => {
  const scripted = await peer();
  const client = await start(scripted.port, { limits: { initialFetchTimeoutMs: 60 } });
  const watch = client.watch(Cluster, "a");
  expect(await next(watch)).toBe("gone a does-not-exist");
  (await scripted.call(0)).send(clusters("1", "1", cluster("a")));
  expect(await next(watch)).toBe("added a 1s");
  expect(client.stats().subscriptions).toMatchObject([{ initFetchTimeout: 1 }]);
});

test("C-TYP-13 what was never asked for is passed over: no answer, and nothing of it is told", async () => {
  const scripted = await peer();
  const reports: string[] = [];
  const client = await start(scripted.port, { onReport: ({ kind }) => reports.push(kind) });
  const watch = client.watch(Cluster, "a");
  const call = await scripted.call(0);
  call.send(encodeSotwResponse({ typeUrl: ENDPOINTS, nonce: "odd", versionInfo: "9" }));
  call.send(clusters("1", "1", cluster("other"), cluster("a")));
  expect(await next(watch)).toBe("added a 1s");
  const asked = await requests(call, 2);
  expect(asked.map(({ type, nonce }) => [type, nonce])).toEqual([
    [CLUSTER, undefined],
    [CLUSTER, "1"],
  ]);
  expect(reports).toContain("response-ignored");
});

test("C-ACK-01 a flood is answered one by one, in order, and a slow reader gets the newest only", async () => {
  const scripted = await peer();
  const client = await start(scripted.port);
  const watch = client.watch(Cluster);
  const call = await scripted.call(0);
  const count = 500;
  for (let i = 1; i <= count; i++) call.send(clusters(`n${i}`, `v${i}`, cluster("a", i)));
  const asked = await requests(call, count + 1);
  const nonces = asked.slice(1).map(({ nonce }) => nonce);
  expect(nonces).toEqual(Array.from({ length: count }, (_, index) => `n${index + 1}`));
  expect([await next(watch), await next(watch)]).toEqual([`added a ${count}s`, "synced"]);
  watch.close();
});

test("B-RES-10 B-ACK-08 a name that comes twice is refused, with its name in the reason", async () => {
  const scripted = await peer();
  const client = await start(scripted.port);
  const watch = client.watch(Cluster, "a");
  const call = await scripted.call(0);
  call.send(clusters("1", "1", cluster("a", 1), cluster("a", 2)));
  const [, answer] = await requests(call, 2);
  expect(answer).toMatchObject({
    nonce: "1",
    versionInfo: undefined,
    error: { message: expect.stringContaining("a") },
  });
  expect(await next(watch)).toMatch(/^error undefined REJECTED .*"?a"?/);
});

test("C-VAL-05 all that is wrong with a response is in one refusal", async () => {
  const scripted = await peer();
  const client = await start(scripted.port);
  client.watch(Cluster);
  const call = await scripted.call(0);
  call.send(clusters("1", "1", cluster("a", 0), cluster("good"), new Uint8Array([0xff]), cluster("b", 0)));
  const [, answer] = await requests(call, 2);
  const message = answer?.error?.message ?? "";
  expect([message.includes("a:"), message.includes("b:"), message.includes("connect_timeout")]).toEqual([
    true,
    true,
    true,
  ]);
});

test("C-NOD-01 C-NOD-02 the node is in the first request of each stream only, unless it changed", async () => {
  const scripted = await peer();
  const client = await start(scripted.port);
  const watch = client.watch(Cluster);
  const first = await scripted.call(0);
  first.send(clusters("1", "1", cluster("a")));
  await next(watch);
  const asked = await requests(first, 2);
  expect(asked.map(({ node }) => node?.id)).toEqual(["test", undefined]);
  client.changeNode({ metadata: { shard: 2 } });
  first.end(statusCode.UNAVAILABLE, "");
  const [again] = await requests(await scripted.call(1), 1);
  expect(again?.node).toMatchObject({ id: "test", metadata: { shard: 2 }, userAgentName: "xdskit" });
});

test("C-DLT-06 C-TYP-12 delta: a resource of another type is refused", async () => {
  const scripted = await peer();
  const client = await start(scripted.port, { transport: { variant: "delta" } });
  const watch = client.watch(Cluster, "a");
  const call = await scripted.call(0);
  const other: TypeUrl = ENDPOINTS;
  const body = (typeUrl: TypeUrl): { typeUrl: TypeUrl; value: Uint8Array } => ({ typeUrl, value: cluster("a") });
  call.send(
    encodeDeltaResponse({
      typeUrl: CLUSTER,
      nonce: "1",
      resources: [{ name: "a", version: "1", resource: body(other) }],
    }),
  );
  const [, answer] = await requests(call, 2);
  expect(answer).toMatchObject({ kind: "delta", nonce: "1", error: { message: expect.stringContaining(other) } });
  call.send(
    encodeDeltaResponse({
      typeUrl: CLUSTER,
      nonce: "2",
      resources: [{ name: "a", version: "2", resource: body(CLUSTER) }],
    }),
  );
  await until("it is there", () => watch.current.has("a"));
  expect(watch.current.get("a")?.version).toBe("2");
});

test("a bootstrap's node goes out with all that it says, and what the client can do", async () => {
  const scripted = await peer();
  const address = { socket_address: { address: "127.0.0.1", port_value: scripted.port } };
  const bootstrap = {
    node: { id: "b", cluster: "c", extensions: [{ name: "envoy.filters.http.router" }] },
    dynamic_resources: {
      ads_config: {
        api_type: "DELTA_GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
      },
      cds_config: { ads: {}, resource_api_version: "V3" },
    },
    static_resources: {
      clusters: [
        {
          name: "xds",
          type: "STATIC",
          http2_protocol_options: {},
          load_assignment: {
            cluster_name: "xds",
            endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
          },
        },
      ],
    },
  };
  const client = await createXdsClient({ api: testApi(), bootstrap });
  atEnd(() => client.close());
  client.watch(Cluster);
  const call = await scripted.call(0);
  expect(call.path).toBe("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources");
  const bytes = await call.request(0);
  // The node is the first field of a delta request.
  const start = (bytes[1] ?? 0) < 0x80 ? 2 : 3;
  const length = start === 2 ? (bytes[1] ?? 0) : ((bytes[1] ?? 0) & 0x7f) + ((bytes[2] ?? 0) << 7);
  const node = bytes.subarray(start, start + length);
  expect(decodeNode(node)).toMatchObject({
    id: "b",
    cluster: "c",
    userAgentName: "xdskit",
    clientFeatures: ["xds.config.resource-in-sotw", "xds.config.supports-resource-ttl"],
  });
  expect(testApi().toJson("type.googleapis.com/envoy.config.core.v3.Node", node)).toMatchObject({
    extensions: [{ name: "envoy.filters.http.router" }],
  });
});
