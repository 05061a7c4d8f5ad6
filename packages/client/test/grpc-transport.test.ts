import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { ServerCredentials } from "@grpc/grpc-js";
import { createRequestReader, decodeNode, encodeNode, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { locatedTerm, noInitialVersions, statusCode } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import type { GrpcSource } from "../src/config/client-config.ts";
import { systemTls } from "../src/config/config-defaults.ts";
import { Connections } from "../src/transport/grpc/connection.ts";
import { createGrpcTransport } from "../src/transport/grpc/grpc-transport.ts";
import type { Transport } from "../src/transport/transport.ts";
import { makeAuthority, makeCertificate } from "./support/certificates.ts";
import { atEnd, folder } from "./support/ends.ts";
import { fakeListener } from "./support/fake-listener.ts";
import { startScriptedGrpc } from "./support/scripted-grpc.ts";
import { CLUSTER, nodeBytes, request, SECRET, server, grpcSource as source, testApi } from "./support/sources.ts";
import { until } from "./support/until.ts";

function transport(): Transport<GrpcSource> {
  const made = createGrpcTransport({ api: testApi(), encodeNode, connections: new Connections() });
  atEnd(() => made.close());
  return made;
}

async function scripted(...args: Parameters<typeof startScriptedGrpc>): ReturnType<typeof startScriptedGrpc> {
  const peer = await startScriptedGrpc(...args);
  atEnd(() => peer.close());
  return peer;
}

const [LISTENER_V2, LEDS] = [
  formatTypeUrl("envoy.api.v2.Listener"),
  formatTypeUrl("envoy.config.endpoint.v3.LbEndpoint"),
];

test("B-DLT-18 C-ADS-03 C-GRP-09 C-TYP-11 the method is picked by the version of the transport, the variant and the type", async () => {
  const peer = await scripted();
  const one = server(peer.port);
  const grpc = transport();
  const open = async (changes: Partial<GrpcSource>, onlyType: typeof CLUSTER | undefined): Promise<void> => {
    const listener = fakeListener();
    grpc.open({ source: source([one], changes), server: one, onlyType }, listener);
    await listener.next("opened");
  };
  await open({}, undefined);
  await open({ variant: "delta", apiVersion: "v2" }, undefined);
  await open({}, CLUSTER);
  await open({ apiVersion: "v2" }, CLUSTER);
  await open({ variant: "delta", apiVersion: "v3" }, LISTENER_V2);
  await open({ variant: "delta" }, LEDS);
  await peer.call(5);
  expect(peer.calls.map(({ path }) => path).sort()).toEqual([
    "/envoy.api.v2.ClusterDiscoveryService/StreamClusters",
    "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters",
    "/envoy.service.discovery.v2.AggregatedDiscoveryService/DeltaAggregatedResources",
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
    "/envoy.service.endpoint.v3.LocalityEndpointDiscoveryService/DeltaLocalityEndpoints",
    "/envoy.service.listener.v3.ListenerDiscoveryService/DeltaListeners",
  ]);
});

test("C-GRP-09 a type without a method of its own is told to be so", async () => {
  const listener = fakeListener();
  transport().open({ source: source([server(1)]), server: server(1), onlyType: LEDS }, listener);
  const { status } = await listener.next("ended");
  expect(status.code).toBe(statusCode.UNIMPLEMENTED);
  expect(status.message).toMatch(/no method of v3 for a stream of envoy.config.endpoint.v3.LbEndpoint alone/);
});

test("requests go out as they are, with locators for names with parameters, and headers", async () => {
  const peer = await scripted();
  const one = server(peer.port, { headers: [["authorization", "Bearer x"]] });
  const grpc = transport();
  const listener = fakeListener();
  const stream = grpc.open({ source: source([one]), server: one, onlyType: undefined }, listener);
  await listener.next("opened");
  const located = locatedTerm("b", new Map([["env", "prod"]]));
  stream.send(request(CLUSTER, { names: ["a", located], versionInfo: "7", nonce: "n" }), false);
  const call = await peer.call(0);
  const read = createRequestReader("sotw").read(await call.request(0));
  expect(read).toMatchObject({ type: CLUSTER, names: ["a", located], versionInfo: "7", nonce: "n", node: undefined });
  expect(call.metadata.get("authorization")).toEqual(["Bearer x"]);

  const delta = fakeListener();
  const second = grpc.open({ source: source([one], { variant: "delta" }), server: one, onlyType: SECRET }, delta);
  await delta.next("opened");
  const common = { kind: "delta", type: SECRET, nonce: undefined, error: undefined } as const;
  const node = decodeNode(nodeBytes);
  second.send({ ...common, node, subscribe: ["s"], unsubscribe: [located], initialVersions: noInitialVersions }, false);
  const bytes = await (await peer.call(1)).request(0);
  expect(createRequestReader("delta").read(bytes)).toMatchObject({
    type: SECRET,
    node: { id: "edge-7" },
    subscribe: ["s"],
    unsubscribe: [located],
  });
});

test("C-CLI-07 the next response is not handed over before the last one was dealt with", async () => {
  const peer = await scripted();
  const one = server(peer.port);
  const listener = fakeListener();
  let goOn = (): void => {};
  listener.judge = () =>
    new Promise((resolve) => {
      goOn = resolve;
    });
  transport().open({ source: source([one]), server: one, onlyType: undefined }, listener);
  const call = await peer.call(0);
  for (const nonce of ["1", "2", "3"]) call.send(encodeSotwResponse({ typeUrl: CLUSTER, nonce }));
  await listener.next("response");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(listener.kinds).toEqual(["opened", "response"]);
  goOn();
  await listener.next("response");
  goOn();
  await listener.next("response");
  expect(listener.kinds).toEqual(["opened", "response", "response", "response"]);
  goOn();
  call.end(statusCode.UNAVAILABLE, "over");
  expect((await listener.next("ended")).status).toEqual({ code: statusCode.UNAVAILABLE, message: "xds: over" });
});

test("B-GRP-08 a response over the limit ends the stream with RESOURCE_EXHAUSTED, one of 20 MiB under it is taken", async () => {
  const peer = await scripted();
  const value = new Uint8Array(20 * 1024 * 1024);
  const bytes = encodeSotwResponse({ typeUrl: CLUSTER, resources: [{ typeUrl: CLUSTER, value }] });
  const grpc = transport();
  const open = async (maxResponseBytes: number, place: number): Promise<ReturnType<typeof fakeListener>> => {
    const listener = fakeListener();
    const one = server(peer.port, { maxResponseBytes });
    grpc.open({ source: source([one]), server: one, onlyType: undefined }, listener);
    (await peer.call(place)).send(bytes);
    return listener;
  };
  const large = await open(32 * 1024 * 1024, 0);
  expect((await large.next("response")).bytes.byteLength).toBe(bytes.byteLength);
  const small = await open(1024 * 1024, 1);
  expect((await small.next("ended")).status.code).toBe(statusCode.RESOURCE_EXHAUSTED);
});

test("a server that is not there, and one that does not speak, are told as such", async () => {
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const address = mute.address();
  atEnd(() => void mute.close());
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const grpc = transport();
  const silent = fakeListener();
  const one = server(port, { connectTimeoutMs: 200, tls: systemTls });
  grpc.open({ source: source([one]), server: one, onlyType: undefined }, silent);
  expect((await silent.next("ended")).status).toEqual({
    code: statusCode.UNAVAILABLE,
    message: "xds: not connected within 200 ms",
  });
  const gone = fakeListener();
  const nobody = server(1);
  grpc.open({ source: source([nobody]), server: nobody, onlyType: undefined }, gone);
  const { status } = await gone.next("ended");
  expect(status).toEqual({
    code: statusCode.UNAVAILABLE,
    message: expect.stringMatching(/^[^ ]+: no connection: connect ECONNREFUSED 127\.0\.0\.1:\d+$/),
  });
  expect([silent.kinds, gone.kinds]).toEqual([["ended"], ["ended"]]);
});

test("C-REC-02 a server that comes back is reached by the next stream, however often it was tried in vain", async () => {
  const first = await startScriptedGrpc();
  const one = server(first.port);
  const grpc = transport();
  const open = (): ReturnType<typeof fakeListener> => {
    const listener = fakeListener();
    grpc.open({ source: source([one]), server: one, onlyType: undefined }, listener);
    return listener;
  };
  const before = open();
  await before.next("opened");
  first.close();
  await before.next("ended");
  for (let i = 0; i < 5; i++) await open().next("ended");
  await scripted(first.port);
  const after = open();
  await after.next("opened");
  expect(after.kinds).toEqual(["opened"]);
});

test("TLS both ways; certificates that were exchanged meanwhile count for the next connection", async () => {
  const directory = folder();
  makeAuthority(directory, "ca");
  makeCertificate(directory, "server", "ca", "DNS:xds.test");
  makeAuthority(directory, "other");
  makeCertificate(directory, "client", "other", "DNS:client.test");
  const read = (name: string): Buffer => readFileSync(join(directory, name));
  const pair = { private_key: read("server.key"), cert_chain: read("server.crt") };
  const peer = await scripted(0, ServerCredentials.createSsl(read("ca.crt"), [pair], true));
  const tls = {
    ...systemTls,
    caPath: join(directory, "ca.crt"),
    certificatePath: join(directory, "client.crt"),
    keyPath: join(directory, "client.key"),
    serverName: "xds.test",
  };
  const one = server(peer.port, { tls });
  const grpc = transport();
  const open = (): ReturnType<typeof fakeListener> => {
    const listener = fakeListener();
    grpc.open({ source: source([one]), server: one, onlyType: undefined }, listener);
    return listener;
  };
  expect((await open().next("ended")).status.code).toBe(statusCode.UNAVAILABLE);
  makeCertificate(directory, "client", "ca", "DNS:client.test");
  const trusted = open();
  const call = await peer.call(0);
  call.send(encodeSotwResponse({ typeUrl: CLUSTER }));
  await trusted.next("response");
});

test("TLS to an address sends no server name, which has to be a name (RFC 6066), and the certificate is for the address", async () => {
  const directory = folder();
  makeAuthority(directory, "ca");
  const read = (name: string): Buffer => readFileSync(join(directory, name));
  const openTo = async (address: string, serverName?: string): Promise<ReturnType<typeof fakeListener>> => {
    makeCertificate(directory, "server", "ca", `IP:${address}`);
    const peer = createSecureServer({ key: read("server.key"), cert: read("server.crt") });
    peer.on("secureConnection", ({ servername }: TLSSocket) => names.push(servername));
    await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
    atEnd(() => void peer.close());
    const bound = peer.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    const one = server(port, { tls: { ...systemTls, ca: read("ca.crt"), serverName } });
    const listener = fakeListener();
    transport().open({ source: source([one]), server: one, onlyType: undefined }, listener);
    return listener;
  };
  const names: (string | false | null)[] = [];
  await (await openTo("127.0.0.1")).next("opened");
  await (await openTo("127.0.0.2", "127.0.0.2")).next("opened");
  expect(names).toEqual([false, false]);
  const { status } = await (await openTo("127.0.0.2")).next("ended");
  expect(status.message).toContain("IP: 127.0.0.1 is not in the cert's list");
});

test("nobody hears of a stream that was closed, and the server sees it end", async () => {
  const peer = await scripted();
  const one = server(peer.port);
  const listener = fakeListener();
  const stream = transport().open({ source: source([one]), server: one, onlyType: undefined }, listener);
  const call = await peer.call(0);
  stream.close();
  call.send(encodeSotwResponse({ typeUrl: CLUSTER }));
  await until("the server saw it", () => call.isOver);
  expect(listener.kinds).toEqual(["opened"]);
});
