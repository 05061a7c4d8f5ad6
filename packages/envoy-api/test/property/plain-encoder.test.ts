/** The encoder that takes a short cut gives what reading and encoding give, and takes it only if nothing is wrong. */
import type { DescMessage } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSchema } from "../../src/descriptor/schema.ts";
import { PlainEncoder } from "../../src/encoding/plain-encoder.ts";
import { encodeContent } from "../../src/format/content.ts";
import { JsonReader } from "../../src/format/json-reader.ts";
import { ProblemList } from "../../src/format/problem-list.ts";
import { api, hex, typed, url, V3 } from "../support/api.ts";
import { arbitraryJson, replaceOne, reversed } from "../support/arbitrary-json.ts";

const schema = createSchema();
const encoder = new PlainEncoder(schema);
const names = [
  V3.cluster,
  V3.listener,
  V3.route,
  V3.endpoints,
  V3.secret,
  V3.http,
  V3.runtime,
  V3.extension,
  V3.scope,
  "envoy.config.bootstrap.v3.Bootstrap",
  "envoy.extensions.filters.http.rbac.v3.RBAC",
];

/** The types of what stands in an `Any` by itself, and in another. */
const anyTypes = [
  V3.http,
  V3.router,
  V3.extension,
  "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
  "google.protobuf.Any",
  "google.protobuf.Duration",
  "google.protobuf.Empty",
  "google.protobuf.FieldMask",
  "google.protobuf.Int64Value",
  "google.protobuf.ListValue",
  "google.protobuf.StringValue",
  "google.protobuf.Struct",
  "google.protobuf.Timestamp",
  "google.protobuf.Value",
];

const anyValue = fc.constantFrom(...names).chain((name) => valuesOf(messageNamed(name)));

function valuesOf(message: DescMessage): fc.Arbitrary<Record<string, unknown>> {
  return arbitraryJson(message, schema, 4, anyTypes).map((json) => typed(message.typeName, json as object));
}

function messageNamed(name: string): DescMessage {
  const message = schema.message(name);
  if (message === undefined) throw new Error(name);
  return message;
}

/** The bytes that reading and encoding give; undefined if anything is wrong. */
function bytesByReading(value: Record<string, unknown>): string | undefined {
  const problems = new ProblemList();
  const message = messageNamed(String(value["@type"]));
  const content = new JsonReader(schema, problems).readTyped(message, value);
  return content === undefined || problems.problems.length > 0 ? undefined : hex(encodeContent(message, content));
}

function bytesByEncoder(value: unknown): string | undefined {
  const encoded = encoder.encode(value);
  return encoded && hex(encoded.bytes);
}

/** The same value as an instance of a class, which is left to the reader. */
function asInstance(value: object): object {
  return Object.assign(Object.create({}) as object, value);
}

/** Integers as texts, and what is not there as null: what a value may be as well. */
function otherwise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(otherwise);
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== "object" || value === null) return value;
  const copy = {};
  for (const [key, each] of Object.entries(value)) define(copy, key, otherwise(each));
  return copy;
}

function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

describe("what the encoder makes of plain data", () => {
  it("has the bytes that reading and encoding give, whatever the order of its keys", () => {
    let given = 0;
    let encoded = 0;
    fc.assert(
      fc.property(anyValue, fc.boolean(), (value, isReversed) => {
        const json = (isReversed ? reversed(value) : value) as Record<string, unknown>;
        const bytes = bytesByEncoder(json);
        given++;
        if (bytes === undefined) return;
        encoded++;
        expect(bytes).toBe(bytesByReading(json));
      }),
      { numRuns: 600 },
    );
    // The rest holds maps with keys like numbers, longs of more than 53 bits and other rare things.
    expect(encoded / given).toBeGreaterThan(0.7);
  });

  it("is nothing if reading finds a problem", () => {
    const noise = fc.oneof(
      fc.anything(),
      fc.constantFrom<unknown>(
        null,
        "",
        0,
        -0,
        1,
        -1,
        2 ** 31,
        2 ** 53,
        "1e3",
        "01",
        "-0",
        Number.NaN,
        5n,
        "\ud800",
        "AA==",
      ),
      anyValue,
    );
    fc.assert(
      fc.property(anyValue, noise, fc.nat({ max: 20 }), (value, other, at) => {
        const json = { ...(replaceOne(value, other, { at: at + 2 }) as object), "@type": value["@type"] };
        const bytes = bytesByEncoder(json);
        if (bytes !== undefined) expect(bytes).toBe(bytesByReading(json));
      }),
      { numRuns: 1_500 },
    );
  });

  it("is nothing if a field comes twice, or two of a oneof", () => {
    const two = fc.constantFrom(...names).chain((name) => {
      const values = valuesOf(messageNamed(name));
      return fc.tuple(values, values);
    });
    fc.assert(
      fc.property(two, fc.boolean(), ([one, other], isText) => {
        const json = { ...one, ...other, "@type": one["@type"] };
        const value = (isText ? otherwise(json) : json) as Record<string, unknown>;
        const bytes = bytesByEncoder(value);
        if (bytes !== undefined) expect(bytes).toBe(bytesByReading(value));
      }),
      { numRuns: 600 },
    );
  });

  it("leads to the same resource, references and warnings", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const result = api.readResource(value);
        expect(result).toEqual(api.readResource(asInstance(value)));
      }),
      { numRuns: 600 },
    );
  });
});

describe("bytes that were encoded", () => {
  it("stay as they are while others are, short and long", () => {
    const values = Array.from({ length: 300 }, (_, i) => typed(V3.cluster, { name: "é".repeat(i * i) }));
    const all = values.map((value) => encoder.encode(value)?.bytes ?? new Uint8Array());
    expect(all.map(hex)).toEqual(values.map(bytesByReading));
  });

  it("keep one KiB in memory at most, or what they are", () => {
    const lengths = [0, 10, 200, 300, 5_000];
    const kept = lengths.map((length) => encoder.encode(typed(V3.cluster, { name: "a".repeat(length) }))?.bytes);
    expect(kept.map((bytes) => (bytes?.buffer.byteLength ?? 0) <= Math.max(bytes?.length ?? 0, 1_024))).toEqual(
      lengths.map(() => true),
    );
  });
});

describe("the type of a resource", () => {
  it.each([V3.cluster, `type.googleapis.com/${V3.cluster}`, `example.com/${V3.cluster}`])("as %s", (type) => {
    const value = { "@type": type, name: "a" };
    expect(api.readResource(value)).toEqual(api.readResource(asInstance(value)));
    expect(encoder.encode(value)?.type).toBe(url(V3.cluster));
  });
});

describe("the encoder takes", () => {
  const socketAddress = { address: "10.0.0.1", portValue: 80 };
  it.each([
    [
      "names of both kinds",
      V3.cluster,
      { name: "a", connect_timeout: "1.5s", edsClusterConfig: { service_name: "é" } },
    ],
    ["null as nothing", V3.cluster, { name: "a", type: null, loadAssignment: null, connectTimeout: null }],
    [
      "a wrapper, and zero in one",
      V3.cluster,
      { name: "a", perConnectionBufferLimitBytes: 0, maxRequestsPerConnection: 7 },
    ],
    ["zero in a oneof", V3.cluster, { name: "a", type: "STATIC" }],
    ["integers as text", V3.cluster, { name: "a", perConnectionBufferLimitBytes: "32768" }],
    ["a negative duration", V3.cluster, { name: "a", connectTimeout: "-1.5s" }],
    [
      "maps, in order of their keys",
      V3.cluster,
      {
        name: "a",
        typedExtensionProtocolOptions: {
          b: typed(V3.router, {}),
          a: typed("google.protobuf.Duration", { value: "1s" }),
        },
      },
    ],
    ["a Struct", V3.cluster, { name: "a", metadata: { filterMetadata: { z: { b: [1, "x", null, true], a: {} } } } }],
    ["text of more than one byte a character", V3.cluster, { name: `${"ü€😀".repeat(20)}` }],
    [
      "long messages in messages",
      V3.endpoints,
      {
        clusterName: "a",
        endpoints: [{ lbEndpoints: Array.from({ length: 900 }, () => ({ endpoint: { address: { socketAddress } } })) }],
      },
    ],
    ["bytes", V3.secret, { name: "a", tlsCertificate: { privateKey: { inlineBytes: "AAEC" } } }],
  ])("%s", (_, name, fields) => {
    const value = typed(name, fields);
    expect(bytesByEncoder(value)).toBe(bytesByReading(value));
    expect(bytesByEncoder(value)).toBeDefined();
  });
});

describe("the encoder leaves to the reader", () => {
  const circle: Record<string, unknown> = {};
  circle["a"] = circle;
  const anyInAny: Record<string, unknown> = typed("google.protobuf.Any", {});
  anyInAny["value"] = anyInAny;
  it.each([
    ["an unknown field", { nmae: "a" }],
    ["a wrong type", { name: 5 }],
    ["an unknown value of an enum", { lbPolicy: "NONE" }],
    ["a field twice", { connectTimeout: "1s", connect_timeout: "1s" }],
    ["two fields of a oneof", { type: "EDS", clusterType: { name: "a" } }],
    ["an unknown type", { transportSocket: { name: "a", typedConfig: typed("no.such.Type", {}) } }],
    ["half of a surrogate pair", { name: "\ud800" }],
    ["a number that does not fit", { perConnectionBufferLimitBytes: 2 ** 32 }],
    ["a Map", { metadata: new Map() }],
    ["an Any that contains itself", { transportSocket: { name: "a", typedConfig: anyInAny } }],
    ["what contains itself", { metadata: { filterMetadata: { circle } } }],
  ])("%s", (_, fields) => {
    expect(bytesByEncoder(typed(V3.cluster, fields))).toBeUndefined();
  });

  it("a value without a type, and what is no object", () => {
    const values = [{ name: "a" }, { "@type": "" }, { "@type": url("no.such.Type") }, undefined, null, 5, "text", []];
    expect(values.map(bytesByEncoder)).toEqual(values.map(() => undefined));
  });
});
