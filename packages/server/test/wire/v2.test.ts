import { contentDigest } from "@xdskit/envoy-api";
import {
  decodeDeltaResponse,
  decodeSotwResponse,
  encodeDeltaRequest,
  encodeSotwRequest,
} from "@xdskit/envoy-api/internal";
import { anonymousNode, createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { afterEach, describe, expect, test } from "vitest";
import type { ServerEvents } from "../../src/hub/listeners.ts";
import { type RawPeer, within } from "../support/raw-peer.ts";
import {
  ADS_SOTW,
  CLUSTER,
  countStreams,
  deltaRequest,
  ENDPOINTS,
  node,
  put,
  SECRET,
  sotwRequest,
  startWorld,
  testApi,
  type World,
} from "../support/test-server.ts";

const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const ENDPOINTS_V2 = formatTypeUrl("envoy.api.v2.ClusterLoadAssignment");
const SECRET_V2 = formatTypeUrl("envoy.api.v2.auth.Secret");
const ADS_V2 = "/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources";
const ADS_V2_DELTA = "/envoy.service.discovery.v2.AggregatedDiscoveryService/DeltaAggregatedResources";
const CDS_V2 = "/envoy.api.v2.ClusterDiscoveryService/StreamClusters";
const EDS_V2 = "/envoy.api.v2.EndpointDiscoveryService/DeltaEndpoints";
const INCREMENTAL = "/envoy.api.v2.ClusterDiscoveryService/IncrementalClusters";

let world: World;
afterEach(() => world.close());

/** A resource as it is read from a file. */
function read(value: object): Resource {
  const { input, problems } = testApi().readResource(value);
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return createResource(input, contentDigest);
}

const cluster = (name: string, more: object = {}): Resource =>
  read({
    "@type": CLUSTER,
    name,
    type: "EDS",
    eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" } },
    ...more,
  });
const endpoints = (name: string): Resource => read({ "@type": ENDPOINTS, cluster_name: name });
/** The bytes that v2 has of `cluster`: without the version that its source is of. */
const clusterInV2 = (name: string): Buffer =>
  Buffer.concat([
    Buffer.from([0x0a, name.length]),
    Buffer.from(name),
    Buffer.from([0x10, 3, 0x1a, 4, 0x0a, 2, 0x1a, 0]),
  ]);

async function open(path: string): Promise<ReturnType<RawPeer["open"]>> {
  return (await world.connect()).open(path);
}

describe("S-TYP-10 a directory of v3 serves clients of v2", () => {
  test("in State of the World, by ADS and by type, with each change", async () => {
    world = await startWorld({}, [cluster("a"), endpoints("a")]);
    const calls = [await open(ADS_V2), await open(CDS_V2)];
    for (const call of calls) {
      call.send(sotwRequest(CLUSTER_V2));
      const { resources, typeUrl, controlPlane } = decodeSotwResponse(await call.next());
      expect({ resources, typeUrl, controlPlane }).toEqual({
        resources: [{ typeUrl: CLUSTER_V2, value: new Uint8Array(clusterInV2("a")) }],
        typeUrl: CLUSTER_V2,
        controlPlane: "xdskit",
      });
      call.send(sotwRequest(CLUSTER_V2, [], "1", "x"));
    }
    world.server.commit(put(cluster("b")));
    for (const call of calls) {
      const { resources } = decodeSotwResponse(await call.next());
      expect(resources.map(({ value }) => Buffer.from(value))).toEqual([clusterInV2("a"), clusterInV2("b")]);
    }
  });

  test("in delta, with what was removed, and endpoints whose bytes are those of v3", async () => {
    world = await startWorld({}, [cluster("a"), endpoints("a")]);
    const [clusters, ends] = [await open(ADS_V2_DELTA), await open(EDS_V2)];
    clusters.send(deltaRequest(CLUSTER_V2));
    expect(decodeDeltaResponse(await clusters.next()).resources).toMatchObject([{ name: "a" }]);
    clusters.send(deltaRequest(CLUSTER_V2, [], "1"));
    ends.send(deltaRequest(ENDPOINTS_V2, ["a"]));
    const [only] = decodeDeltaResponse(await ends.next()).resources;
    expect(only?.resource).toEqual({ typeUrl: ENDPOINTS_V2, value: new Uint8Array(endpoints("a").bytes) });
    world.server.commit({ changes: [{ layer: "base", deletes: [{ type: CLUSTER, name: "a" }] }] });
    expect(decodeDeltaResponse(await clusters.next()).removedResources).toEqual(["a"]);
  });

  test("S-TYP-10 once for each change, however many clients there are, and nothing before the first asks", async () => {
    const reports: ServerEvents["converted"][] = [];
    world = await startWorld({}, [cluster("a")]);
    world.server.on("converted", (report) => reports.push(report));
    world.server.commit(put(cluster("b")));
    const plain = await open(ADS_SOTW);
    plain.send(sotwRequest(CLUSTER));
    await plain.next();
    expect(reports).toEqual([]);
    const peer = await world.connect();
    const calls = Array.from({ length: 50 }, () => peer.open(ADS_V2));
    for (const call of calls) call.send(sotwRequest(CLUSTER_V2));
    for (const call of calls) await call.next();
    for (const call of calls) call.send(sotwRequest(CLUSTER_V2, [], "1", "x"));
    world.server.commit(put(cluster("c")));
    for (const call of calls) expect(decodeSotwResponse(await call.next()).resources).toHaveLength(3);
    expect(reports.map(({ resources, findings }) => [resources, findings])).toEqual([
      [2, []],
      [1, []],
    ]);
  });

  test("and one of v2 serves clients of v3", async () => {
    world = await startWorld({}, [read({ "@type": CLUSTER_V2, name: "old", tls_context: { sni: "x" } })]);
    const call = await open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toMatchObject([{ typeUrl: CLUSTER }]);
  });
});

describe("the setting v2", () => {
  test("exact: nothing is converted", async () => {
    world = await startWorld({ v2: "exact" }, [cluster("a"), read({ "@type": CLUSTER_V2, name: "own" })]);
    const call = await open(ADS_V2);
    call.send(sotwRequest(CLUSTER_V2));
    expect(decodeSotwResponse(await call.next()).resources).toEqual([
      { typeUrl: CLUSTER_V2, value: Uint8Array.of(0x0a, 3, 0x6f, 0x77, 0x6e) },
    ]);
  });

  test("off: methods of v2 are UNIMPLEMENTED, which is told; those of v3 are served", async () => {
    world = await startWorld({ v2: "off" }, [cluster("a")]);
    const streams = countStreams(world.server);
    const refused: string[] = [];
    world.server.on("v2-refused", ({ method }) => refused.push(method));
    for (const path of [ADS_V2, ADS_V2_DELTA, CDS_V2, "/envoy.api.v2.ClusterDiscoveryService/FetchClusters"]) {
      const call = await open(path);
      call.send(sotwRequest(CLUSTER_V2));
      expect(await within("the status", call.status)).toEqual({
        code: 12,
        message: 'version 2 of the API is switched off here (setting "v2"); speak version 3',
      });
    }
    expect([refused, streams.opened]).toEqual([
      [ADS_V2, ADS_V2_DELTA, CDS_V2, "/envoy.api.v2.ClusterDiscoveryService/FetchClusters"],
      0,
    ]);
    const call = await open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  });
});

test("A30 a gRPC client of v2 is known by the name in a node of v2, whatever else is in there", async () => {
  const seen: string[] = [];
  world = await startWorld({ nodeMapping: ({ metadata }) => [String(metadata["layer"])] }, [cluster("a")]);
  world.server.on("node-connected", ({ node: of, layers }) =>
    seen.push(`${of.id} ${of.userAgentName} ${of.userAgentVersion} ${layers}`),
  );
  const text = (number: number, value: string): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, Buffer.byteLength(value)]), Buffer.from(value)]);
  const inner = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
  const layer = inner(1, Buffer.concat([text(1, "layer"), inner(2, text(3, "base"))]));
  const grpc = Buffer.concat([
    text(1, "edge-1"),
    inner(3, layer),
    text(5, "gRPC Go 1.51.0"),
    text(6, "gRPC Go"),
    text(7, "1.51.0"),
    text(10, "envoy.lb.does_not_support_overprovisioning"),
  ]);
  const call = await open(ADS_V2);
  call.send(Buffer.concat([inner(2, grpc), text(4, CLUSTER_V2)]));
  call.send(encodeSotwRequest({ typeUrl: CLUSTER_V2, resourceNames: ["a"] }));
  expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  expect(seen).toEqual(["edge-1 gRPC Go 1.51.0 base"]);
});

test("secrets of v2 are as well kept as those of v3", async () => {
  world = await startWorld({}, [read({ "@type": SECRET, name: "s", generic_secret: {} })]);
  const call = await open("/envoy.service.discovery.v2.SecretDiscoveryService/StreamSecrets");
  call.send(sotwRequest(SECRET_V2, ["s"]));
  expect(decodeSotwResponse(await call.next()).resources).toMatchObject([{ typeUrl: SECRET_V2 }]);
});

describe("bytes in, bytes out", () => {
  const request = (fields: object): string =>
    Buffer.from(encodeSotwRequest({ node: { ...anonymousNode, id: "n" }, ...fields })).toString("hex");
  const hexOf = (text: string): string => Buffer.from(text).toString("hex");
  const url = `${(CLUSTER_V2.length).toString(16)}${hexOf(CLUSTER_V2)}`;
  const body = clusterInV2("a").toString("hex");
  const any = `0a${url}12${(body.length / 2).toString(16).padStart(2, "0")}${body}`;
  const anyLength = (any.length / 2).toString(16);

  test("S-TYP-09 State of the World, by ADS and by type", async () => {
    world = await startWorld({}, [cluster("a")]);
    for (const path of [ADS_V2, CDS_V2]) {
      const call = await open(path);
      // node { id: "n" }, type_url
      const asked = `12030a016e22${url}`;
      expect(request({ typeUrl: CLUSTER_V2 })).toBe(asked);
      call.send(Buffer.from(asked, "hex"));
      const answer = await call.next();
      const { versionInfo } = decodeSotwResponse(answer);
      expect(Buffer.from(answer).toString("hex")).toBe(
        `0a10${hexOf(versionInfo)}22${url}32080a06${hexOf("xdskit")}12${anyLength}${any}2a0131`,
      );
    }
  });

  test.each([ADS_V2_DELTA, "/envoy.api.v2.ClusterDiscoveryService/DeltaClusters", INCREMENTAL])(
    "delta: %s",
    async (path) => {
      world = await startWorld({ dialect: { incremental2018: true } }, [cluster("a")]);
      const call = await open(path);
      const asked = `0a030a016e12${url}`;
      const sent = encodeDeltaRequest({ node: node("n"), typeUrl: CLUSTER_V2 });
      expect(Buffer.from(sent).toString("hex")).toBe(asked);
      call.send(Buffer.from(asked, "hex"));
      const answer = await call.next();
      const { systemVersionInfo, resources } = decodeDeltaResponse(answer);
      const version = resources[0]?.version ?? "";
      const resource = `0a10${hexOf(version)}12${anyLength}${any}1a0161`;
      expect(Buffer.from(answer).toString("hex")).toBe(
        // No control_plane: v2's message has none.
        `0a10${hexOf(systemVersionInfo)}22${url}12${(resource.length / 2).toString(16)}${resource}2a0131`,
      );
    },
  );
});
