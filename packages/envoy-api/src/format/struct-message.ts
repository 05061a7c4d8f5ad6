import { create, type DescMessage, type JsonObject, type JsonValue, type Message } from "@bufbuild/protobuf";
import { ListValueSchema, type Struct, StructSchema, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { setOwnProperty } from "./well-known.ts";

/** Converts a JSON value to `google.protobuf.Value`; undefined for undefined. */
export function valueMessage(json: JsonValue): Value;
export function valueMessage(json: JsonValue | undefined): Value | undefined;
export function valueMessage(json: JsonValue | undefined): Value | undefined {
  if (json === undefined) return undefined;
  if (json === null) return create(ValueSchema, { kind: { case: "nullValue", value: 0 } });
  switch (typeof json) {
    case "string":
      return create(ValueSchema, { kind: { case: "stringValue", value: json } });
    case "number":
      return create(ValueSchema, { kind: { case: "numberValue", value: json } });
    case "boolean":
      return create(ValueSchema, { kind: { case: "boolValue", value: json } });
    default:
      return Array.isArray(json)
        ? create(ValueSchema, { kind: { case: "listValue", value: listValueMessage(json) } })
        : create(ValueSchema, { kind: { case: "structValue", value: structMessage(json) } });
  }
}

/** Converts a list to `google.protobuf.ListValue`. */
export function listValueMessage(
  list: readonly JsonValue[],
): Message<"google.protobuf.ListValue"> & { values: Value[] } {
  return create(ListValueSchema, { values: list.map((element) => valueMessage(element)) });
}

/** Converts an object to `google.protobuf.Struct`, with its keys in the given order. */
export function structMessage(json: JsonObject): Struct {
  const fields = {};
  for (const [key, element] of Object.entries(json)) setOwnProperty(fields, key, valueMessage(element));
  return create(StructSchema, { fields });
}

/** Converts a `google.protobuf.Value`, `ListValue` or `Struct` to a JSON value. */
export function jsonOf(message: Message): JsonValue {
  const content = message as Message & { kind?: Value["kind"]; values?: Value[]; fields?: Record<string, Value> };
  if (content.values !== undefined) return content.values.map(jsonOf);
  if (content.fields !== undefined) {
    const object: JsonObject = {};
    for (const [key, value] of Object.entries(content.fields)) setOwnProperty(object, key, jsonOf(value));
    return object;
  }
  return jsonOfKind(content.kind);
}

function jsonOfKind(kind: Value["kind"] | undefined): JsonValue {
  switch (kind?.case) {
    case "numberValue":
      // JSON lacks NaN and the infinities; they are written as protobuf writes them elsewhere.
      return Number.isFinite(kind.value) ? kind.value : String(kind.value);
    case "stringValue":
    case "boolValue":
      return kind.value;
    case "structValue":
    case "listValue":
      return jsonOf(kind.value);
    default:
      return null;
  }
}

/** Replaces the content of a `google.protobuf.Value`, `ListValue` or `Struct` by JSON of the same kind. */
export function assignJson(message: Message, json: JsonValue): void {
  const content = message as Message & { kind?: Value["kind"]; values?: Value[]; fields?: Record<string, Value> };
  if (content.values !== undefined) content.values = listValueMessage(json as JsonValue[]).values;
  else if (content.fields !== undefined) content.fields = structMessage(json as JsonObject).fields;
  else content.kind = valueMessage(json).kind;
}

/** Whether a message is one of the three that stand for any JSON. */
export function standsForJson(message: DescMessage): boolean {
  return message.file.name === "google/protobuf/struct";
}
