import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type Message,
  type ScalarType,
} from "@bufbuild/protobuf";
import { isObject, nearestName } from "@xdskit/protocol/internal";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { type AnyContent, type Content, encodeContent, rememberDecoded } from "./content.ts";
import { DESCRIPTORS_HINT, TYPE_HINT } from "./descriptor-hints.ts";
import { isJsonSpelling } from "./key-spelling.ts";
import { readPlainObject } from "./plain-object.ts";
import type { ProblemList } from "./problem-list.ts";
import { decodeBase64, readMapKey, readScalar } from "./scalar.ts";
import { listValueMessage, structMessage, valueMessage } from "./struct-message.ts";
import {
  compareText,
  readDuration,
  readFieldMask,
  readJson,
  readJsonList,
  readJsonObject,
  readTimestamp,
  setOwnProperty,
  tooDeep,
} from "./well-known.ts";

// Like other protobuf decoders, Envoy's stops at 100 levels of one encoded message; an Any starts anew.
const DEEPEST_MESSAGE = 100;
const DEEPEST_VALUE = 400;
/** The most names in one value for which a near one is looked for, because each search takes up to some milliseconds. */
const MOST_SEARCHED = 100;

/**
 * Reads JSON values as messages and reports every problem in them, not only the first. Accepts proto names and JSON
 * names, treats null as absent, and sorts map keys (S-GEN-04, B-VAL-04).
 */
export class JsonReader {
  readonly #schema: Schema;
  readonly #problems: ProblemList;
  /** The near name, if any, by the unknown one and what it should be a name of. */
  readonly #nearest = new Map<string, string | undefined>();
  #levels = DEEPEST_MESSAGE;
  #anyLevels = DEEPEST_VALUE;

  constructor(schema: Schema, problems: ProblemList) {
    this.#schema = schema;
    this.#problems = problems;
  }

  /** Reads a message. Undefined if the value is unusable; incomplete if problems were added. */
  readMessage(message: DescMessage, value: unknown): Message | undefined {
    return this.#nested(() => this.#representedMessage(message, value, false));
  }

  /** Reads the content of an `Any`: skips `@type`, and takes a type with a special JSON form from `value`. */
  readTyped(message: DescMessage, value: object): Message | undefined {
    return this.#nested(() => this.#typedContent(message, value));
  }

  #nested<T>(read: () => T): T | undefined {
    if (this.#levels <= 0 || this.#anyLevels <= 0) return tooDeep(this.#problems);
    this.#levels--;
    this.#anyLevels--;
    const result = read();
    this.#levels++;
    this.#anyLevels++;
    return result;
  }

  #representedMessage(message: DescMessage, value: unknown, hasTypeKey: boolean): Message | undefined {
    switch (representationOf(message)) {
      case "fields":
        return this.#fields(message, value, hasTypeKey);
      case "any":
        return this.#any(message, value);
      case "duration":
        return createWith(message, readDuration(value, this.#problems));
      case "timestamp":
        return createWith(message, readTimestamp(value, this.#problems));
      case "field-mask": {
        const paths = readFieldMask(value, this.#problems);
        return paths && createWith(message, { paths });
      }
      case "struct": {
        const struct = this.#struct(value);
        return struct && structMessage(struct);
      }
      case "value":
        return valueMessage(readJson(value, this.#problems, this.#levels));
      case "list-value":
        return this.#listValue(value);
      case "wrapper": {
        const inner = this.#wrapped(message, value);
        return inner === undefined ? undefined : createWith(message, { value: inner });
      }
    }
  }

  #fields(message: DescMessage, given: unknown, hasTypeKey: boolean): Message | undefined {
    const value = readPlainObject(given, this.#problems);
    if (value === undefined) return undefined;
    const shape = this.#schema.shapeOf(message);
    const content = create(message) as Content;
    const { path } = this.#problems;
    if (shape.isSecret) this.#problems.enterSecret();
    for (const key in value) {
      const raw = value[key];
      const field = shape.fieldNamed.get(key);
      if (field === undefined) {
        if (key !== "@type" || !hasTypeKey) this.#unknownField(key, raw, message);
        continue;
      }
      if (raw === undefined || (raw === null && !takesNull(field))) continue;
      path.push(key);
      if (key !== field.name && value[field.name] != null) {
        this.#problems.error("FIELD_DUPLICATE", `expected the field once, got it as "${field.name}" and as "${key}"`);
      }
      const isSensitive = shape.sensitive.has(field);
      if (isSensitive) this.#problems.enterSecret();
      this.#field(content, field, raw);
      if (isSensitive) this.#problems.leaveSecret();
      path.pop();
    }
    if (shape.isSecret) this.#problems.leaveSecret();
    return content;
  }

  #field(content: Content, field: DescField, raw: unknown): void {
    switch (field.fieldKind) {
      case "list":
        content[field.localName] = this.#list(field, raw);
        return;
      case "map":
        content[field.localName] = this.#map(field, raw);
        return;
      default: {
        const read = this.#singular(field, raw);
        if (field.oneof !== undefined) this.#setOneof(content, field, read);
        else if (read !== undefined) content[field.localName] = read;
      }
    }
  }

  #setOneof(content: Content, field: DescField, read: unknown): void {
    const local = field.oneof?.localName ?? "";
    const present = content[local] as { case: string | undefined };
    if (present.case !== undefined) {
      const usesJson = this.#problems.path.map(isJsonSpelling).findLast((one) => one !== undefined) ?? false;
      const spelled = (each: DescField | undefined): string | undefined => (usesJson ? each?.jsonName : each?.name);
      const names = field.oneof?.fields.map(spelled).join(", ");
      const other = spelled(field.parent.field[present.case]);
      this.#problems.error("ONEOF_CONFLICT", `expected only one of ${names}, got "${other}" as well`);
      return;
    }
    content[local] = { case: field.localName, value: read };
  }

  #singular(field: DescField & { fieldKind: "message" | "scalar" | "enum" }, raw: unknown): unknown {
    switch (field.fieldKind) {
      case "scalar":
        return localScalar(field, readScalar(field.scalar, raw, this.#problems));
      case "enum":
        return this.#enum(field.enum, raw);
      case "message":
        if (field.oneof === undefined && representationOf(field.message) === "wrapper") {
          return this.#wrapped(field.message, raw);
        }
        return this.#messageElement(field.message, raw);
    }
  }

  /** Reads a message in a field, list or map, where a Struct is a JSON object. */
  #messageElement(message: DescMessage, raw: unknown): unknown {
    if (representationOf(message) === "struct") return this.#struct(raw);
    return this.readMessage(message, raw);
  }

  #list(field: DescField & { fieldKind: "list" }, raw: unknown): unknown[] {
    if (!Array.isArray(raw)) {
      this.#wrongType("a list", raw, 'write a list, even of one: "- …" in YAML, […] in JSON');
      return [];
    }
    const elements: unknown[] = [];
    const { path } = this.#problems;
    for (let index = 0; index < raw.length; index++) {
      path.push(index);
      const element = this.#element(field, raw[index]);
      if (element !== undefined) elements.push(element);
      path.pop();
    }
    return elements;
  }

  #element(field: DescField & { fieldKind: "list" | "map" }, raw: unknown): unknown {
    if (field.enum !== undefined) return this.#enum(field.enum, raw);
    if (field.message === undefined) {
      return localScalar(field, readScalar(field.scalar, raw, this.#problems));
    }
    return this.#messageElement(field.message, raw);
  }

  #map(field: DescField & { fieldKind: "map" }, given: unknown): object {
    const entries: [string, unknown][] = [];
    const raw = readPlainObject(given, this.#problems);
    if (raw === undefined) return {};
    const { path } = this.#problems;
    for (const key in raw) {
      path.push(key);
      const localKey = readMapKey(field.mapKey, key, this.#problems);
      const element = this.#element(field, raw[key]);
      if (localKey !== undefined && element !== undefined) entries.push([localKey, element]);
      path.pop();
    }
    return sortedObject(entries);
  }

  #enum(descriptor: DescEnum, raw: unknown): number | undefined {
    if (typeof raw === "string") {
      const number = numbersByName(descriptor).get(raw);
      return number ?? this.#unknownEnum(descriptor, raw);
    }
    if (raw === null && descriptor.typeName === "google.protobuf.NullValue") return 0;
    if (typeof raw !== "number") return this.#wrongType("the name of a value", raw);
    const isKnown = descriptor.value[raw] !== undefined;
    if (isKnown || (descriptor.open && Number.isInteger(raw) && Math.abs(raw) < 2 ** 31)) return raw;
    return this.#unknownEnum(descriptor, raw);
  }

  #unknownEnum(descriptor: DescEnum, raw: unknown): undefined {
    const names = descriptor.values.map((value) => value.name);
    const shown = names.length > 12 ? `a value of ${descriptor.typeName}` : `one of ${names.join(", ")}`;
    const nearest =
      typeof raw === "string"
        ? this.#nearestTo(`${descriptor.typeName} ${raw}`, () => nearestName(raw, names))
        : undefined;
    this.#problems.error(
      "ENUM_UNKNOWN",
      `expected ${shown}, got ${this.#problems.describe(raw)}`,
      withNearest(nearest, DESCRIPTORS_HINT),
    );
    return undefined;
  }

  #unknownField(key: string, raw: unknown, message: DescMessage): void {
    if (message.typeName === "google.protobuf.Empty" && key === "value" && isObject(raw)) return;
    const { path } = this.#problems;
    const nearest = this.#nearestTo(`${message.typeName} ${key}`, () =>
      nearestName(
        key,
        // In the author's spelling: both names of a field are valid.
        message.fields.map((field) => (/[A-Z]/.test(key) ? field.jsonName : field.name)),
      ),
    );
    path.push(key);
    const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key;
    this.#problems.error(
      "FIELD_UNKNOWN",
      `expected a field of ${message.typeName}, got ${JSON.stringify(shown)}`,
      withNearest(nearest, DESCRIPTORS_HINT),
    );
    path.pop();
  }

  #nearestTo(what: string, search: () => string | undefined): string | undefined {
    const known = this.#nearest.get(what);
    if (known !== undefined || this.#nearest.has(what) || this.#nearest.size >= MOST_SEARCHED) return known;
    const nearest = search();
    this.#nearest.set(what, nearest);
    return nearest;
  }

  #any(any: DescMessage, raw: unknown): Message | undefined {
    const value = readPlainObject(raw, this.#problems, "an object with @type");
    if (value === undefined) return undefined;
    const type = value["@type"];
    if (type === undefined || type === null) return this.#untypedAny(any, value);
    const { path } = this.#problems;
    if (typeof type !== "string" || type === "") {
      path.push("@type");
      this.#wrongType("a type URL", type);
      path.pop();
      return undefined;
    }
    const typeUrl = type.includes("/") ? type : `type.googleapis.com/${type}`;
    const given = this.#encodedValue(value, typeUrl);
    if (given !== undefined) return anyMessage(any, typeUrl, given);
    const message = this.#schema.message(typeUrl);
    if (message === undefined) return this.unknownType(type);
    const levels = this.#levels;
    this.#levels = DEEPEST_MESSAGE;
    const content = this.readTyped(message, value);
    this.#levels = levels;
    if (content === undefined) return anyMessage(any, typeUrl, new Uint8Array());
    // With errors, the message is never used, so it is not encoded; it may lack what encoding needs.
    const encoded = this.#problems.hasErrors ? new Uint8Array() : encodeContent(message, content);
    const result = anyMessage(any, typeUrl, encoded);
    rememberDecoded(result, { message, content: content as Content });
    return result;
  }

  /** Reads `{"@type", "value": base64}`: encoded bytes, for a type that may be unknown here. */
  #encodedValue(value: Readonly<Record<string, unknown>>, typeUrl: string): Uint8Array | undefined {
    const encoded = value["value"];
    if (typeof encoded !== "string" || Object.keys(value).length !== 2) return undefined;
    const message = this.#schema.message(typeUrl);
    const isOrdinary = message !== undefined && this.#hasValueOfItsOwn(message);
    const bytes = isOrdinary ? undefined : decodeBase64(encoded);
    if (bytes !== undefined && message === undefined) {
      this.#problems.warning(
        "ANY_UNREAD",
        `nothing is known of ${typeUrl}: its bytes are passed on as they are`,
        DESCRIPTORS_HINT,
      );
    }
    return bytes;
  }

  #hasValueOfItsOwn(message: DescMessage): boolean {
    return representationOf(message) !== "fields" || this.#schema.shapeOf(message).fieldNamed.has("value");
  }

  #untypedAny(any: DescMessage, value: object): Message | undefined {
    if (Object.keys(value).length === 0) return create(any);
    this.#problems.error(
      "TYPE_MISSING",
      "expected @type, got none",
      'name the type, such as "@type": "type.googleapis.com/…"',
    );
    return undefined;
  }

  /** Adds the problem of a type without a descriptor; the path is that of the object with `@type`. */
  unknownType(type: string): undefined {
    const name = type.slice(type.lastIndexOf("/") + 1);
    const nearest = this.#nearestTo(name, () => this.#schema.nearestMessage(name));
    this.#problems.path.push("@type");
    this.#problems.error(
      "TYPE_UNKNOWN",
      `expected a type that is known, got ${JSON.stringify(type.slice(0, 200))}`,
      withNearest(nearest, TYPE_HINT),
    );
    this.#problems.path.pop();
    return undefined;
  }

  #typedContent(message: DescMessage, value: object): Message | undefined {
    if (representationOf(message) === "fields") return this.#representedMessage(message, value, true);
    const inner = (value as Record<string, unknown>)["value"];
    const { path } = this.#problems;
    for (const key of Object.keys(value)) {
      if (key !== "@type" && key !== "value") this.#unknownField(key, undefined, message);
    }
    path.push("value");
    const content = this.#representedMessage(message, inner, false);
    path.pop();
    return content;
  }

  #struct(value: unknown): JsonObject | undefined {
    return readJsonObject(value, this.#problems, this.#levels);
  }

  #listValue(value: unknown): Message | undefined {
    if (!Array.isArray(value)) return this.#wrongType("a list", value);
    return listValueMessage(readJsonList(value, this.#problems, this.#levels));
  }

  #wrapped(message: DescMessage, value: unknown): unknown {
    const scalar: ScalarType | undefined = message.fields[0]?.scalar;
    return scalar === undefined ? undefined : readScalar(scalar, value, this.#problems);
  }

  #wrongType(expected: string, value: unknown, hint?: string): undefined {
    this.#problems.error("FIELD_WRONG_TYPE", `expected ${expected}, got ${this.#problems.describe(value)}`, hint);
    return undefined;
  }
}

const numbersByNames = new WeakMap<DescEnum, ReadonlyMap<string, number>>();

function numbersByName(descriptor: DescEnum): ReadonlyMap<string, number> {
  let numbers = numbersByNames.get(descriptor);
  if (numbers === undefined) {
    numbers = new Map(descriptor.values.map((value) => [value.name, value.number]));
    numbersByNames.set(descriptor, numbers);
  }
  return numbers;
}

function withNearest(nearest: string | undefined, hint: string): string {
  return nearest === undefined ? hint : `did you mean "${nearest}"?`;
}

function takesNull(field: DescField): boolean {
  return (
    (field.fieldKind === "message" && representationOf(field.message) === "value") ||
    (field.fieldKind === "enum" && field.enum.typeName === "google.protobuf.NullValue")
  );
}

function localScalar(field: DescField, value: unknown): unknown {
  const isText = "longAsString" in field && field.longAsString && typeof value === "bigint";
  return isText ? String(value) : value;
}

function sortedObject(entries: [string, unknown][]): object {
  entries.sort(([a], [b]) => compareText(a, b));
  const object = {};
  for (const [key, value] of entries) setOwnProperty(object, key, value);
  return object;
}

function createWith(message: DescMessage, fields: object | undefined): Message | undefined {
  return fields === undefined ? undefined : Object.assign(create(message), fields);
}

function anyMessage(any: DescMessage, typeUrl: string, value: Uint8Array): AnyContent {
  return Object.assign(create(any), { typeUrl, value });
}
