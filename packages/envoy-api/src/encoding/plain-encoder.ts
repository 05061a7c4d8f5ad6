import type { DescMessage } from "@bufbuild/protobuf";
import type { TypeUrl } from "@xdskit/protocol";
import type { Schema } from "../descriptor/schema.ts";
import { type AnyContent, type Content, type Decoded, rememberDecoded } from "../format/content.ts";
import { ProblemList } from "../format/problem-list.ts";
import { decodeBase64 } from "../format/scalar.ts";
import { compareText, readDuration, readFieldMask, readTimestamp, setOwnProperty } from "../format/well-known.ts";
import { fixed64Tag, lengthTag, varintTag } from "../wire/reader.ts";
import { type EncodingFieldPlan, type EncodingPlan, EncodingPlans, form } from "./encoding-plan.ts";
import { GrowingBytes } from "./growing-bytes.ts";

/** A message from plain data, encoded and decoded. */
export interface Encoded {
  readonly type: TypeUrl;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /**
   * The content, for visits and checks only: fields that are not set are inherited, an `Any` holds its content but no bytes,
   * and what stands for JSON is as it was given.
   */
  readonly decoded: Decoded;
}

/** Less deep than a reader of JSON goes. */
const DEEPEST = 60;
// The number of message levels between an object of a Struct and its values, and for a list.
const LEVELS_OF_OBJECT = 3;
const LEVELS_OF_LIST = 2;

const inAny = { TYPE_URL: lengthTag(1), VALUE: lengthTag(2) } as const;
const inTime = { SECONDS: varintTag(1), NANOS: varintTag(2) } as const;
const inMask = { PATHS: lengthTag(1) } as const;
const inEntry = { KEY: lengthTag(1), VALUE: lengthTag(2) } as const;
const inStruct = { FIELDS: lengthTag(1) } as const;
const inList = { VALUES: lengthTag(1) } as const;
const inValue = {
  NULL: varintTag(1),
  NUMBER: fixed64Tag(2),
  STRING: lengthTag(3),
  BOOL: varintTag(4),
  STRUCT: lengthTag(5),
  LIST: lengthTag(6),
} as const;

const LARGEST_FLOAT = 3.4028234663852886e38;
const INTEGER = /^-?(?:0|[1-9]\d{0,14})$/;
const TYPE_URL_PREFIX = "type.googleapis.com/";

type PlainObject = Readonly<Record<string, unknown>>;

/**
 * Encodes plain data in one pass, as `JsonReader` and the encoder do together, whose bytes are equal. It knows no problem:
 * what is wrong, or rare, it gives up, and the reader says what it is.
 */
export class PlainEncoder {
  readonly #schema: Schema;
  readonly #plans: EncodingPlans;
  /** By type URL. */
  readonly #types = new Map<string, EncodingPlan>();
  readonly #bytes = new GrowingBytes();
  /** What functions of the reader report; nobody reads it. */
  readonly #problems = new ProblemList();
  /** The fields of the messages being written, in order of their numbers, and their values. */
  readonly #fields: EncodingFieldPlan[] = [];
  readonly #values: unknown[] = [];
  /** Where the fields of the next message begin. */
  #top = 0;
  /** How many there have been at once. */
  #most = 0;

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#plans = new EncodingPlans(schema);
  }

  /** Encodes a value with `@type`; undefined if the reader has to read it. */
  encode(value: unknown): Encoded | undefined {
    if (!isPlainObject(value)) return undefined;
    const typeUrl = typeUrlOf(value);
    const plan = typeUrl === undefined ? undefined : this.#planOfType(typeUrl);
    if (typeUrl === undefined || plan?.representation !== "fields") return undefined;
    this.#bytes.clear();
    this.#top = 0;
    const content = this.#object(plan, value, true, 0);
    // Nothing of a value is kept.
    this.#values.fill(undefined, 0, this.#most);
    this.#most = 0;
    this.#problems.problems.length = 0;
    return content && { type: plan.type, bytes: this.#bytes.finish(), decoded: { message: plan.message, content } };
  }

  #planOfType(typeUrl: string): EncodingPlan | undefined {
    const known = this.#types.get(typeUrl);
    if (known !== undefined) return known;
    const message = this.#schema.message(typeUrl);
    const plan = message && this.#plans.of(message);
    // Of other hosts there may be any number.
    if (plan !== undefined && typeUrl.startsWith(TYPE_URL_PREFIX)) this.#types.set(typeUrl, plan);
    return plan;
  }

  /** Writes the fields of a message, in order of their numbers. */
  #object(plan: EncodingPlan, value: unknown, isTyped: boolean, depth: number): Content | undefined {
    if (!isPlainObject(value) || depth > DEEPEST) return undefined;
    const fields = this.#fields;
    const values = this.#values;
    const first = this.#top;
    let end = first;
    for (const key in value) {
      const field = plan.fields.get(key);
      if (field === undefined) {
        if (isTyped && key === "@type") continue;
        return undefined;
      }
      const raw = value[key];
      if (raw === undefined || (raw === null && !field.takesNull)) continue;
      let at = end++;
      for (; at > first; at--) {
        const before = fields[at - 1] as EncodingFieldPlan;
        if (before.number < field.number) break;
        if (before === field) return undefined;
        fields[at] = before;
        values[at] = values[at - 1];
      }
      fields[at] = field;
      values[at] = raw;
    }
    this.#top = end;
    if (end > this.#most) this.#most = end;
    const content = Object.create(plan.empty) as Content;
    for (let at = first; at < end; at++) {
      const field = fields[at] as EncodingFieldPlan;
      const read = this.#field(field, values[at], depth);
      if (read === undefined) return undefined;
      if (field.oneof === undefined) {
        content[field.localName] = read;
        continue;
      }
      if ((content[field.oneof] as { readonly case: string | undefined }).case !== undefined) return undefined;
      content[field.oneof] = { case: field.localName, value: read };
    }
    this.#top = first;
    return content;
  }

  /** Writes a field and returns its content; undefined if it is left to the reader. */
  #field(field: EncodingFieldPlan, raw: unknown, depth: number): unknown {
    const { element } = field;
    if (element === undefined) return this.#value(field, raw, depth);
    if (field.isWrapped) {
      this.#bytes.varint32(field.tag);
      const start = this.#bytes.begin();
      const read = this.#value(element, raw, depth);
      this.#bytes.end(start);
      return read;
    }
    return field.form === form.MAP ? this.#map(field, element, raw, depth) : this.#list(field, element, raw, depth);
  }

  #list(field: EncodingFieldPlan, element: EncodingFieldPlan, raw: unknown, depth: number): unknown[] | undefined {
    if (!Array.isArray(raw)) return undefined;
    const isPacked = element.tag === 0 && raw.length > 0;
    if (isPacked) this.#bytes.varint32(field.tag);
    const start = isPacked ? this.#bytes.begin() : 0;
    const elements: unknown[] = [];
    for (let index = 0; index < raw.length; index++) {
      const read = this.#value(element, raw[index], depth);
      if (read === undefined) return undefined;
      elements.push(read);
    }
    if (isPacked) this.#bytes.end(start);
    return elements;
  }

  #map(field: EncodingFieldPlan, element: EncodingFieldPlan, raw: unknown, depth: number): object | undefined {
    const keys = isPlainObject(raw) ? sortedKeys(raw) : undefined;
    if (keys === undefined) return undefined;
    const entries = {};
    for (const key of keys) {
      this.#bytes.varint32(field.tag);
      const start = this.#bytes.begin();
      this.#bytes.varint32(inEntry.KEY);
      if (!this.#bytes.text(key)) return undefined;
      const read = this.#value(element, (raw as PlainObject)[key], depth);
      if (read === undefined) return undefined;
      this.#bytes.end(start);
      setOwnProperty(entries, key, read);
    }
    return entries;
  }

  /** Writes a tag and a value; nothing for a zero that is not written. */
  #value(field: EncodingFieldPlan, raw: unknown, depth: number): unknown {
    const bytes = this.#bytes;
    switch (field.form) {
      case form.STRING:
        if (typeof raw !== "string") return undefined;
        if (raw === "" && !field.hasPresence) return raw;
        this.#tag(field);
        return bytes.text(raw) ? raw : undefined;
      case form.BOOL:
        if (typeof raw !== "boolean") return undefined;
        if (!raw && !field.hasPresence) return raw;
        this.#tag(field);
        bytes.varint32(raw ? 1 : 0);
        return raw;
      case form.INTEGER:
      case form.LONG: {
        const integer = integerOf(raw);
        if (integer === undefined || integer < field.least || integer > field.most) return undefined;
        if (integer !== 0 || field.hasPresence) {
          this.#tag(field);
          bytes.integer(integer);
        }
        return field.form === form.LONG ? BigInt(integer) : integer;
      }
      case form.ENUM: {
        const number = typeof raw === "string" ? field.numbers.get(raw) : undefined;
        if (number === undefined) return undefined;
        if (number === field.zero && !field.hasPresence) return number;
        this.#tag(field);
        bytes.integer(number);
        return number;
      }
      case form.MESSAGE: {
        if (field.message === undefined) return undefined;
        bytes.varint32(field.tag);
        const start = bytes.begin();
        const read = this.#message(field.message, raw, depth + 1);
        bytes.end(start);
        return read;
      }
      case form.DOUBLE:
      case form.FLOAT:
        return this.#float(field, raw);
      case form.BYTES: {
        const read = raw instanceof Uint8Array ? raw : typeof raw === "string" ? decodeBase64(raw) : undefined;
        if (read === undefined || (read.length === 0 && !field.hasPresence)) return read;
        this.#tag(field);
        bytes.bytes(read);
        return read;
      }
      default:
        return undefined;
    }
  }

  #float(field: EncodingFieldPlan, raw: unknown): number | undefined {
    if (typeof raw !== "number") return undefined;
    if (Object.is(raw, 0) && !field.hasPresence) return raw;
    this.#tag(field);
    if (field.form === form.DOUBLE) {
      this.#bytes.double(raw);
      return raw;
    }
    if (Number.isFinite(raw) && Math.abs(raw) > LARGEST_FLOAT) return undefined;
    this.#bytes.float(raw);
    return raw;
  }

  #tag({ tag }: EncodingFieldPlan): void {
    if (tag !== 0) this.#bytes.varint32(tag);
  }

  /** Writes the content of a message and returns it. */
  #message(message: DescMessage, raw: unknown, depth: number): unknown {
    const plan = this.#plans.of(message);
    switch (plan.representation) {
      case "fields":
        return this.#object(plan, raw, false, depth);
      case "any":
        return this.#any(plan, raw, depth);
      case "duration":
        return this.#time(plan, readDuration(raw, this.#problems));
      case "timestamp":
        return this.#time(plan, readTimestamp(raw, this.#problems));
      case "field-mask": {
        const paths = readFieldMask(raw, this.#problems);
        for (const path of paths ?? []) {
          this.#bytes.varint32(inMask.PATHS);
          this.#bytes.text(path);
        }
        return paths && inheriting(plan, { paths });
      }
      case "struct":
        return this.#struct(raw, depth) ? raw : undefined;
      case "value":
        return this.#json(raw, depth) ? raw : undefined;
      case "list-value":
        return this.#jsonList(raw, depth) ? raw : undefined;
      case "wrapper": {
        const value = plan.fields.get("value");
        const read = value && this.#value(value, raw, depth);
        return read === undefined ? undefined : inheriting(plan, { value: read });
      }
    }
  }

  #any(plan: EncodingPlan, raw: unknown, depth: number): AnyContent | undefined {
    const typeUrl = isPlainObject(raw) && depth <= DEEPEST ? typeUrlOf(raw) : undefined;
    const inner = typeUrl === undefined ? undefined : this.#planOfType(typeUrl);
    if (typeUrl === undefined || inner === undefined) return undefined;
    const bytes = this.#bytes;
    bytes.varint32(inAny.TYPE_URL);
    if (!bytes.text(typeUrl)) return undefined;
    const before = bytes.length;
    bytes.varint32(inAny.VALUE);
    const start = bytes.begin();
    const content = this.#typed(inner, raw as PlainObject, depth + 1);
    if (content === undefined) return undefined;
    if (bytes.length === start) bytes.rewind(before);
    else bytes.end(start);
    const any = inheriting(plan, { typeUrl }) as unknown as AnyContent;
    rememberDecoded(any, { message: inner.message, content: content as Content });
    return any;
  }

  /** Writes the content of an `Any`; a message with a form of its own stands in its `value`. */
  #typed(plan: EncodingPlan, value: PlainObject, depth: number): unknown {
    if (plan.representation === "fields") return this.#object(plan, value, true, depth);
    for (const key in value) if (key !== "@type" && key !== "value") return undefined;
    return this.#message(plan.message, value["value"], depth);
  }

  #time(plan: EncodingPlan, time: ReturnType<typeof readDuration>): Content | undefined {
    if (time === undefined) return undefined;
    const seconds = Number(time.seconds);
    if (seconds !== 0) {
      this.#bytes.varint32(inTime.SECONDS);
      this.#bytes.integer(seconds);
    }
    if (time.nanos !== 0) {
      this.#bytes.varint32(inTime.NANOS);
      this.#bytes.integer(time.nanos);
    }
    return inheriting(plan, time);
  }

  #struct(raw: unknown, depth: number): boolean {
    const keys = isPlainObject(raw) && depth <= DEEPEST ? sortedKeys(raw) : undefined;
    if (keys === undefined) return false;
    const bytes = this.#bytes;
    for (const key of keys) {
      bytes.varint32(inStruct.FIELDS);
      const start = bytes.begin();
      bytes.varint32(inEntry.KEY);
      if (!bytes.text(key)) return false;
      bytes.varint32(inEntry.VALUE);
      const valueStart = bytes.begin();
      if (!this.#json((raw as PlainObject)[key], depth + LEVELS_OF_OBJECT)) return false;
      bytes.end(valueStart);
      bytes.end(start);
    }
    return true;
  }

  #jsonList(raw: unknown, depth: number): boolean {
    if (!Array.isArray(raw) || depth > DEEPEST) return false;
    const bytes = this.#bytes;
    for (let index = 0; index < raw.length; index++) {
      bytes.varint32(inList.VALUES);
      const start = bytes.begin();
      if (!this.#json(raw[index], depth + LEVELS_OF_LIST)) return false;
      bytes.end(start);
    }
    return true;
  }

  /** Writes any JSON as a `google.protobuf.Value`. */
  #json(raw: unknown, depth: number): boolean {
    const bytes = this.#bytes;
    switch (typeof raw) {
      case "string":
        bytes.varint32(inValue.STRING);
        return bytes.text(raw);
      case "number":
        bytes.varint32(inValue.NUMBER);
        bytes.double(raw);
        return Number.isFinite(raw);
      case "boolean":
        bytes.varint32(inValue.BOOL);
        bytes.varint32(raw ? 1 : 0);
        return true;
      case "object": {
        if (raw === null) {
          bytes.varint32(inValue.NULL);
          bytes.varint32(0);
          return true;
        }
        const isList = Array.isArray(raw);
        bytes.varint32(isList ? inValue.LIST : inValue.STRUCT);
        const start = bytes.begin();
        const isWritten = isList ? this.#jsonList(raw, depth) : this.#struct(raw, depth);
        bytes.end(start);
        return isWritten;
      }
      default:
        return false;
    }
  }
}

function inheriting(plan: EncodingPlan, fields: object): Content {
  return Object.assign(Object.create(plan.empty) as Content, fields);
}

/** Whether a value is an object without a class, whose content is in its fields. */
function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function typeUrlOf(value: PlainObject): string | undefined {
  const type = value["@type"];
  if (typeof type !== "string" || type === "") return undefined;
  return type.includes("/") ? type : `${TYPE_URL_PREFIX}${type}`;
}

/** Returns an integer that a number holds exactly. */
function integerOf(raw: unknown): number | undefined {
  if (typeof raw === "number") return Number.isSafeInteger(raw) ? raw + 0 : undefined;
  return typeof raw === "string" && INTEGER.test(raw) ? Number(raw) + 0 : undefined;
}

/** Undefined if keys are among them that are like those of a list, which objects have in another order than others. */
function sortedKeys(value: PlainObject): readonly string[] | undefined {
  const keys = Object.keys(value);
  if (keys.length < 2) return keys;
  if (keys.some(isLikeIndex)) return undefined;
  return keys.sort(compareText);
}

function isLikeIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}
