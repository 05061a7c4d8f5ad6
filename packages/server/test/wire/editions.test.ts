import {
  decodeDeltaResponse,
  decodeSotwResponse,
  encodeDeltaRequest,
  encodeSotwRequest,
} from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node } from "@xdskit/protocol";
import { createServer, type ManagementServer, type ManagementServerOptions, XdsError } from "@xdskit/server";
import { afterEach, expect, test } from "vitest";
import { RawPeer, until, within } from "../support/raw-peer.ts";
import { ADS_DELTA, ADS_SOTW, CLUSTER, cluster, ENDPOINTS, put, resource, testApi } from "../support/test-server.ts";

let server: ManagementServer;
const peers: RawPeer[] = [];
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  await server.close();
});

type Address = { readonly host: string; readonly port: number };

async function start(options: Partial<ManagementServerOptions>): Promise<readonly Address[]> {
  server = createServer({ api: testApi(), admin: { port: 0 }, ...options });
  server.commit(put(cluster("a"), resource(ENDPOINTS, "a"), resource(ENDPOINTS, "b")));
  const { address, addresses, adminAddress } = await server.listen();
  expect(addresses[0]).toBe(address);
  return [...addresses, adminAddress ?? { host: "", port: 0 }];
}

async function open(address: Address, path: string): Promise<ReturnType<RawPeer["open"]>> {
  const peer = await RawPeer.connect(address);
  peers.push(peer);
  return peer.open(path);
}

/** What a delta client is told that asks for a cluster which does not exist. */
async function missing(address: Address, node: Partial<Node> = {}): Promise<readonly string[]> {
  const call = await open(address, ADS_DELTA);
  const identified = { ...anonymousNode, id: "n", ...node };
  call.send(encodeDeltaRequest({ node: identified, typeUrl: CLUSTER, resourceNamesSubscribe: ["ghost"] }));
  call.send(encodeDeltaRequest({ typeUrl: CLUSTER, resourceNamesSubscribe: ["a"] }));
  const said: string[] = [];
  while (!said.includes("a")) {
    const { resources, removedResources } = decodeDeltaResponse(await call.next());
    said.push(...removedResources.map((name) => `-${name}`));
    said.push(...resources.map(({ name, resource: body }) => (body === undefined ? `?${name}` : name)));
  }
  return said.sort();
}

/** The endpoints that a State of the World client is sent which names one. */
async function hinted(address: Address): Promise<number> {
  const call = await open(address, ADS_SOTW);
  const node = { ...anonymousNode, id: "sotw" };
  call.send(encodeSotwRequest({ node, typeUrl: ENDPOINTS, resourceNames: ["a"] }));
  return decodeSotwResponse(await call.next()).resources.length;
}

test("one server speaks to an old listener, a new one, and single nodes as each wants it", async () => {
  const [current, old, middle] = await start({
    listen: [{}, { name: "old", edition: "2018" }, { edition: "2020", dialect: { wildcardSticky: false } }],
    clientOverrides: [
      { match: { id: ["special-*"] }, edition: "2020" },
      { match: { userAgentName: ["picky"] }, dialect: { deltaMissing: { cds: "none" } } },
    ],
  });
  if (current === undefined || old === undefined || middle === undefined) throw new Error("expected three listeners");
  const told = await Promise.all([
    missing(current),
    missing(old),
    missing(middle),
    missing(current, { id: "special-1" }),
    missing(old, { id: "special-1" }),
    missing(current, { userAgentName: "picky" }),
  ]);
  expect(told).toEqual([["-ghost", "a"], ["a"], ["?ghost", "a"], ["?ghost", "a"], ["?ghost", "a"], ["a"]]);
  expect(await Promise.all([current, old, middle].map(hinted))).toEqual([1, 2, 1]);
});

test("the admin API tells which edition a stream got, and why", async () => {
  const addresses = await start({
    dialect: { orderLimitMs: 5_000 },
    listen: [{}, { name: "old", edition: "2018" }],
    clientOverrides: (node, _peer, listener) =>
      node.id === "n" && listener === "old" ? { name: "mine", dialect: { deltaMissing: "removed" } } : undefined,
  });
  const [current, old, admin] = addresses;
  if (current === undefined || old === undefined || admin === undefined) throw new Error("expected two listeners");
  expect(await missing(old)).toEqual(["-ghost", "a"]);
  expect(await missing(current, { userAgentName: "gRPC Go" })).toEqual(["-ghost", "a"]);
  const answer: unknown = await (await fetch(`http://127.0.0.1:${admin.port}/api/v1/streams?node=n`)).json();
  const byServer = { name: "orderLimit", value: "5s", by: "server" };
  expect(answer).toMatchObject({
    items: [
      {
        dialect: {
          edition: "2018",
          editionBy: "listener",
          listener: "old",
          clients: "mine",
          switches: [{ name: "deltaMissing", value: "removed", by: "clients" }, byServer],
        },
      },
      {
        dialect: {
          edition: "current",
          client: "gRPC",
          listener: `127.0.0.1:${current.port}`,
          switches: [byServer],
        },
      },
    ],
  });
});

test("rules for clients that change hold for streams that open from then on", async () => {
  const [address] = await start({ clientOverrides: [{ match: {}, dialect: { deltaMissing: "none" } }] });
  if (address === undefined) throw new Error("expected a listener");
  expect(await missing(address)).toEqual(["a"]);
  server.setClientOverrides([{ match: {}, edition: "2021" }]);
  expect(await missing(address)).toEqual(["?ghost", "a"]);
  server.setClientOverrides(undefined);
  expect(await missing(address)).toEqual(["-ghost", "a"]);
  const wrong = [{ match: {}, edition: "1999" as "2018" }];
  expect(() => server.setClientOverrides(wrong)).toThrow(XdsError);
  expect(() => server.setClientOverrides(wrong)).toThrow(
    /clientOverrides\[0\]\.edition: expected one of 2018, 2020, 2021, current/,
  );
});

test("a listener may be the only one that requires a node", async () => {
  const [lax, strict] = await start({ listen: [{}, { dialect: { requireNode: true } }] });
  if (lax === undefined || strict === undefined) throw new Error("expected two listeners");
  const anonymous = async (address: Address): Promise<ReturnType<RawPeer["open"]>> => {
    const call = await open(address, ADS_DELTA);
    call.send(encodeDeltaRequest({ typeUrl: CLUSTER }));
    return call;
  };
  expect(decodeDeltaResponse(await (await anonymous(lax)).next()).resources).toHaveLength(1);
  expect(await within("the refusal", (await anonymous(strict)).status)).toMatchObject({
    code: 3,
    message: /needs a node/,
  });
});

test("a drain reaches the clients of every listener", async () => {
  const [first, second] = await start({ listen: [{}, { edition: "2018" }] });
  if (first === undefined || second === undefined) throw new Error("expected two listeners");
  await Promise.all([missing(first), missing(second)]);
  const drained = server.drain({ graceMs: 100 });
  await until("everybody heard GOAWAY", () => peers.every(({ goaways }) => goaways > 0));
  await within("the drain", drained);
  await until("connections are closed", () => peers.every(({ isGone }) => isGone));
  for (const address of [first, second]) await expect(RawPeer.connect(address)).rejects.toThrow();
});

test("if one listener cannot be started, none is", async () => {
  const [taken] = await start({});
  const other = createServer({ api: testApi(), listen: [{ port: 0 }, { port: taken?.port ?? 0 }] });
  await expect(other.listen()).rejects.toMatchObject({ code: "LISTEN_FAILED" });
  await other.close();
});
