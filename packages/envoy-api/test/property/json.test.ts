import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSchema } from "../../src/descriptor/schema.ts";
import { JsonReader } from "../../src/format/json-reader.ts";
import { JsonWriter } from "../../src/format/json-writer.ts";
import { ProblemList } from "../../src/format/problem-list.ts";
import { api, url, V3 } from "../support/api.ts";
import { arbitraryJson, replaceOne, reversed } from "../support/arbitrary-json.ts";

const schema = createSchema();
const messages = [
  V3.cluster,
  V3.listener,
  V3.route,
  V3.endpoints,
  V3.secret,
  V3.http,
  V3.runtime,
  "envoy.config.bootstrap.v3.Bootstrap",
  "envoy.extensions.filters.http.rbac.v3.RBAC",
].map((name) => {
  const message = schema.message(name);
  if (message === undefined) throw new Error(name);
  return message;
});

const anyMessage = fc
  .constantFrom(...messages)
  .chain((message) => fc.tuple(fc.constant(message), arbitraryJson(message, schema).map(throughText)));

/** What is left of a value in a text of JSON, which has no -0. */
function throughText(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json));
}

function encode(message: (typeof messages)[number], json: unknown): Uint8Array {
  const problems = new ProblemList();
  const content = new JsonReader(schema, problems).readMessage(message, json);
  expect(problems.problems).toEqual([]);
  return content === undefined ? new Uint8Array() : toBinary(message, content);
}

describe("what is read from JSON", () => {
  it("is what protobuf-es reads", () => {
    fc.assert(
      fc.property(anyMessage, ([message, json]) => {
        const ours = fromBinary(message, encode(message, json));
        const theirs = fromJson(message, json as JsonValue, { registry: schema.registry });
        // Through their JSON, because the order of map entries is ours to choose and theirs to keep.
        const options = { registry: schema.registry };
        expect(toJson(message, ours, options)).toEqual(toJson(message, theirs, options));
      }),
      { numRuns: 400 },
    );
  });

  it("has equal bytes whatever the order of its keys (S-VER-08)", () => {
    fc.assert(
      fc.property(anyMessage, ([message, json]) => {
        expect(encode(message, reversed(json))).toEqual(encode(message, json));
      }),
      { numRuns: 400 },
    );
  });

  it("comes back from its bytes with equal bytes, under both kinds of names", () => {
    fc.assert(
      fc.property(anyMessage, fc.constantFrom("json" as const, "proto" as const), ([message, json], names) => {
        const bytes = encode(message, json);
        const printed = new JsonWriter(schema, names).write(message, fromBinary(message, bytes));
        expect(encode(message, throughText(printed))).toEqual(bytes);
      }),
      { numRuns: 400 },
    );
  });

  it("is printed as protobuf-es prints it", () => {
    fc.assert(
      fc.property(anyMessage, ([message, json]) => {
        const content = fromBinary(message, encode(message, json));
        const ours = new JsonWriter(schema, "json").write(message, content);
        expect(ours).toEqual(shortFloats(toJson(message, content, { registry: schema.registry }), ours));
      }),
      { numRuns: 300 },
    );
  });

  it("can be any JSON: it is read, or has problems, and nothing is thrown", () => {
    const noise = fc.oneof(fc.jsonValue(), fc.anything());
    fc.assert(
      fc.property(fc.constantFrom(...messages), noise, noise, (message, value, other) => {
        const { input, problems } = api.readResource({ "@type": url(message.typeName), name: value, ...Object(other) });
        expect(input !== undefined || problems.some(({ severity }) => severity === "error")).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("and any field of it may be replaced by anything", () => {
    fc.assert(
      fc.property(anyMessage, fc.anything(), fc.nat(), ([message, json], noise, seed) => {
        const broken = replaceOne(json, noise, { at: seed % 20 });
        const { input, problems } = api.readResource({ ...Object(broken), "@type": url(message.typeName) });
        expect(input !== undefined || problems.some(({ severity }) => severity === "error")).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe("any bytes", () => {
  it("are printed, validated and read, or refused with one problem", () => {
    fc.assert(
      fc.property(fc.constantFrom(...messages), fc.uint8Array({ maxLength: 60 }), (message, bytes) => {
        const type = url(message.typeName);
        const { input, problems } = api.readEncodedResource(type, bytes, { name: "n" });
        if (input === undefined) {
          expect(problems.map(({ code }) => code)).toEqual(["MESSAGE_MALFORMED"]);
          return;
        }
        expect(input.bytes).toEqual(bytes);
        api.validate(type, bytes);
        expect(api.toJson(type, bytes, { redact: true })).toMatchObject({ "@type": type });
        expect(typeof api.toText(type, bytes, { redact: true })).toBe("string");
      }),
      { numRuns: 500 },
    );
  });
});

/** Their floats as ours, where they are the same float: we print fewer digits. */
function shortFloats(theirs: unknown, ours: unknown): unknown {
  if (typeof theirs === "number" && typeof ours === "number") return Math.fround(ours) === theirs ? ours : theirs;
  if (Array.isArray(theirs)) return theirs.map((each, index) => shortFloats(each, (ours as unknown[])[index]));
  if (typeof theirs !== "object" || theirs === null) return theirs;
  const copy = {};
  for (const [key, each] of Object.entries(theirs)) {
    const value = shortFloats(each, (ours as Record<string, unknown>)[key]);
    Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
