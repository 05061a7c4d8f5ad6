import { decodeDeltaResponse, decodeSotwResponse, discoveryMethods } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { within } from "../support/raw-peer.ts";
import {
  ADS_DELTA,
  ADS_SOTW,
  CDS_DELTA,
  CDS_FETCH,
  CDS_SOTW,
  CLUSTER,
  cluster,
  deltaRequest,
  put,
  resource,
  sotwRequest,
  startWorld,
  type World,
} from "../support/test-server.ts";

let world: World;
beforeEach(async () => {
  const types = new Set(discoveryMethods.flatMap(({ onlyType }) => onlyType ?? []));
  world = await startWorld(
    { dialect: { incremental2018: true } },
    [...types].map((type) => resource(type, "r")),
  );
});
afterEach(() => world.close());

describe("S-GRP-01 every method of every service answers", () => {
  test.each(discoveryMethods.filter(({ call }) => call === "sotw"))("$path", async ({ path, onlyType }) => {
    const peer = await world.connect();
    const call = peer.open(path);
    call.send(sotwRequest(onlyType ?? CLUSTER, ["r"]));
    const response = decodeSotwResponse(await call.next());
    expect(response).toMatchObject({ typeUrl: onlyType ?? CLUSTER, controlPlane: "xdskit" });
    expect(response.resources).toHaveLength(1);
  });

  test.each(discoveryMethods.filter(({ call }) => call === "delta"))("$path", async ({ path, onlyType }) => {
    const peer = await world.connect();
    const call = peer.open(path);
    call.send(deltaRequest(onlyType ?? CLUSTER, ["r"]));
    const response = decodeDeltaResponse(await call.next());
    expect(response.typeUrl).toBe(onlyType ?? CLUSTER);
    expect(response.resources.map(({ name }) => name)).toEqual(["r"]);
  });

  test.each(discoveryMethods.filter(({ call }) => call === "fetch"))("$path", async ({ path, onlyType }) => {
    const peer = await world.connect();
    const call = peer.open(path);
    call.send(sotwRequest(onlyType ?? CLUSTER, ["r"]));
    call.end();
    const response = decodeSotwResponse(await call.next());
    expect(response.resources).toHaveLength(1);
    expect(await within("the status", call.status)).toEqual({ code: 0, message: "" });
  });
});

describe("a method that needs a switch", () => {
  const incremental = "/envoy.service.discovery.v2.AggregatedDiscoveryService/IncrementalAggregatedResources";
  const alias = "/envoy.api.v2.ScopedRouteDiscoveryService/";
  const scope = formatTypeUrl("envoy.api.v2.ScopedRouteConfiguration");

  test.each([
    [incremental, "incremental2018"],
    [`${alias}DeltaScopedRoutes`, "docAliases"],
    [`${alias}StreamScopedRoutes`, "docAliases"],
    [`${alias}FetchScopedRoutes`, "docAliases"],
  ])("B-DLT-18 S-GRP-02 %s is UNIMPLEMENTED where it is off, and the status names it", async (path, name) => {
    await world.close();
    world = await startWorld({ dialect: { docAliases: false } });
    const call = (await world.connect()).open(path);
    call.send(
      path.endsWith("/StreamScopedRoutes") || path.endsWith("/FetchScopedRoutes")
        ? sotwRequest(scope)
        : deltaRequest(scope),
    );
    expect(await within("the status", call.status)).toEqual({
      code: 12,
      message: `this method is only served where the switch "${name}" is on`,
    });
  });
});

test("headers arrive before anything is asked", async () => {
  const peer = await world.connect();
  const call = peer.open(ADS_SOTW);
  const headers = await within("headers", call.headers);
  expect(headers).toMatchObject({ ":status": 200, "content-type": "application/grpc" });
  expect(headers["grpc-accept-encoding"]).toBe("identity,gzip,deflate");
});

test("S-GRP-03 says nothing before the first request", async () => {
  const peer = await world.connect();
  const silent = peer.open(ADS_SOTW);
  const asking = peer.open(ADS_SOTW);
  await within("headers", silent.headers);
  asking.send(sotwRequest(CLUSTER));
  await asking.next();
  expect(silent.waiting).toBe(0);
});

test("a change reaches streams of both variants, on ADS and per type", async () => {
  const peer = await world.connect();
  const sotw = [ADS_SOTW, CDS_SOTW].map((path) => peer.open(path));
  const delta = [ADS_DELTA, CDS_DELTA].map((path) => peer.open(path));
  for (const call of sotw) {
    call.send(sotwRequest(CLUSTER));
    const { nonce, versionInfo } = decodeSotwResponse(await call.next());
    call.send(sotwRequest(CLUSTER, [], nonce, versionInfo));
  }
  for (const call of delta) {
    call.send(deltaRequest(CLUSTER));
    call.send(deltaRequest(CLUSTER, [], decodeDeltaResponse(await call.next()).nonce));
  }
  world.server.commit(put(cluster("b")));
  for (const call of sotw) expect(decodeSotwResponse(await call.next()).resources).toHaveLength(2);
  for (const call of delta) {
    const { resources } = decodeDeltaResponse(await call.next());
    expect(resources.map(({ name }) => name)).toEqual(["b"]);
  }
});

describe("Fetch", () => {
  test("answers empty when there is nothing to say", async () => {
    const peer = await world.connect();
    const path = "/envoy.service.endpoint.v3.EndpointDiscoveryService/FetchEndpoints";
    const call = peer.open(path);
    call.send(sotwRequest("type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", ["nobody"]));
    call.end();
    expect(decodeSotwResponse(await call.next()).resources).toEqual([]);
    expect((await within("the status", call.status)).code).toBe(0);
  });

  test("does not wait for the half-close", async () => {
    const peer = await world.connect();
    const call = peer.open(CDS_FETCH);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
    expect((await within("the status", call.status)).code).toBe(0);
  });

  test("without a request ends with INVALID_ARGUMENT", async () => {
    const peer = await world.connect();
    const call = peer.open(CDS_FETCH);
    call.end();
    expect(await within("the status", call.status)).toMatchObject({ code: 3 });
  });
});

test("an unknown method is UNIMPLEMENTED, in the headers alone", async () => {
  const peer = await world.connect();
  const call = peer.open("/no.such.Service/Method");
  expect(await within("headers", call.headers)).toMatchObject({ ":status": 200, "grpc-status": "12" });
  expect(await within("the status", call.status)).toEqual({
    code: 12,
    message: "method /no.such.Service/Method is not served here",
  });
});
