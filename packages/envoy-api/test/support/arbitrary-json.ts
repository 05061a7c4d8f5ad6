import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";
import { representationOf } from "../../src/descriptor/message-shape.ts";
import type { Schema } from "../../src/descriptor/schema.ts";

/** Types that stand in an Any; each as common as the other. */
const ANY_TYPES = [
  "envoy.extensions.filters.http.router.v3.Router",
  "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
  "envoy.config.core.v3.TypedExtensionConfig",
  "google.protobuf.Duration",
  "google.protobuf.StringValue",
  "google.protobuf.Struct",
];

/** JSON values that are a message in canonical JSON: names of one kind, members of oneofs one at a time. */
export function arbitraryJson(
  message: DescMessage,
  schema: Schema,
  depth = 4,
  anyTypes: readonly string[] = ANY_TYPES,
): fc.Arbitrary<unknown> {
  switch (representationOf(message)) {
    case "any":
      return depth <= 0 ? fc.constant({}) : arbitraryAny(schema, depth - 1, anyTypes);
    case "duration":
      return fc
        .tuple(fc.integer({ min: 0, max: 1e9 }), fc.constantFrom("", ".5", ".000000001"))
        .map(([s, f]) => `${s}${f}s`);
    case "timestamp":
      return fc
        .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
        .map((date) => date.toISOString());
    case "field-mask":
      return fc.array(fc.constantFrom("a", "bC", "d.eF")).map((paths) => paths.join(","));
    case "struct":
      return fc.dictionary(text(), fc.jsonValue({ maxDepth: 2 }));
    case "value":
      return fc.jsonValue({ maxDepth: 2 });
    case "list-value":
      return fc.array(fc.jsonValue({ maxDepth: 2 }));
    case "wrapper":
      return scalar(message.fields[0]?.scalar ?? ScalarType.STRING);
    case "fields":
      return depth <= 0 ? fc.constant({}) : arbitraryFields(message, schema, depth, anyTypes);
  }
}

function arbitraryAny(schema: Schema, depth: number, anyTypes: readonly string[]): fc.Arbitrary<unknown> {
  const messages = anyTypes.flatMap((name) => schema.message(name) ?? []);
  return fc.oneof(
    ...messages.map((message) =>
      arbitraryJson(message, schema, depth, anyTypes).map((json) => {
        const type = { "@type": `type.googleapis.com/${message.typeName}` };
        return representationOf(message) === "fields" ? { ...type, ...(json as object) } : { ...type, value: json };
      }),
    ),
  );
}

function arbitraryFields(
  message: DescMessage,
  schema: Schema,
  depth: number,
  anyTypes: readonly string[],
): fc.Arbitrary<unknown> {
  return fc
    .tuple(fc.subarray(message.fields, { maxLength: Math.min(5, message.fields.length) }), fc.boolean())
    .chain(([fields, isProtoNamed]) => {
      const members = new Map<unknown, DescField>(fields.map((field) => [field.oneof ?? field, field]));
      const entries = [...members.values()].map((field): [string, fc.Arbitrary<unknown>] => [
        isProtoNamed ? field.name : field.jsonName,
        arbitraryField(field, schema, depth - 1, anyTypes),
      ]);
      return fc.record(Object.fromEntries(entries));
    });
}

function arbitraryField(
  field: DescField,
  schema: Schema,
  depth: number,
  anyTypes: readonly string[],
): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "list":
      return fc.array(element(field, schema, depth, anyTypes), { maxLength: 2 });
    case "map":
      return fc.dictionary(mapKey(field.mapKey), element(field, schema, depth, anyTypes), { maxKeys: 3 });
    default:
      return element(field, schema, depth, anyTypes);
  }
}

function element(field: DescField, schema: Schema, depth: number, anyTypes: readonly string[]): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ name }) => name));
  return field.message === undefined ? scalar(field.scalar) : arbitraryJson(field.message, schema, depth, anyTypes);
}

function mapKey(type: ScalarType): fc.Arbitrary<string> {
  if (type === ScalarType.STRING) return text();
  return type === ScalarType.BOOL ? fc.constantFrom("true", "false") : fc.nat().map(String);
}

function text(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 6 }),
    fc.constantFrom("10", "9", "a", "__proto__", "toString"),
  );
}

function scalar(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return text();
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    case ScalarType.DOUBLE:
      return fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom("NaN", "Infinity", "-Infinity"),
      );
    case ScalarType.FLOAT:
      return fc.float({ noNaN: true, noDefaultInfinity: true });
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat({ max: 2 ** 32 - 1 });
    default:
      return fc.integer();
  }
}

/** The same JSON value with the keys of every object in another order; lists stay as they are. */
export function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const copy = {};
  for (const [key, each] of Object.entries(value).reverse()) {
    Object.defineProperty(copy, key, { value: reversed(each), enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

/** The same JSON value with one value in it replaced by another, the one that is met as number `counter.at`. */
export function replaceOne(value: unknown, noise: unknown, counter: { at: number }): unknown {
  counter.at--;
  if (counter.at === 0) return noise;
  if (Array.isArray(value)) return value.map((each) => replaceOne(each, noise, counter));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceOne(each, noise, counter)]));
}
