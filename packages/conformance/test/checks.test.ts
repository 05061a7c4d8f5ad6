import { createEnvoyApi } from "@xdskit/envoy-api";
import {
  decodeDeltaResponse,
  decodeSotwResponse,
  discoveryMethods,
  encodeDeltaRequest,
  encodeSotwRequest,
} from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { createServer, type ManagementServer } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pathOf, type TypeName, traitsOf, urlOf } from "../src/content/catalog.ts";
import { contentOf, toResource } from "../src/content/content.ts";
import { connectPeer, type WirePeer } from "../src/peer/connect-peer.ts";
import type { PeerStream } from "../src/peer/peer-stream.ts";

const api = createEnvoyApi();
let server: ManagementServer;
let peer: WirePeer;

beforeEach(async () => {
  server = createServer({ api, controlPlane: "conformance-1" });
  const { address } = await server.listen();
  peer = await connectPeer({ address: `${address.host}:${address.port}` });
});

afterEach(async () => {
  await peer.close();
  await server.close();
});

function publish(type: TypeName, ...specs: readonly Parameters<typeof contentOf>[1][]): void {
  server.commit({ changes: [{ layer: "base", puts: specs.map((spec) => toResource(contentOf(type, spec))) }] });
}

/** The messages of a stream, to be waited for one by one. */
function reader(stream: PeerStream): () => Promise<Uint8Array> {
  const messages = stream.messages[Symbol.asyncIterator]();
  return async () => {
    const { done, value } = await messages.next();
    if (done === true) throw new Error(`the stream ended: ${JSON.stringify(await stream.status)}`);
    return value;
  };
}

test("E25 B-TYP-01 every type that cases speak of is in Envoy's API under that name", () => {
  const names: readonly TypeName[] = ["lds", "rds", "srds", "vhds", "cds", "eds", "sds", "rtds", "ecds"];
  expect(names.filter((name) => !api.knows(urlOf(name)))).toEqual([]);
  expect(names.map((name) => traitsOf(urlOf(name))?.isFullState)).toEqual(
    names.map((name) => api.traits(urlOf(name))?.isFullState),
  );
  expect(names.map((name) => traitsOf(urlOf(name))?.kind)).toEqual(names.map((name) => api.traits(urlOf(name))?.kind));
});

test("S-GRP-01 every streaming method answers on its path", async () => {
  const streaming = discoveryMethods.filter(({ call, path }) => call !== "fetch" && !path.includes(".v2."));
  const changes = streaming.map(({ onlyType = urlOf("opaque") }) => ({
    layer: "base",
    puts: [toResource({ ...contentOf("opaque", "a@1"), url: onlyType })],
  }));
  server.commit({ changes });
  const answered: string[] = [];
  for (const { path, call, onlyType = urlOf("opaque") } of streaming) {
    const stream = peer.open(path);
    const next = reader(stream);
    if (call === "sotw") {
      stream.send(encodeSotwRequest({ typeUrl: onlyType, resourceNames: ["a"] }));
      const { resources } = decodeSotwResponse(await next());
      answered.push(`${path} ${resources.map(({ typeUrl }) => typeUrl)}`);
    } else {
      stream.send(encodeDeltaRequest({ typeUrl: onlyType, resourceNamesSubscribe: ["a"] }));
      const { resources } = decodeDeltaResponse(await next());
      answered.push(`${path} ${resources.map(({ resource }) => resource?.typeUrl)}`);
    }
    stream.cancel();
  }
  expect(answered).toEqual(streaming.map(({ path, onlyType = urlOf("opaque") }) => `${path} ${onlyType}`));
  const kinds: readonly TypeName[] = ["lds", "rds", "srds", "cds", "eds", "sds", "rtds", "ecds"];
  const paths = streaming.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      pathOf("sotw", undefined),
      pathOf("delta", undefined),
      pathOf("delta", "vhds"),
      ...kinds.flatMap((kind) => [pathOf("sotw", kind), pathOf("delta", kind)]),
    ]),
  );
  expect(paths.some((path) => path.endsWith("VirtualHostDiscoveryService/StreamVirtualHosts"))).toBe(false);
});

test("E26 S-GRP-02 scoped routes are served under the spelling of the documents too", async () => {
  publish("srds", "a@1");
  const stream = peer.open("/envoy.service.route.v3.ScopedRouteDiscoveryService/StreamScopedRoutes");
  const next = reader(stream);
  stream.send(encodeSotwRequest({}));
  expect(decodeSotwResponse(await next()).typeUrl).toBe(urlOf("srds"));
});

test("B-GRP-08 a request of 8 MiB is read", async () => {
  publish("eds", "a@1");
  const stream = peer.open(pathOf("delta", undefined));
  const next = reader(stream);
  const held = Array.from({ length: 100_000 }, (_, at) => [`cluster-${at}-${"n".repeat(50)}`, "v".repeat(16)] as const);
  const request = encodeDeltaRequest({
    typeUrl: urlOf("eds"),
    resourceNamesSubscribe: ["a"],
    initialResourceVersions: held,
  });
  expect(request.byteLength).toBeGreaterThan(8 * 1024 * 1024);
  stream.send(request);
  expect(decodeDeltaResponse(await next()).resources.map(({ name }) => name)).toEqual(["a"]);
});

test("S-RES-08 a large delta answer loses nothing when a part of it is refused", async () => {
  const names = Array.from({ length: 200 }, (_, at) => `e${at}`);
  publish("eds", ...names.map((name) => ({ is: `${name}@1`, padding: 100_000 })));
  const stream = peer.open(pathOf("delta", undefined));
  const next = reader(stream);
  stream.send(encodeDeltaRequest({ typeUrl: urlOf("eds"), resourceNamesSubscribe: ["*"] }));
  const received: string[] = [];
  const nonces: string[] = [];
  const sizes: number[] = [];
  while (received.length < names.length) {
    const message = await next();
    const { resources, nonce } = decodeDeltaResponse(message);
    received.push(...resources.map(({ name }) => name));
    nonces.push(nonce);
    sizes.push(message.byteLength);
  }
  // 20 MB, and no message that a client of gRPC's libraries would not take (client-behaviours F1).
  expect(sizes.length).toBe(6);
  expect(sizes.filter((size) => size > 3.5 * 1024 * 1024)).toEqual([]);
  expect(received.sort()).toEqual([...names].sort());
  expect(new Set(nonces).size).toBe(nonces.length);
  const [first, ...others] = nonces;
  const error = { code: 13, message: "too much" };
  stream.send(encodeDeltaRequest({ typeUrl: urlOf("eds"), responseNonce: first, errorDetail: error }));
  for (const nonce of others) stream.send(encodeDeltaRequest({ typeUrl: urlOf("eds"), responseNonce: nonce }));
  publish("eds", "e0@2", "e199@2");
  const { resources } = decodeDeltaResponse(await next());
  expect(resources.map(({ name }) => name).sort()).toEqual(["e0", "e199"]);
});

test("S-RES-05 a large answer of State of the World comes in parts that a gRPC client takes, a Cluster's never", async () => {
  const names = Array.from({ length: 60 }, (_, at) => `e${at}`);
  const padded = names.map((name) => ({ is: `${name}@1`, padding: 100_000 }));
  publish("eds", ...padded);
  publish("cds", ...padded);
  const stream = peer.open(pathOf("sotw", undefined));
  const next = reader(stream);
  stream.send(encodeSotwRequest({ typeUrl: urlOf("eds"), resourceNames: names }));
  const [first, second] = [decodeSotwResponse(await next()), decodeSotwResponse(await next())];
  expect(first.resources.length + second.resources.length).toBe(60);
  expect([second.versionInfo, second.nonce === first.nonce]).toEqual([first.versionInfo, false]);
  stream.send(encodeSotwRequest({ typeUrl: urlOf("cds"), resourceNames: names }));
  expect(decodeSotwResponse(await next()).resources.length).toBe(60);
});

test("S-RES-16 responses of both variants name the control plane", async () => {
  publish("cds", "a@1");
  const whole = peer.open(pathOf("sotw", undefined));
  const nextWhole = reader(whole);
  whole.send(encodeSotwRequest({ typeUrl: urlOf("cds") }));
  expect(decodeSotwResponse(await nextWhole()).controlPlane).toBe("conformance-1");
  const changes = peer.open(pathOf("delta", undefined));
  const nextChange = reader(changes);
  changes.send(encodeDeltaRequest({ typeUrl: urlOf("cds") }));
  expect(decodeDeltaResponse(await nextChange()).controlPlane).toBe("conformance-1");
});

test("T-B8 a burst of growing requests gets few answers and all resources", async () => {
  const names = Array.from({ length: 500 }, (_, at) => `e${at}`);
  publish("eds", ...names.map((name) => `${name}@1`));
  const stream = peer.open(pathOf("sotw", undefined));
  const next = reader(stream);
  const ask = (resourceNames: readonly string[], answered: { nonce: string; versionInfo: string }): void =>
    stream.send(
      encodeSotwRequest({
        typeUrl: urlOf("eds"),
        resourceNames,
        responseNonce: answered.nonce,
        versionInfo: answered.versionInfo,
      }),
    );
  ask(names.slice(0, 1), { nonce: "", versionInfo: "" });
  const first = decodeSotwResponse(await next());
  for (let count = 1; count <= names.length; count++) ask(names.slice(0, count), first);
  let resources = first.resources.length;
  let responses = 0;
  while (resources < names.length) {
    const response = decodeSotwResponse(await next());
    resources += response.resources.length;
    responses++;
    ask(names, response);
  }
  expect(resources).toBe(names.length);
  expect(responses).toBeLessThanOrEqual(5);
});

test("S-DLT-16 Envoy is told of an unknown virtual host by a resource that is its own alias", async () => {
  publish("vhds", "rc/known@1");
  const stream = peer.open(pathOf("delta", undefined));
  const next = reader(stream);
  stream.send(
    encodeDeltaRequest({
      node: { ...anonymousNode, id: "n1", userAgentName: "envoy" },
      typeUrl: urlOf("vhds"),
      resourceNamesSubscribe: ["rc/unknown"],
    }),
  );
  const { resources, removedResources } = decodeDeltaResponse(await next());
  expect(removedResources).toEqual([]);
  expect(resources.map(({ name, aliases, resource }) => ({ name, aliases, resource }))).toEqual([
    { name: "rc/unknown", aliases: ["rc/unknown"], resource: undefined },
  ]);
});
