import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { decodeSotwResponse, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { type AccessRules, anonymousNode, type EntryPoint, type TypeUrl } from "@xdskit/protocol";
import type { ManagementServerOptions } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { decoded, encoded } from "../support/messages.ts";
import { RawPeer, within } from "../support/raw-peer.ts";
import { secret } from "../support/secret.ts";
import {
  ADS_SOTW,
  CDS_FETCH,
  CDS_SOTW,
  CLUSTER,
  cluster,
  put,
  SECRET,
  startWorld,
  type World,
} from "../support/test-server.ts";

const LRS = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";
const HDS = "/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck";
const CSDS = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
const HEALTH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

/** Clients are told apart by the loopback address that they call from. */
const ops = "127.0.0.2";
const edge = "127.0.0.3";
const banned = "127.0.0.4";
const rules: AccessRules = {
  loopback: "rules",
  rules: [
    {
      name: "ops",
      identities: [`address:${ops}`],
      entryPoints: ["csds", "health", "reflection", "metrics", "admin"],
      types: ["Cluster"],
    },
    { name: "edge", identities: [`address:${edge}`], nodes: ["edge-*"], types: ["*"], names: ["edge/*"] },
    { name: "banned", identities: [`address:${banned}`], deny: true },
  ],
};

let world: World;
const peers: RawPeer[] = [];
let denied: unknown[];
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await world.close();
});

async function start(access: AccessRules = rules, options: Partial<ManagementServerOptions> = {}): Promise<void> {
  const healthDiscovery = { specifierFor: () => ({ interval: "1s" }), onHealth: () => undefined };
  world = await startWorld({ access, admin: {}, healthDiscovery, ...options }, []);
  world.server.commit(put(cluster("edge/a"), cluster("pay/a"), secret("edge/key", "1"), secret("pay/key", "2")));
  denied = [];
  world.server.on("access-denied", ({ entryPoint, node, type }) => denied.push([entryPoint, node.id, type]));
}

async function connect(from: string): Promise<RawPeer> {
  // A socket option that the types of HTTP/2 do not know.
  const peer = await RawPeer.connect(world.address, { localAddress: from } as object);
  peers.push(peer);
  return peer;
}

/** The first message of a call, or the status that ends it. */
async function ask(from: string, path: string, message: Uint8Array): Promise<Uint8Array | { readonly code: number }> {
  const call = (await connect(from)).open(path);
  call.send(message);
  const answer = await within("an answer", Promise.race([call.next(30_000), call.status]), 30_000);
  return "code" in answer && answer.code === 0 ? await call.next() : answer;
}

const discovery = (id: string, typeUrl: TypeUrl, resourceNames: readonly string[] = []): Uint8Array =>
  encodeSotwRequest({ node: { ...anonymousNode, id }, typeUrl, resourceNames });
const load = (id: string): Uint8Array => encoded("envoy.service.load_stats.v3.LoadStatsRequest", { node: { id } });
const check = (id: string): Uint8Array =>
  encoded("envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse", {
    healthCheckRequest: { node: { id }, capability: {} },
  });
/** List the services. */
const reflect = Uint8Array.from([58, 0]);
const nothing = new Uint8Array();

async function get(from: string, path: string): Promise<number | undefined> {
  const { port } = world.adminAddress ?? {};
  const request = httpRequest({ agent: false, host: "127.0.0.1", port, path, localAddress: from }).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

type Row = readonly [EntryPoint, string, Uint8Array];
const rows: readonly Row[] = [
  ["ads", ADS_SOTW, discovery("edge-1", CLUSTER)],
  ["stream", CDS_SOTW, discovery("edge-1", CLUSTER)],
  ["fetch", CDS_FETCH, discovery("edge-1", CLUSTER)],
  ["csds", CSDS, nothing],
  ["lrs", LRS, load("edge-1")],
  ["hds", HDS, check("edge-1")],
  ["health", HEALTH, nothing],
  ["reflection", REFLECTION, reflect],
];
const given: Readonly<Record<string, readonly EntryPoint[]>> = {
  [ops]: ["csds", "health", "reflection"],
  [edge]: ["ads", "stream", "fetch", "lrs", "hds"],
  [banned]: [],
};

describe("S-ACC-20 every entry point is decided by the rules", () => {
  test.each(Object.keys(given).flatMap((from) => rows.map((row) => [from, ...row] as const)))(
    "%s at %s",
    async (from, entryPoint, path, message) => {
      await start();
      const answer = await ask(from, path, message);
      if (given[from]?.includes(entryPoint) === true) {
        expect([answer instanceof Uint8Array, denied]).toEqual([true, []]);
        return;
      }
      // Once, and with nothing about what there is.
      const claims = entryPoint === "csds" || entryPoint === "health" || entryPoint === "reflection" ? "" : "edge-1";
      expect(denied).toEqual([[entryPoint, claims, undefined]]);
      expect(answer).toEqual({
        code: 16,
        message: claims === "" ? "this client may not call this here" : 'this client may not be node "edge-1" here',
      });
    },
  );

  test("the admin API and metrics too, besides roles", async () => {
    await start();
    const paths = ["/livez", "/metrics", "/api/v1/nodes"];
    const statuses = async (from: string): Promise<unknown> => Promise.all(paths.map((path) => get(from, path)));
    // On loopback everybody is an operator, unless a rule denies it.
    expect([await statuses(ops), await statuses(edge), await statuses(banned)]).toEqual([
      [200, 200, 200],
      [403, 403, 200],
      [403, 403, 403],
    ]);
  });

  test("a rule for streams of one type is none for unary fetches", async () => {
    const access = { ...rules, rules: [{ identities: [`address:${edge}`], entryPoints: ["stream"] as const }] };
    await start(access);
    expect(await ask(edge, CDS_SOTW, discovery("n", CLUSTER))).toBeInstanceOf(Uint8Array);
    expect(await ask(edge, CDS_FETCH, discovery("n", CLUSTER))).toMatchObject({ code: 16 });
    expect(denied).toEqual([["fetch", "n", undefined]]);
  });

  test("refusals are counted by entry point", async () => {
    await start();
    await ask(banned, LRS, load("edge-1"));
    await ask(edge, CSDS, nothing);
    await ask(edge, ADS_SOTW, discovery("pay-1", CLUSTER));
    const { host, port } = world.adminAddress ?? {};
    world.server.setAccess(undefined);
    const text = await (await fetch(`http://${host}:${port}/metrics`)).text();
    const counted = [...text.matchAll(/^xds_server_access_denied_total\{what="(\w+)"\} (\d+)$/gm)];
    expect(counted.map(([, what, count]) => `${what} ${count}`).sort()).toEqual(["csds 1", "lrs 1", "node 1"]);
  });
});

describe("S-ACC-20 what a caller is shown is what its rules give it", () => {
  const configsOf = (answer: Uint8Array | object): unknown =>
    (
      (decoded("envoy.service.status.v3.ClientStatusResponse", answer as Uint8Array)["config"] ?? []) as readonly {
        readonly node: { readonly id: string };
        readonly genericXdsConfigs?: readonly { readonly name: string }[];
      }[]
    ).map(({ node, genericXdsConfigs = [] }) => [node.id, genericXdsConfigs.map(({ name }) => name)]);

  test("client status: no other types, no other names, no other nodes", async () => {
    const access: AccessRules = {
      loopback: "rules",
      rules: [
        { identities: ["loopback"], entryPoints: ["ads"] },
        { identities: [`address:${ops}`], entryPoints: ["csds"] },
        { identities: [`address:${edge}`], entryPoints: ["csds"], nodes: ["edge-*"], types: ["*"], names: ["edge/*"] },
      ],
    };
    await start(access);
    for (const id of ["edge-1", "pay-1"]) {
      const call = (await connect("127.0.0.1")).open(ADS_SOTW);
      call.send(discovery(id, CLUSTER));
      await call.next();
      call.send(discovery(id, SECRET, ["edge/key", "pay/key", "pay/none", "edge/none"]));
      await call.next();
    }
    expect(configsOf(await ask(ops, CSDS, nothing))).toEqual([
      ["edge-1", ["edge/a", "pay/a"]],
      ["pay-1", ["edge/a", "pay/a"]],
    ]);
    expect(configsOf(await ask(edge, CSDS, nothing))).toEqual([["edge-1", ["edge/a", "edge/key", "edge/none"]]]);
    expect(await ask(banned, CSDS, nothing)).toMatchObject({ code: 16 });
  });

  test("load reports: neither asked for other clusters, nor heard about them", async () => {
    await start(rules, { loadReports: { clusters: ["edge/a", "pay/a"] } });
    const call = (await connect(edge)).open(LRS);
    call.send(load("edge-1"));
    const asked = decoded("envoy.service.load_stats.v3.LoadStatsResponse", await call.next(30_000));
    expect(asked["clusters"]).toEqual(["edge/a"]);
    const upstreamLocalityStats = [{ locality: {}, totalIssuedRequests: 1 }];
    const clusterStats = ["edge/a", "pay/a"].map((clusterName) => ({ clusterName, upstreamLocalityStats }));
    const heard = new Promise((resolve) => world.server.on("load-reported", resolve));
    call.send(encoded("envoy.service.load_stats.v3.LoadStatsRequest", { clusterStats }));
    await within("the report", heard, 30_000);
    const { port } = world.adminAddress ?? {};
    world.server.setAccess({ loopback: "trusted", rules: rules.rules });
    const { items } = (await (await fetch(`http://127.0.0.1:${port}/api/v1/loads`)).json()) as { items: object[] };
    expect(items.map((item) => ("cluster" in item ? item.cluster : undefined))).toEqual(["edge/a"]);
  });

  test("a denied type on an aggregated stream ends neither it nor other types", async () => {
    await start({ ...rules, rules: [{ identities: [`address:${edge}`] }] });
    const call = (await connect(edge)).open(ADS_SOTW);
    call.send(discovery("edge-1", SECRET, ["edge/key", "none"]));
    call.send(discovery("edge-1", CLUSTER));
    const answer = decodeSotwResponse(await call.next(30_000));
    expect([answer.typeUrl, answer.resources.length, denied]).toEqual([CLUSTER, 2, [["ads", "edge-1", SECRET]]]);
  });
});

test("S-ACC-20 a change of the rules ends calls of every kind, and no others", async () => {
  const open: AccessRules = {
    loopback: "rules",
    rules: [ops, edge].map((address) => ({
      identities: [`address:${address}`],
      entryPoints: ["ads", "stream", "lrs", "hds", "health", "reflection"] as const,
    })),
  };
  await start(open);
  const long = rows.filter(([entryPoint]) => entryPoint !== "fetch" && entryPoint !== "csds");
  const openAll = (from: string) =>
    Promise.all(
      long.map(async ([entryPoint, path, message]) => {
        const call = (await connect(from)).open(path);
        call.send(message);
        await call.next(30_000);
        return { entryPoint, call };
      }),
    );
  const stay = await openAll(ops);
  const leave = await openAll(edge);
  world.server.setAccess({ ...open, rules: open.rules.slice(0, 1) });
  const ended = await within("the ends", Promise.all(leave.map(({ call }) => call.status)), 30_000);
  expect(ended.map(({ code }) => code)).toEqual(leave.map(() => 16));
  expect(denied.map(String).sort()).toEqual(
    long
      .map(([entryPoint]) => `${entryPoint},${entryPoint === "health" || entryPoint === "reflection" ? "" : "edge-1"},`)
      .sort(),
  );
  expect(stay.map(({ call }) => call.stream.closed)).toEqual(stay.map(() => false));
});

test("client status is denied where it is off, whatever the rules say", async () => {
  await start({ ...rules, loopback: "trusted" }, { clientStatus: "off" });
  for (const from of [ops, edge]) {
    const message = "client status is not told here (client-status)";
    expect(await ask(from, CSDS, nothing)).toEqual({ code: 7, message });
  }
});
