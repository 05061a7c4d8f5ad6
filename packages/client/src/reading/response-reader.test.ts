import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import {
  encodeConstraints,
  encodeDeltaResponse,
  encodeSotwResponse,
  type ResourceMessage,
} from "@xdskit/envoy-api/internal";
import { Cluster } from "@xdskit/envoy-api/resources";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { clientDialect, type DiscoveryResponse, shownName } from "@xdskit/protocol/internal";
import { describe, expect, test, vi } from "vitest";
import type { GrpcSource } from "../config/client-config.ts";
import { type Origin, type Reading, ResponseReader } from "./response-reader.ts";
import { type ResourceValidator, validator } from "./validators.ts";

const api = createEnvoyApi();
const CLUSTER = Cluster.typeUrl;
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");
const LOCATOR = formatTypeUrl("xds.core.v3.ResourceLocator");

function source(changes: Partial<GrpcSource> = {}): GrpcSource {
  return {
    kind: "grpc",
    id: "grpc",
    apiVersion: "v3",
    resourceApiVersion: "v3",
    variant: "sotw",
    isAggregated: true,
    servers: [],
    failover: "cycle",
    nodeIn: "first-request",
    rateLimit: undefined,
    backOff: { baseMs: 10, maxMs: 100 },
    initialFetchTimeoutMs: 15_000,
    dialect: clientDialect(),
    parameters: undefined,
    ...changes,
  };
}

function origin(changes: Partial<GrpcSource> = {}, onlyType?: TypeUrl): Origin {
  return { source: source(changes), onlyType, isWanted: () => true };
}

function readerWith(validators: readonly ResourceValidator[] = [], isPgvOn: boolean = true): ResponseReader {
  return new ResponseReader({ api, isPgvOn, validators });
}

function bytesOf(json: Readonly<Record<string, unknown>>, type: TypeUrl = CLUSTER): Uint8Array {
  const { bytes } = api.readMessage(type.slice(type.indexOf("/") + 1), json);
  if (bytes === undefined) throw new Error("not a message");
  return bytes;
}

function cluster(name: string, more: Readonly<Record<string, unknown>> = {}): Uint8Array {
  return bytesOf({ name, type: "STATIC", connectTimeout: "1s", ...more });
}

function sotw(...values: readonly Uint8Array[]): Uint8Array {
  const resources = values.map((value) => ({ typeUrl: CLUSTER, value }));
  return encodeSotwResponse({ typeUrl: CLUSTER, versionInfo: "1", nonce: "n", controlPlane: "cp", resources });
}

function wrapped(message: Partial<ResourceMessage>): { readonly typeUrl: string; readonly value: Uint8Array } {
  // A delta response with one resource is that resource behind its tag and length.
  const bytes = encodeDeltaResponse({ resources: [message] });
  const header = (bytes[1] ?? 0) < 0x80 ? 2 : 3;
  return { typeUrl: WRAPPER, value: bytes.subarray(header) };
}

function readAtOnce(reading: Reading): DiscoveryResponse {
  if (reading.kind !== "read") throw new Error(`expected a response, got ${JSON.stringify(reading)}`);
  return reading.response;
}

/** Name and problem of each resource. */
function verdicts({ resources }: DiscoveryResponse): readonly (readonly [string, string | undefined])[] {
  return resources.map(({ name, problem }) => [shownName(name), problem]);
}

describe("State of the World", () => {
  test("resources come with their names and what the response says", () => {
    const value = cluster("a", {
      type: "EDS",
      edsClusterConfig: { edsConfig: { ads: {} }, serviceName: "e" },
    });
    expect(readAtOnce(readerWith().read(sotw(value), origin()))).toEqual({
      kind: "sotw",
      type: CLUSTER,
      nonce: "n",
      version: "1",
      controlPlane: "cp",
      errors: [],
      problems: [],
      resources: [
        {
          name: "a",
          aliases: [],
          version: "",
          bytes: value,
          ttlMs: undefined,
        },
      ],
    });
  });

  test("C-TTL-04 C-LOC-02 a wrapper is taken off, with its ttl and its constraints", () => {
    const value = cluster("a");
    const resource = { typeUrl: CLUSTER, value };
    const constraints = encodeConstraints({ kind: "value", key: "env", value: "prod" });
    const resourceName = { name: "a", dynamicParameterConstraints: constraints };
    const bytes = encodeSotwResponse({
      typeUrl: CLUSTER,
      resources: [
        wrapped({ name: "a", version: "v", resource, ttlMs: 1500 }),
        wrapped({ resourceName, resource, aliases: ["x"] }),
        wrapped({ name: "a", version: "1", ttlMs: 2000 }),
      ],
    });
    const { resources } = readAtOnce(readerWith().read(bytes, origin()));
    expect(resources.map((one) => ({ ...one, name: shownName(one.name) }))).toEqual([
      { name: "a", aliases: [], version: "v", bytes: value, ttlMs: 1500 },
      { name: 'a [env = "prod"]', aliases: ["x"], version: "", bytes: value, ttlMs: undefined },
      { name: "a", aliases: [], version: "1", bytes: undefined, ttlMs: 2000 },
    ]);
  });

  test("C-TTL-04 another name on the wrapper than in it is refused", () => {
    const resource = { typeUrl: CLUSTER, value: cluster("a") };
    const bytes = encodeSotwResponse({ typeUrl: CLUSTER, resources: [wrapped({ name: "b", resource })] });
    expect(verdicts(readAtOnce(readerWith().read(bytes, origin())))).toEqual([
      ["b", 'expected one name, got "b" around the resource and "a" in it'],
    ]);
  });

  test("B-TTL-19 a ttl that is not more than 0 is refused, with a body or without", () => {
    const resource = { typeUrl: CLUSTER, value: cluster("a") };
    const resources = [wrapped({ name: "a", resource, ttlMs: 0 }), wrapped({ name: "b", ttlMs: -1000 })];
    const response = readAtOnce(readerWith().read(encodeSotwResponse({ typeUrl: CLUSTER, resources }), origin()));
    expect(verdicts(response)).toEqual([
      ["a", expect.stringContaining("expected a ttl of more than 0")],
      ["b", expect.stringContaining("expected a ttl of more than 0")],
    ]);
  });

  test("B-TTL-18 a wrapper of v2 has no ttl", () => {
    const resource = { typeUrl: CLUSTER, value: cluster("a") };
    const bytes = encodeSotwResponse({ typeUrl: CLUSTER, resources: [wrapped({ name: "a", resource, ttlMs: 1000 })] });
    expect(readAtOnce(readerWith().read(bytes, origin({ apiVersion: "v2" }))).resources).toMatchObject([
      { name: "a", ttlMs: undefined },
    ]);
  });

  test("of a resource with very many violations only the first are told", () => {
    const count = 130_000;
    const lbEndpoints = Array.from({ length: count }, () => ({ loadBalancingWeight: 0 }));
    const value = bytesOf({ clusterName: "a", endpoints: [{ lbEndpoints }] }, ENDPOINTS);
    const bytes = encodeSotwResponse({ typeUrl: ENDPOINTS, resources: [{ typeUrl: ENDPOINTS, value }] });
    const [problem = ""] = readAtOnce(readerWith().read(bytes, origin())).resources.map((one) => one.problem);
    expect(problem.split("; ").slice(-2)).toEqual([
      "endpoints.0.lb_endpoints.99.load_balancing_weight: expected at least 1, got 0",
      `and ${count - 100} more`,
    ]);
  });

  test("C-TYP-12 a resource of another type makes the whole response invalid", () => {
    const other = { typeUrl: ENDPOINTS, value: bytesOf({ clusterName: "a" }, ENDPOINTS) };
    const resources = [{ typeUrl: CLUSTER, value: cluster("a") }, other, { typeUrl: "", value: cluster("b") }];
    const response = readAtOnce(readerWith().read(encodeSotwResponse({ typeUrl: CLUSTER, resources }), origin()));
    expect([response.problems, verdicts(response)]).toEqual([
      [
        `expected resources of ${CLUSTER}, got one of ${ENDPOINTS}`,
        `expected resources of ${CLUSTER}, got one of no type`,
      ],
      [["a", undefined]],
    ]);
  });

  test("C-TYP-14 a twin is taken only where that was switched on, and read as what was asked for", () => {
    const value = bytesOf({ name: "a", type: "STATIC", connectTimeout: "1s" }, CLUSTER_V2);
    const bytes = encodeSotwResponse({ typeUrl: CLUSTER_V2, resources: [{ typeUrl: CLUSTER_V2, value }] });
    const strict = readAtOnce(readerWith().read(bytes, origin()));
    expect(strict.type).toBe(CLUSTER_V2);
    const lenient = readAtOnce(readerWith().read(bytes, origin({ dialect: clientDialect({ acceptTwinTypes: true }) })));
    expect([lenient.type, lenient.problems, verdicts(lenient)]).toEqual([CLUSTER, [], [["a", undefined]]]);
    const mixed = encodeSotwResponse({ typeUrl: CLUSTER, resources: [{ typeUrl: CLUSTER_V2, value }] });
    expect(readAtOnce(readerWith().read(mixed, origin())).problems).toEqual([
      `expected resources of ${CLUSTER}, got one of ${CLUSTER_V2}`,
    ]);
  });

  test("C-VAL-05 what cannot be read is refused, and the others are looked at", () => {
    const response = readAtOnce(
      readerWith().read(sotw(cluster("a"), new Uint8Array([0xff, 0xff]), cluster("c")), origin()),
    );
    expect(verdicts(response)).toEqual([
      ["a", undefined],
      ["", expect.stringMatching(/expected|message/)],
      ["c", undefined],
    ]);
  });

  test("B-VAL-04 E33 C-VAL-01 the rules of the descriptors are applied unless that is switched off", () => {
    const bytes = sotw(cluster("a", { connectTimeout: "0s" }));
    const [found] = verdicts(readAtOnce(readerWith().read(bytes, origin())));
    expect(found).toEqual(["a", expect.stringContaining("connect_timeout: ")]);
    expect(verdicts(readAtOnce(readerWith([], false).read(bytes, origin())))).toEqual([["a", undefined]]);
  });

  test("types that nobody described go by the name on the wrapper", () => {
    const type = formatTypeUrl("acme.Widget");
    const resource = { typeUrl: type, value: new Uint8Array([1, 2, 3]) };
    const resources = [wrapped({ name: "w", resource }), resource];
    const response = readAtOnce(readerWith().read(encodeSotwResponse({ typeUrl: type, resources }), origin()));
    expect(verdicts(response)).toEqual([
      ["w", undefined],
      ["", "expected a name, got none"],
    ]);
    expect(response.resources[0]?.bytes).toEqual(new Uint8Array([1, 2, 3]));
  });

  test("C-FS-08 a response without a type is of the type of its stream", () => {
    const resources = [{ typeUrl: CLUSTER, value: cluster("a") }];
    const bytes = encodeSotwResponse({ resources });
    const response = readAtOnce(readerWith().read(bytes, origin({}, CLUSTER)));
    expect([response.type, verdicts(response)]).toEqual([undefined, [["a", undefined]]]);
    expect(readAtOnce(readerWith().read(bytes, origin())).problems).toEqual([
      "expected the type of the resources, got none",
    ]);
  });

  test("bytes that are no message are told as such", () => {
    expect(readerWith().read(new Uint8Array([0x12, 0x7f]), origin())).toEqual({
      kind: "unreadable",
      problem: expect.stringContaining("expected"),
    });
  });

  test("what was judged before is not judged again, what is another is", () => {
    const judged: string[] = [];
    const reader = readerWith([
      validator(Cluster, ({ name }) => {
        judged.push(name);
        return undefined;
      }),
    ]);
    reader.expect(CLUSTER);
    const first = readAtOnce(reader.read(sotw(cluster("a"), cluster("b")), origin()));
    const second = readAtOnce(reader.read(sotw(cluster("a"), cluster("b", { altStatName: "x" })), origin()));
    expect(judged).toEqual(["a", "b", "b"]);
    expect(second.resources[0]).toBe(first.resources[0]);
    expect(second.resources[1]).not.toEqual(first.resources[1]);
    reader.forget("grpc", ENDPOINTS);
    readAtOnce(reader.read(sotw(cluster("a")), origin()));
    expect(judged).toEqual(["a", "b", "b"]);
    reader.forget("grpc", CLUSTER);
    readAtOnce(reader.read(sotw(cluster("a")), origin()));
    reader.forget("grpc", undefined);
    readAtOnce(reader.read(sotw(cluster("a")), origin()));
    expect(judged).toEqual(["a", "b", "b", "a", "a"]);
  });

  test("of types that nobody asked for nothing is kept, so a server cannot fill the memory with them", () => {
    const judged: string[] = [];
    const noting = validator(Cluster, ({ name }) => {
      judged.push(name);
      return undefined;
    });
    const reader = readerWith([noting]);
    for (const asked of [ENDPOINTS, CLUSTER]) {
      reader.expect(asked);
      for (let i = 0; i < 2; i++) readAtOnce(reader.read(sotw(cluster("a")), origin()));
    }
    expect(judged).toEqual(["a", "a", "a"]);
  });
});

test("what nothing is wrong with is not decoded, in either variant; what may be wrong is", () => {
  const decoded: Uint8Array[] = [];
  const readEncodedResource: EnvoyApi["readEncodedResource"] = (type, bytes, wrapper) => {
    decoded.push(bytes);
    return api.readEncodedResource(type, bytes, wrapper);
  };
  const reader = new ResponseReader({ api: { ...api, readEncodedResource }, isPgvOn: true, validators: [] });
  const [good, bad] = [cluster("a"), cluster("b", { connectTimeout: "0s" })];
  expect(verdicts(readAtOnce(reader.read(sotw(good, bad), origin())))).toEqual([
    ["a", undefined],
    ["b", expect.stringContaining("connect_timeout")],
  ]);
  const resource = { typeUrl: CLUSTER, value: good };
  const bytes = encodeDeltaResponse({ typeUrl: CLUSTER, resources: [{ name: "other", version: "1", resource }] });
  expect(verdicts(readAtOnce(reader.read(bytes, origin({ variant: "delta" }))))).toEqual([["other", undefined]]);
  const inWrapper = encodeSotwResponse({ typeUrl: CLUSTER, resources: [wrapped({ name: "other", resource })] });
  expect(verdicts(readAtOnce(reader.read(inWrapper, origin())))).toEqual([
    ["other", expect.stringContaining("expected one name")],
  ]);
  expect(decoded).toEqual([bad, good]);
});

describe("delta", () => {
  test("resources, removals and errors come with their keys", () => {
    const value = cluster("a");
    const constraints = encodeConstraints({ kind: "exists", key: "env" });
    const bytes = encodeDeltaResponse({
      systemVersionInfo: "s",
      typeUrl: CLUSTER,
      nonce: "n",
      resources: [{ name: "a", version: "1", resource: { typeUrl: CLUSTER, value } }, { name: "gone" }],
      removedResources: ["r"],
      removedResourceNames: [{ name: "v", dynamicParameterConstraints: constraints }],
      resourceErrors: [{ resourceName: { name: "e" }, errorDetail: { code: 7, message: "no", details: [] } }],
    });
    const response = readAtOnce(readerWith().read(bytes, origin({ variant: "delta" })));
    if (response.kind !== "delta") throw new Error("not delta");
    expect({ ...response, removed: response.removed.map(shownName) }).toEqual({
      kind: "delta",
      type: CLUSTER,
      nonce: "n",
      systemVersion: "s",
      controlPlane: undefined,
      problems: [],
      removed: ["r", "v [env exists]"],
      errors: [{ name: "e", error: { code: 7, message: "no" } }],
      resources: [
        { name: "a", aliases: [], version: "1", bytes: value, ttlMs: undefined },
        { name: "gone", aliases: [], version: "", bytes: undefined, ttlMs: undefined },
      ],
    });
  });

  test("S-XTP-10 a locator in the place of a resource is told as one", () => {
    const value = bytesOf({ id: "elsewhere", resourceType: "envoy.config.cluster.v3.Cluster" }, LOCATOR);
    const name = "xdstp://a/envoy.config.cluster.v3.Cluster/x";
    const bytes = encodeDeltaResponse({
      typeUrl: CLUSTER,
      resources: [{ name, version: "1", resource: { typeUrl: LOCATOR, value } }],
    });
    expect(readAtOnce(readerWith().read(bytes, origin({ variant: "delta" }))).resources).toEqual([
      { name, aliases: [], version: "1", bytes: value, bodyType: LOCATOR, ttlMs: undefined },
    ]);
  });
});

describe("validators", () => {
  test("C-VAL-02 C-MSC-06 each may refuse a resource, by what it says or throws, and all reasons are told", () => {
    const refusing = validator(Cluster, ({ json }) => (json.name === "a" ? "a is taken" : undefined));
    const throwing = validator(CLUSTER, ({ name }) => {
      if (name === "a") throw new Error("broken");
      return "";
    });
    const response = readAtOnce(readerWith([refusing, throwing]).read(sotw(cluster("a"), cluster("b")), origin()));
    expect(verdicts(response)).toEqual([
      ["a", "a is taken; a validator failed: broken"],
      ["b", undefined],
    ]);
  });

  test("C-VAL-02 one may take its time", async () => {
    const slow = validator(Cluster, async ({ name }) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (name === "c") throw new Error("lost");
      return name === "b" ? "no" : undefined;
    });
    const reading = readerWith([slow]).read(sotw(cluster("a"), cluster("b"), cluster("c")), origin());
    if (reading.kind !== "being-judged") throw new Error("expected to wait");
    expect([reading.type, reading.nonce]).toEqual([CLUSTER, "n"]);
    expect(verdicts(await reading.response)).toEqual([
      ["a", undefined],
      ["b", "no"],
      ["c", "a validator failed: lost"],
    ]);
  });
});

test("many Clusters are judged in slices, so that other things may happen", async () => {
  const values = Array.from({ length: 10_000 }, (_, index) => cluster(`cluster-${index}`));
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => ++nowMs);
  let turns = 0;
  let counting = setImmediate(function count() {
    turns++;
    counting = setImmediate(count);
  });
  try {
    const reading = readerWith().read(sotw(...values), origin());
    if (reading.kind !== "being-judged") throw new Error("expected to wait");
    const response = await reading.response;
    expect(response.resources.filter(({ problem }) => problem === undefined)).toHaveLength(10_000);
    // The clock is looked at every 16 resources, and a slice is 25 of its milliseconds.
    expect(turns).toBeGreaterThanOrEqual(20);
  } finally {
    clearImmediate(counting);
    clock.mockRestore();
  }
});

test("of a stream that nobody wants any more, the rest is not judged", async () => {
  const judged: string[] = [];
  const reader = readerWith([
    validator(Cluster, ({ name }) => {
      judged.push(name);
      return undefined;
    }),
  ]);
  const values = Array.from({ length: 10_000 }, (_, index) => cluster(`cluster-${index}`));
  const reading = reader.read(sotw(...values), { ...origin(), isWanted: () => false });
  if (reading.kind !== "being-judged") throw new Error("expected to wait");
  await reading.response;
  expect(judged.length).toBeLessThan(10_000);
});
