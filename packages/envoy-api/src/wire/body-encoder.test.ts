import {
  createResource,
  createResourceError,
  formatTypeUrl,
  type Resource,
  type ResourceInput,
} from "@xdskit/protocol";
import { type Body, locatedTerm, type Segment } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { encodeWithProtobufEs } from "../../test/support/discovery-protos.ts";
import { contentDigest } from "../digest.ts";
import { type BodyEncoder, createBodyEncoder, type EncodedBody } from "./body-encoder.ts";
import { decodeDeltaResponse, decodeSotwResponse, encodeSotwResponse } from "./response.ts";

const type = formatTypeUrl("envoy.service.runtime.v3.Runtime");
const packageName = "envoy.service.discovery.v3";

function runtime(name: string, changes: Partial<ResourceInput> = {}): Resource {
  const bytes = encodeWithProtobufEs("envoy.service.runtime.v3.Runtime", { name });
  return createResource({ type, name, bytes, ...changes }, contentDigest);
}

/** A resource of about so many bytes, which nobody decodes. */
function opaque(name: string, length: number, fill = 1): Resource {
  return createResource({ type, name, bytes: new Uint8Array(length).fill(fill) }, contentDigest);
}

function segment(puts: readonly Resource[], changes: Partial<Segment> = {}): Segment {
  return { puts, removed: [], missing: [], ...changes };
}

function body(variant: Body["variant"], ...segments: Segment[]): Body {
  return { variant, type, version: "v1", segments };
}

function whole(encoder: BodyEncoder, encodedBody: EncodedBody, nonce = "7"): Buffer {
  return Buffer.concat([...encodedBody.chunks, encoder.encodeNonce("delta", nonce)]);
}

function failure(name: string, code: number, message: string): Resource {
  return createResourceError({ type, name, error: { code, message } }, contentDigest);
}

const anyJson = (name: string): object => ({ "@type": type, name });

/** Protobuf lets the fields of a message be concatenated, so what leaves is their encodings of parts of it. */
function partsFromProtobufEs(messageName: string, ...parts: readonly object[]): Buffer {
  return Buffer.concat(parts.map((part) => encodeWithProtobufEs(`${packageName}.${messageName}`, part)));
}

describe("a State of the World response", () => {
  test("S-TYP-03 S-RES-16 is header, resources and nonce, as protobuf has them", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const encoded = encoder.encode(
      body("sotw", segment([runtime("a")]), segment([runtime("b", { doNotCache: true })])),
    );
    expect(whole(encoder, encoded).toString("hex")).toBe(
      partsFromProtobufEs(
        "DiscoveryResponse",
        { version_info: "v1", type_url: type, control_plane: { identifier: "cp" } },
        { resources: [anyJson("a"), anyJson("b")] },
        { nonce: "7" },
      ).toString("hex"),
    );
  });

  test("S-ERR-01 tells why there is no resource, in field 7", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const encoded = encoder.encode(body("sotw", segment([runtime("a")], { errors: [failure("x", 7, "no")] })));
    const before = encodeSotwResponse({ versionInfo: "v1", typeUrl: type });
    const resources = encodeSotwResponse({ resources: [{ typeUrl: type, value: runtime("a").bytes }] });
    // resource_name { name: "x" } error_detail { code: 7 message: "no" }
    const error = Buffer.from("3a0d0a030a01781206080712026e6f", "hex");
    expect(whole(encoder, encoded).toString("hex")).toBe(
      Buffer.concat([before, resources, error, encodeSotwResponse({ nonce: "7" })]).toString("hex"),
    );
    expect(decodeSotwResponse(whole(encoder, encoded)).resourceErrors).toEqual([
      { resourceName: { name: "x" }, errorDetail: { code: 7, message: "no", details: [] } },
    ]);
  });

  test("S-TYP-03 tells its type even if it holds nothing, and no control plane that has no name", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const encoded = encoder.encode(body("sotw"));
    expect(decodeSotwResponse(whole(encoder, encoded))).toEqual({
      versionInfo: "v1",
      resources: [],
      canary: false,
      typeUrl: type,
      nonce: "7",
      controlPlane: undefined,
      resourceErrors: [],
    });
  });
});

describe("a response of v2", () => {
  const rich = runtime("b", { aliases: ["b1"], doNotCache: true, metadata: Uint8Array.of(0x0a, 0) });
  const hex = (encoder: BodyEncoder, said: Body, version?: "v2"): string =>
    whole(encoder, encoder.encode(said, version)).toString("hex");

  test("in delta does not say who sent it, nor of a resource what v2 has no place for (requirements 1.4)", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const said = body("delta", segment([rich], { missing: ["m"] }), segment([], { removed: ["r"] }));
    expect(hex(encoder, said, "v2")).toBe(
      partsFromProtobufEs(
        "DeltaDiscoveryResponse",
        { system_version_info: "v1", type_url: type },
        {
          resources: [
            { name: "b", version: rich.version, resource: anyJson("b"), aliases: ["b1"] },
            { name: "m", aliases: ["m"] },
          ],
        },
        { removed_resources: ["r"] },
        { nonce: "7" },
      ).toString("hex"),
    );
    expect(hex(encoder, said)).not.toBe(hex(encoder, said, "v2"));
    expect(encoder.encode(said, "v2")).toBe(encoder.encode(said, "v2"));
  });

  test("in State of the World is the one of v3, the same object", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const said = body("sotw", segment([rich]));
    expect(encoder.encode(said, "v2")).toBe(encoder.encode(said));
  });

  test("shares the segments of v3 in which there is nothing that v2 lacks", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const said = body("delta", segment([runtime("a", { aliases: ["a1"] })], { removed: ["r"] }));
    encoder.encode(said);
    encoder.encode(said, "v2");
    expect(encoder.counters).toMatchObject({ segmentsEncoded: 1, framesEncoded: 2, bodiesEncoded: 2 });
  });
});

describe("a delta response", () => {
  test("wraps each resource with its name and version, as protobuf has them", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const plain = runtime("a");
    const metadata = encodeWithProtobufEs("envoy.config.core.v3.Metadata", { filter_metadata: { f: { x: 1 } } });
    const rich = runtime("b", { aliases: ["b1", "ä2"], doNotCache: true, metadata });
    const encoded = encoder.encode(
      body("delta", segment([plain, rich], { missing: ["m"] }), segment([], { removed: ["r", ""] })),
    );
    expect(whole(encoder, encoded).toString("hex")).toBe(
      partsFromProtobufEs(
        "DeltaDiscoveryResponse",
        { system_version_info: "v1", type_url: type, control_plane: { identifier: "cp" } },
        {
          resources: [
            { name: "a", version: plain.version, resource: anyJson("a") },
            {
              name: "b",
              version: rich.version,
              resource: anyJson("b"),
              aliases: ["b1", "ä2"],
              cache_control: { do_not_cache: true },
              metadata: { filter_metadata: { f: { x: 1 } } },
            },
            { name: "m", aliases: ["m"] },
          ],
        },
        { removed_resources: ["r", ""] },
        { nonce: "7" },
      ).toString("hex"),
    );
  });

  test("S-ERR-01 tells why there is no resource, in field 9", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const errors = [failure("x", 7, "no"), failure("ü".repeat(200), 14, "")];
    const encoded = encoder.encode(body("delta", segment([], { removed: ["x"], errors })));
    const hex = whole(encoder, encoded).toString("hex");
    expect(hex).toContain("3201784a0d0a030a01781206080712026e6f4a9a030a93030a9003c3bc");
    expect(hex.endsWith("1202080e2a0137")).toBe(true);
    expect(decodeDeltaResponse(whole(encoder, encoded)).resourceErrors).toEqual(
      errors.map(({ name, error }) => ({ resourceName: { name }, errorDetail: { ...error, details: [] } })),
    );
    expect(encoder.counters.framesEncoded).toBe(3);
  });

  test("of a resource without any bytes still says of which type it is", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const encoded = encoder.encode(body("delta", segment([opaque("empty", 0)])));
    expect(decodeDeltaResponse(whole(encoder, encoded)).resources[0]?.resource).toEqual({
      typeUrl: type,
      value: new Uint8Array(),
    });
  });
});

describe("a response with variants", () => {
  const prod = runtime("a", { constraints: { kind: "value", key: "env", value: "prod" }, doNotCache: true });
  const resourceName = {
    name: "a",
    dynamicParameterConstraints: { constraint: { key: "env", value: "prod" } },
  };

  test("S-LOC-05 in State of the World a wrapper with constraints is around each, and its name is nowhere else", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const encoded = encoder.encode(body("sotw", segment([prod, runtime("b")])));
    const wrapper = { resource: anyJson("a"), cacheControl: { doNotCache: true }, resourceName };
    const expected = encodeWithProtobufEs(`${packageName}.DiscoveryResponse`, {
      versionInfo: "v1",
      resources: [{ "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", ...wrapper }, anyJson("b")],
      typeUrl: type,
      nonce: "7",
    });
    expect(decodeSotwResponse(whole(encoder, encoded))).toEqual(decodeSotwResponse(expected));
  });

  test("S-LOC-06 in delta constraints are told of what is there, held, or gone, and of what fits no parameters", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const removed = ["gone", prod.name, locatedTerm("b", new Map([["x", "y"]])), locatedTerm("c")];
    const heartbeats = [{ name: prod.name, version: "9", ttlMs: 3_000 }];
    const encoded = encoder.encode({ ...body("delta", segment([prod], { removed, heartbeats })), ttls: "told" });
    const expected = encodeWithProtobufEs(`${packageName}.DeltaDiscoveryResponse`, {
      systemVersionInfo: "v1",
      resources: [
        { version: prod.version, resource: anyJson("a"), cacheControl: { doNotCache: true }, resourceName },
        { version: "9", ttl: "3s", resourceName },
      ],
      typeUrl: type,
      nonce: "7",
      removedResources: ["gone", "c"],
      removedResourceNames: [
        resourceName,
        { name: "b", dynamicParameterConstraints: { constraint: { key: "x", value: "y" } } },
      ],
    });
    expect(decodeDeltaResponse(whole(encoder, encoded))).toEqual(decodeDeltaResponse(expected));
  });
});

describe("a large response that is encoded some at a time", () => {
  // With resources of 33 KB, which are chunks of their own, among small ones.
  const puts = Array.from({ length: 3_000 }, (_, i) => opaque(`r${i}`, i % 500 === 499 ? 33_000 : 150, i % 256));
  const withTtls = puts.map((put, i) =>
    i % 7 > 0 ? put : createResource({ type, name: put.name, bytes: put.bytes, ttlMs: 5_000 }, contentDigest),
  );
  const removed = ["x", "y"];

  test.each<[string, Body, "v2" | "v3"]>([
    ["in delta", body("delta", segment(puts, { removed }), segment([runtime("last")])), "v3"],
    ["in State of the World", body("sotw", segment(puts)), "v3"],
    ["with TTLs", { ...body("delta", segment(withTtls, { removed })), ttls: "told" }, "v3"],
    ["for v2, which shares it with v3", body("delta", segment(puts, { removed })), "v2"],
  ])("%s is the same, and nothing is encoded twice", (_, said, version) => {
    const [atOnce, encoder] = [createBodyEncoder({ controlPlane: "cp" }), createBodyEncoder({ controlPlane: "cp" })];
    const expected = whole(atOnce, atOnce.encode(said, version));
    const other = body(said.variant, segment(puts.slice(100, 200)));
    const written: number[] = [];
    while (encoder.encodeSome(said, version)) {
      // Another one between two runs.
      encoder.encode(other);
      written.push(encoder.counters.bytesEncoded);
    }
    const encoded = encoder.encode(said, version);
    expect(whole(encoder, encoded).equals(expected)).toBe(true);
    expect(written.length).toBeGreaterThan(10);
    const steps = written.slice(2).map((bytes, i) => bytes - (written[i + 1] ?? 0));
    expect(Math.max(...steps)).toBeLessThan(2 * 64 * 1024);
    expect(encoder.counters.framesEncoded).toBe(atOnce.counters.framesEncoded + 100);
    expect([encoder.encodeSome(said, version), encoder.encode(said, version) === encoded]).toEqual([false, true]);
  });
});

describe("a response that tells ttls", () => {
  const withTtl = runtime("a", { ttlMs: 2_500, aliases: ["a1"] });
  const without = runtime("b");

  test("S-TTL-02 in State of the World wraps what has one, and nothing else, as protobuf has it", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const encoded = encoder.encode({ ...body("sotw", segment([withTtl, without])), ttls: "told" });
    const wrapper = { name: "a", aliases: ["a1"], resource: anyJson("a"), ttl: "2.5s" };
    expect(whole(encoder, encoded).toString("hex")).toBe(
      partsFromProtobufEs(
        "DiscoveryResponse",
        { version_info: "v1", type_url: type },
        { resources: [{ "@type": `type.googleapis.com/${packageName}.Resource`, ...wrapper }, anyJson("b")] },
        { nonce: "7" },
      ).toString("hex"),
    );
  });

  test("S-TTL-01 S-TTL-09 in delta has them beside their resources, and heartbeats without, as protobuf has them", () => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const heartbeats = [
      { name: "c", version: "1", ttlMs: 3_000 },
      { name: "d", version: "2", ttlMs: 1 },
      { name: "e", version: "3", ttlMs: 315_576_000_000_000 },
    ];
    const encoded = encoder.encode({
      ...body("delta", segment([withTtl, without]), segment([], { heartbeats })),
      ttls: "told",
    });
    expect(whole(encoder, encoded).toString("hex")).toBe(
      partsFromProtobufEs(
        "DeltaDiscoveryResponse",
        { system_version_info: "v1", type_url: type },
        {
          resources: [
            { name: "a", version: withTtl.version, aliases: ["a1"], resource: anyJson("a"), ttl: "2.5s" },
            { name: "b", version: without.version, resource: anyJson("b") },
            { name: "c", version: "1", ttl: "3s" },
            { name: "d", version: "2", ttl: "0.001s" },
            { name: "e", version: "3", ttl: "315576000000s" },
          ],
        },
        { nonce: "7" },
      ).toString("hex"),
    );
  });

  test.each(["sotw", "delta"] as const)("is another one than that to clients that are not told, in %s", (variant) => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const shared = segment([withTtl]);
    const told = whole(encoder, encoder.encode({ ...body(variant, shared), ttls: "told" }));
    const untold = whole(encoder, encoder.encode(body(variant, shared)));
    const plain = createBodyEncoder({ controlPlane: "" });
    const never = whole(plain, plain.encode(body(variant, segment([runtime("a", { aliases: ["a1"] })]))));
    expect([told.length > untold.length, untold.toString("hex")]).toEqual([true, never.toString("hex")]);
  });

  test.each(["sotw", "delta"] as const)("shares with them what has no ttl, in %s", (variant) => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const shared = segment([without]);
    encoder.encode(body(variant, shared));
    encoder.encode({ ...body(variant, shared), ttls: "told" });
    expect(encoder.counters).toMatchObject({ segmentsEncoded: 1, framesEncoded: 1, bodiesEncoded: 2 });
  });

  test.each(["sotw", "delta"] as const)("of a large resource does not copy it, in %s", (variant) => {
    const encoder = createBodyEncoder({ controlPlane: "" });
    const large = createResource({ type, name: "l", bytes: new Uint8Array(1_000_000), ttlMs: 1_000 }, contentDigest);
    const encoded = encoder.encode({ ...body(variant, segment([large])), ttls: "told" });
    const bytes = whole(encoder, encoded);
    const decoded = variant === "sotw" ? decodeSotwResponse(bytes) : decodeDeltaResponse(bytes);
    expect([encoded.chunks.includes(large.bytes), decoded.resources.length]).toEqual([true, 1]);
  });
});

describe("a nonce", () => {
  test.each(["1", "", "x".repeat(300), "ä"])("is the last field: %s", (nonce) => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const bytes = Buffer.concat([...encoder.encode(body("sotw")).chunks, encoder.encodeNonce("sotw", nonce)]);
    expect(decodeSotwResponse(bytes).nonce).toBe(nonce);
  });
});

describe("what is shared", () => {
  test("is encoded once, and a counter proves it: a segment for ten thousand views", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const base = segment(Array.from({ length: 10 }, (_, i) => runtime(`base-${i}`)));
    const views = Array.from({ length: 10_000 }, () => body("delta", base));
    for (const view of views) encoder.encode(view);
    expect(encoder.counters).toMatchObject({ segmentsEncoded: 1, framesEncoded: 10, bodiesEncoded: 10_000 });
  });

  test("is the same object: a body for ten thousand streams", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const shared = body("delta", segment([runtime("a")]));
    const first = encoder.encode(shared);
    const same = Array.from({ length: 10_000 }, () => encoder.encode(shared) === first);
    expect([same.every(Boolean), encoder.counters]).toEqual([
      true,
      { segmentsEncoded: 1, framesEncoded: 1, bodiesEncoded: 1, bytesEncoded: first.byteLength },
    ]);
  });

  test("between the variants is not mixed up", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const both = segment([runtime("a")]);
    const sotw = whole(encoder, encoder.encode(body("sotw", both)));
    const delta = whole(encoder, encoder.encode(body("delta", both)));
    expect([decodeSotwResponse(sotw).resources.length, decodeDeltaResponse(delta).resources[0]?.name]).toEqual([
      1,
      "a",
    ]);
  });
});

describe("a large state", () => {
  const state = Array.from({ length: 2000 }, (_, i) => opaque(`name-${i}`, 300));

  function changed(position: number, resource?: Resource): readonly Resource[] {
    return resource === undefined ? state.toSpliced(position, 1) : state.toSpliced(position, 1, resource);
  }

  test.each(["sotw", "delta"] as const)("leaves in several chunks, in %s, and says the same", (variant) => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const encoded = encoder.encode(body(variant, segment(state)));
    const bytes = whole(encoder, encoded);
    const decoded = variant === "sotw" ? decodeSotwResponse(bytes) : decodeDeltaResponse(bytes);
    expect({
      resources: decoded.resources.length,
      byteLength: encoded.chunks.reduce((total, chunk) => total + chunk.length, 0),
      areFew: encoded.chunks.length < 20,
    }).toEqual({ resources: 2000, byteLength: encoded.byteLength, areFew: true });
  });

  test.each([
    ["a resource changed", changed(777, opaque("name-777", 305, 2))],
    ["the first changed", changed(0, opaque("name-0", 290, 2))],
    ["the last changed", changed(1999, opaque("name-1999", 300, 2))],
    ["one was deleted", changed(500)],
    ["one was added in front", [opaque("new", 300), ...state]],
    ["one was added behind", [...state, opaque("new", 300)]],
    ["a huge one came between", state.toSpliced(1000, 0, opaque("huge", 100_000))],
  ] as const)("is encoded again only around what changed: %s", (_what, next) => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    encoder.encode(body("delta", segment(state)));
    const before = encoder.counters.framesEncoded;
    const bytes = whole(encoder, encoder.encode(body("delta", segment(next))));
    const names = decodeDeltaResponse(bytes).resources.map((resource) => `${resource.name}@${resource.version}`);
    expect(names).toEqual(next.map((resource) => `${resource.name}@${resource.version}`));
    expect(encoder.counters.framesEncoded - before).toBeLessThan(500);
  });

  test("shares memory with the state before", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const before = new Set(encoder.encode(body("sotw", segment(state))).chunks);
    const after = encoder.encode(body("sotw", segment(changed(777, opaque("name-777", 300, 2))))).chunks;
    const fresh = after.filter((chunk) => !before.has(chunk));
    expect([fresh.length <= 3, after.length > 8]).toEqual([true, true]);
  });

  test("does not come out of runs that hold anything else", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    for (let round = 0; round < 50; round++) {
      const next = state.filter((_, i) => (i * 7919 + round) % 13 !== 0).slice(round * 3);
      const decoded = decodeDeltaResponse(whole(encoder, encoder.encode(body("delta", segment(next)))));
      expect(decoded.resources.map(({ name }) => name)).toEqual(next.map(({ name }) => name));
    }
  });
});

describe("a large resource", () => {
  test.each(["sotw", "delta"] as const)("is not copied, in %s", (variant) => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const large = opaque("large", 1_000_000);
    const encoded = encoder.encode(body(variant, segment([opaque("a", 300), large, opaque("b", 300)])));
    const bytes = whole(encoder, encoded);
    const decoded = variant === "sotw" ? decodeSotwResponse(bytes) : decodeDeltaResponse(bytes);
    expect([encoded.chunks.includes(large.bytes), encoded.chunks.length, decoded.resources.length]).toEqual([
      true,
      3,
      3,
    ]);
  });
});

describe("a large removal", () => {
  test("leaves in several chunks, and in order", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const removed = Array.from({ length: 10_000 }, (_, i) => `removed-${i}`);
    const missing = Array.from({ length: 10_000 }, (_, i) => `missing-${i}`);
    const encoded = encoder.encode(body("delta", segment([], { removed, missing })));
    const decoded = decodeDeltaResponse(whole(encoder, encoded));
    expect([decoded.removedResources, decoded.resources.map(({ name }) => name), encoded.chunks.length > 3]).toEqual([
      removed,
      missing,
      true,
    ]);
  });
});

describe("memory", () => {
  test("of a small body is its own, not a slice of a pool", () => {
    const encoder = createBodyEncoder({ controlPlane: "cp" });
    const { chunks } = encoder.encode(body("delta", segment([runtime("a")])));
    expect(chunks.map((chunk) => chunk.buffer.byteLength - chunk.byteLength)).toEqual([0]);
  });
});
