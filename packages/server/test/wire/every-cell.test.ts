import { decodeDeltaResponse, decodeSotwResponse, restPaths } from "@xdskit/envoy-api/internal";
import { type ApiVersion, formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RawCall, within } from "../support/raw-peer.ts";
import { deltaRequest, resource, sotwRequest, startWorld, type World } from "../support/test-server.ts";

/** A type of the protocol page, by version: the service that serves it and its message (requirements 1.1 and 1.3). */
interface Api {
  readonly name: string;
  /** What follows `Stream` and `Delta` in the names of the methods. */
  readonly noun: string;
  readonly v2: { readonly service: string; readonly message: string };
  readonly v3: { readonly service: string; readonly message: string };
}

const apis: readonly Api[] = [
  {
    name: "LDS",
    noun: "Listeners",
    v2: { service: "envoy.api.v2.ListenerDiscoveryService", message: "envoy.api.v2.Listener" },
    v3: { service: "envoy.service.listener.v3.ListenerDiscoveryService", message: "envoy.config.listener.v3.Listener" },
  },
  {
    name: "RDS",
    noun: "Routes",
    v2: { service: "envoy.api.v2.RouteDiscoveryService", message: "envoy.api.v2.RouteConfiguration" },
    v3: {
      service: "envoy.service.route.v3.RouteDiscoveryService",
      message: "envoy.config.route.v3.RouteConfiguration",
    },
  },
  {
    name: "SRDS",
    noun: "ScopedRoutes",
    v2: { service: "envoy.api.v2.ScopedRoutesDiscoveryService", message: "envoy.api.v2.ScopedRouteConfiguration" },
    v3: {
      service: "envoy.service.route.v3.ScopedRoutesDiscoveryService",
      message: "envoy.config.route.v3.ScopedRouteConfiguration",
    },
  },
  {
    name: "VHDS",
    noun: "VirtualHosts",
    v2: { service: "envoy.api.v2.VirtualHostDiscoveryService", message: "envoy.api.v2.route.VirtualHost" },
    v3: {
      service: "envoy.service.route.v3.VirtualHostDiscoveryService",
      message: "envoy.config.route.v3.VirtualHost",
    },
  },
  {
    name: "CDS",
    noun: "Clusters",
    v2: { service: "envoy.api.v2.ClusterDiscoveryService", message: "envoy.api.v2.Cluster" },
    v3: { service: "envoy.service.cluster.v3.ClusterDiscoveryService", message: "envoy.config.cluster.v3.Cluster" },
  },
  {
    name: "EDS",
    noun: "Endpoints",
    v2: { service: "envoy.api.v2.EndpointDiscoveryService", message: "envoy.api.v2.ClusterLoadAssignment" },
    v3: {
      service: "envoy.service.endpoint.v3.EndpointDiscoveryService",
      message: "envoy.config.endpoint.v3.ClusterLoadAssignment",
    },
  },
  {
    name: "SDS",
    noun: "Secrets",
    v2: { service: "envoy.service.discovery.v2.SecretDiscoveryService", message: "envoy.api.v2.auth.Secret" },
    v3: {
      service: "envoy.service.secret.v3.SecretDiscoveryService",
      message: "envoy.extensions.transport_sockets.tls.v3.Secret",
    },
  },
  {
    name: "RTDS",
    noun: "Runtime",
    v2: {
      service: "envoy.service.discovery.v2.RuntimeDiscoveryService",
      message: "envoy.service.discovery.v2.Runtime",
    },
    v3: { service: "envoy.service.runtime.v3.RuntimeDiscoveryService", message: "envoy.service.runtime.v3.Runtime" },
  },
];

const aggregated: Readonly<Record<ApiVersion, string>> = {
  v2: "/envoy.service.discovery.v2.AggregatedDiscoveryService",
  v3: "/envoy.service.discovery.v3.AggregatedDiscoveryService",
};

type Stream = "SotW" | "delta" | "ADS SotW" | "ADS delta";

/** One kind of stream for one type in one version: what B-GEN-01 counts. */
interface Cell {
  readonly stream: Stream;
  readonly version: ApiVersion;
  readonly api: string;
  readonly path: string;
  readonly type: TypeUrl;
}

const versions: readonly ApiVersion[] = ["v2", "v3"];
const grid: readonly Cell[] = apis.flatMap((api) => versions.flatMap((version) => cellsOf(api, version)));
/** Virtual hosts are told in delta only. */
const cells = grid.filter(({ api, stream }) => api !== "VHDS" || stream.endsWith("delta"));

function cellsOf(api: Api, version: ApiVersion): readonly Cell[] {
  const { service, message } = api[version];
  const cell = { version, api: api.name, type: formatTypeUrl(message) };
  return [
    { ...cell, stream: "SotW", path: `/${service}/Stream${api.noun}` },
    { ...cell, stream: "delta", path: `/${service}/Delta${api.noun}` },
    { ...cell, stream: "ADS SotW", path: `${aggregated[version]}/StreamAggregatedResources` },
    { ...cell, stream: "ADS delta", path: `${aggregated[version]}/DeltaAggregatedResources` },
  ];
}

let world: World;
const acked: string[] = [];
beforeAll(async () => {
  const types = apis.flatMap(({ v2, v3 }) => [v2.message, v3.message]).map(formatTypeUrl);
  world = await startWorld(
    {},
    types.map((type) => resource(type, "r")),
  );
  world.server.on("response-acked", ({ nonce }) => acked.push(nonce));
});
beforeEach(() => {
  acked.length = 0;
});
afterAll(() => world.close());

/** What is polled: REST has neither ADS nor delta, and so no virtual hosts. */
const polls = restPaths.filter(({ path }) => !path.endsWith(":extension_configs"));

async function post(path: string, body: object): Promise<Response> {
  const { host, port } = world.address;
  return fetch(`http://${host}:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": "50" },
    body: JSON.stringify({ node: { id: "test" }, ...body }),
  });
}

describe("B-GEN-01", () => {
  test("B-GEN-01 there are fourteen cells of REST: seven types, two versions", () => {
    const types = apis.filter(({ name }) => name !== "VHDS").flatMap(({ v2, v3 }) => [v2.message, v3.message]);
    expect(polls.map(({ type }) => type).sort()).toEqual(types.map(formatTypeUrl).sort());
  });

  test.each(polls)(
    "$apiVersion REST, $path: one resource, and nothing more until it changes",
    async ({ path, type }) => {
      const answer = await post(path, { resourceNames: ["r"], typeUrl: type });
      const { versionInfo, typeUrl, resources } = (await answer.json()) as {
        readonly versionInfo: string;
        readonly typeUrl: string;
        readonly resources: readonly { readonly "@type": string }[];
      };
      expect([answer.status, typeUrl, resources.map((one) => one["@type"])]).toEqual([200, type, [type]]);
      const again = await post(path, { resourceNames: ["r"], typeUrl: type, versionInfo });
      expect([again.status, await again.text(), acked]).toEqual([304, "", [expect.any(String)]]);
    },
  );

  test.each(
    ["v2", "v3"].flatMap((version) => [`/${version}/discovery:virtual_hosts`, `/${version}/discovery:aggregated`]),
  )("%s: there is no such path", async (path) => {
    expect((await post(path, {})).status).toBe(404);
  });

  test("B-GEN-01 there are sixty cells of streams: eight types, two versions, four streams, less four of VHDS", () => {
    expect(cells).toHaveLength(60);
    expect(new Set(cells.map(({ path, type }) => `${path} ${type}`)).size).toBe(60);
  });

  test.each(cells.filter(({ stream }) => stream.endsWith("delta")))(
    "$version $api, $stream: one resource, one ACK",
    async ({ path, type }) => {
      const call = (await world.connect()).open(path);
      call.send(deltaRequest(type, ["r"]));
      const { nonce, typeUrl, resources } = decodeDeltaResponse(await call.next());
      const held = resources.map(({ name, resource }) => [name, resource?.typeUrl]);
      expect([typeUrl, held]).toEqual([type, [["r", type]]]);
      call.send(deltaRequest(type, [], nonce));
      await expectTheEnd(call, nonce);
    },
  );

  test.each(cells.filter(({ stream }) => stream.endsWith("SotW")))(
    "$version $api, $stream: one resource, one ACK",
    async ({ path, type }) => {
      const call = (await world.connect()).open(path);
      call.send(sotwRequest(type, ["r"]));
      const { nonce, typeUrl, resources, versionInfo } = decodeSotwResponse(await call.next());
      expect([typeUrl, resources.map((resource) => resource.typeUrl)]).toEqual([type, [type]]);
      call.send(sotwRequest(type, ["r"], nonce, versionInfo));
      await expectTheEnd(call, nonce);
    },
  );

  test.each(grid.filter(({ api, stream }) => api === "VHDS" && stream === "SotW"))(
    "$version $api, $stream: there is no such method",
    async ({ path, type }) => {
      const call = (await world.connect()).open(path);
      call.send(sotwRequest(type, ["r"]));
      const message = `method ${path} is not served here`;
      expect(await within("the status", call.status)).toEqual({ code: 12, message });
    },
  );

  test.each(grid.filter(({ api, stream }) => api === "VHDS" && stream === "ADS SotW"))(
    "$version $api, $stream: asked for by no client, and answered as any type is",
    async ({ path, type }) => {
      const call = (await world.connect()).open(path);
      call.send(sotwRequest(type, ["r"]));
      const { resources } = decodeSotwResponse(await call.next());
      expect(resources.map((resource) => resource.typeUrl)).toEqual([type]);
    },
  );
});

/** The server took one ACK, and had nothing more to say. */
async function expectTheEnd(call: RawCall, nonce: string): Promise<void> {
  call.end();
  expect(await within("the status", call.status)).toEqual({ code: 0, message: "" });
  expect([acked, call.waiting]).toEqual([[nonce], 0]);
}
