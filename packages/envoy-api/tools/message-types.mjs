// Writes the TypeScript types of messages as the JSON that `readResource` takes, from their descriptors.
import { createFileRegistry, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** What has a form of its own in JSON, and so no fields. */
const WELL_KNOWN = new Map([
  ["google.protobuf.Any", "AnyMessage"],
  ["google.protobuf.Duration", "Duration"],
  ["google.protobuf.Timestamp", "string"],
  ["google.protobuf.FieldMask", "string"],
  ["google.protobuf.Struct", "JsonObject"],
  ["google.protobuf.Value", "JsonValue"],
  ["google.protobuf.ListValue", "readonly JsonValue[]"],
  ["google.protobuf.NullValue", "null"],
  ["google.protobuf.DoubleValue", "Double"],
  ["google.protobuf.FloatValue", "Double"],
  ["google.protobuf.Int64Value", "Int64"],
  ["google.protobuf.UInt64Value", "Int64"],
  ["google.protobuf.Int32Value", "number"],
  ["google.protobuf.UInt32Value", "number"],
  ["google.protobuf.BoolValue", "boolean"],
  ["google.protobuf.StringValue", "string"],
  ["google.protobuf.BytesValue", "Bytes"],
]);

/**
 * What a field has whose `oneof` has another one. For authors it is a text, which the compiler prints for a second field: of `undefined`
 * it would say nothing. Who reads a message finds `undefined` alone, since `field?.inner` has to compile.
 */
const UNSET = { author: `\`only one field of the oneof \${N} may be set\` | undefined`, reader: "undefined" };

const headerFor = (whom) => `// Generated from the descriptors by tools/generate.mjs.

/** An integer of 64 bits; one of more than 53 bits is a string or a bigint. */
export type Int64 = number | bigint | string;
export type Double = number | "NaN" | "Infinity" | "-Infinity";
/** Seconds with the letter s, such as \`"0.25s"\`. */
export type Duration = \`\${number}s\`;
/** Base64, or the bytes themselves. */
export type Bytes = string | Uint8Array;
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A message with its type: a resource, or the value of a \`google.protobuf.Any\`. */
export type TypedMessage<N extends MessageName> = { readonly "@type": \`type.googleapis.com/\${N}\` } & MessageTypes[N];
/** What a \`google.protobuf.Any\` holds; for a type with a JSON form of its own that form is its \`value\`. */
export type AnyMessage = { [N in TopLevelName]: TypedMessage<N> }[TopLevelName] | WellKnownMessage;
/** At most one of these fields, as in the \`oneof\` with that name. */
type OneOf<N extends string, T> = {
  [K in keyof T]-?: { readonly [P in K]?: T[P] } & { readonly [P in Exclude<keyof T, K>]?: ${UNSET[whom]} };
}[keyof T];
/** The full name of a message. */
export type MessageName = keyof MessageTypes;
`;

/** The `.d.ts` of all messages in an encoded `FileDescriptorSet`, for an author or for a reader of messages. */
export function messageTypesOf(set, whom) {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
  const files = [...registry.files].filter((file) => file.proto.package !== "google.protobuf");
  const packages = new Map();
  for (const file of files) {
    const declared = packages.get(file.proto.package) ?? [];
    packages.set(file.proto.package, declared);
    declared.push(...file.enums.map(enumType), ...file.messages.flatMap(messageType));
  }
  const topLevel = files.flatMap((file) => file.messages).map(({ typeName }) => typeName);
  const every = files.flatMap((file) => file.messages).flatMap(withNested);
  const wellKnown = [...WELL_KNOWN].filter(
    ([name]) => !["google.protobuf.Any", "google.protobuf.NullValue"].includes(name),
  );
  return [
    headerFor(whom),
    "/** Every message by its full name. */\nexport interface MessageTypes {",
    ...every.map(({ typeName }) => `  "${typeName}": ${typeName};`),
    "}",
    `type TopLevelName =${topLevel.map((name) => `\n  | "${name}"`).join("")};`,
    "type WellKnownMessage =",
    ...wellKnown.map(
      ([name, form]) => `  | { readonly "@type": "type.googleapis.com/${name}"; readonly value: ${form} }`,
    ),
    '  | { readonly "@type": "type.googleapis.com/google.protobuf.Empty" };',
    ...[...packages]
      .filter(([, declared]) => declared.length > 0)
      .map(([name, declared]) => `export declare namespace ${name} {\n${declared.join("\n")}\n}`),
    "",
  ].join("\n");
}

function withNested(message) {
  return [message, ...message.nestedMessages.filter(({ proto }) => !proto.options?.mapEntry).flatMap(withNested)];
}

function messageType(message) {
  const inner = [...message.nestedEnums.map(enumType), ...message.nestedMessages.flatMap(messageType)];
  // Of a single member there is nothing to exclude.
  const oneofs = message.oneofs.filter(({ fields }) => fields.length > 1);
  const alone = message.fields.filter(({ oneof }) => !oneofs.includes(oneof));
  const body = `{\n${alone.map(property).join("\n")}\n}`;
  const members = oneofs.map(({ name, fields }) => `OneOf<"${name}", {\n${fields.map(property).join("\n")}\n}>`);
  const declared =
    members.length === 0
      ? [`interface ${message.name} ${body}`]
      : [`type ${message.name} = ${[body, ...members].join(" & ")};`];
  if (inner.length > 0) declared.push(`namespace ${message.name} {\n${inner.join("\n")}\n}`);
  return declared;
}

function property(field) {
  const deprecated = field.deprecated ? "  /** @deprecated */\n" : "";
  return `${deprecated}  readonly ${field.jsonName}?: ${fieldType(field)};`;
}

function enumType({ name, values }) {
  return `type ${name} = ${values.map((value) => `"${value.name}"`).join(" | ")} | number;`;
}

function fieldType(field) {
  switch (field.fieldKind) {
    case "list":
      return `readonly ${parenthesized(elementType(field, field.listKind))}[]`;
    case "map":
      return `{ readonly [key: string]: ${elementType(field, field.mapKind)} }`;
    default:
      return elementType(field, field.fieldKind);
  }
}

function elementType(field, kind) {
  if (kind === "scalar") return scalarType(field.scalar);
  const { typeName } = kind === "enum" ? field.enum : field.message;
  return WELL_KNOWN.get(typeName) ?? (typeName === "google.protobuf.Empty" ? "{}" : typeName);
}

function parenthesized(type) {
  return type.startsWith("readonly ") ? `(${type})` : type;
}

function scalarType(scalar) {
  switch (scalar) {
    case ScalarType.STRING:
      return "string";
    case ScalarType.BOOL:
      return "boolean";
    case ScalarType.BYTES:
      return "Bytes";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "Double";
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return "Int64";
    default:
      return "number";
  }
}
