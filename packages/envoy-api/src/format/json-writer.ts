import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { encodeBase64 } from "../platform.ts";
import { type AnyContent, type Content, DEEPEST_ANY, decodeAny } from "./content.ts";
import { forEachField, isKeptPlain } from "./present-field.ts";
import { redactedBytes } from "./redact.ts";
import { REDACTED } from "./redact-json.ts";
import { jsonOf, standsForJson } from "./struct-message.ts";
import { setOwnProperty } from "./well-known.ts";

/**
 * Whether fields are printed with canonical JSON names, as `connectTimeout`, or with proto names, as `connect_timeout`
 * in Envoy's documentation.
 */
export type FieldNames = "json" | "proto";

/**
 * Prints decoded messages as JSON values. An `Any` that cannot be decoded is printed as its bytes, without an error.
 */
export class JsonWriter {
  readonly #schema: Schema;
  readonly #names: FieldNames;
  #anyLevels = DEEPEST_ANY;

  constructor(schema: Schema, names: FieldNames) {
    this.#schema = schema;
    this.#names = names;
  }

  write(message: DescMessage, content: Message): JsonValue {
    switch (representationOf(message)) {
      case "fields":
        return this.#fields(message, content as Content, {});
      case "any":
        return this.#any(content as AnyContent);
      case "duration":
        return formatDuration(content as unknown as TimeParts);
      case "timestamp":
        return formatTimestamp(content as unknown as TimeParts);
      case "field-mask":
        return (content as unknown as { paths: readonly string[] }).paths.map(formatMaskPath).join(",");
      case "wrapper":
        return this.#wrapped(message, (content as Content)["value"]);
      default:
        return jsonOf(content);
    }
  }

  /** Prints a message with `@type`, as the content of an `Any`. */
  writeTyped(message: DescMessage, content: Message, typeUrl: string): JsonValue {
    if (representationOf(message) === "fields") return this.#fields(message, content as Content, { "@type": typeUrl });
    return { "@type": typeUrl, value: this.write(message, content) };
  }

  #fields(message: DescMessage, content: Content, json: Record<string, JsonValue>): JsonValue {
    forEachField(this.#schema.shapeOf(message), content, (field, value) => {
      setOwnProperty(json, this.#names === "json" ? field.jsonName : field.name, this.#field(field, value));
    });
    return json;
  }

  #field(field: DescField, value: unknown): JsonValue {
    switch (field.fieldKind) {
      case "list":
        return (value as readonly unknown[]).map((element) => this.#element(field, element));
      case "map": {
        const object = {};
        for (const [key, element] of Object.entries(value as object))
          setOwnProperty(object, key, this.#element(field, element));
        return object;
      }
      default:
        return this.#element(field, value);
    }
  }

  #element(field: DescField, value: unknown): JsonValue {
    if (field.enum !== undefined) return enumJson(field.enum, value as number);
    if (field.message === undefined) return scalarJson(field.scalar, value);
    if (!isKeptPlain(field)) return this.write(field.message, value as Message);
    return standsForJson(field.message) ? (value as JsonValue) : this.#wrapped(field.message, value);
  }

  #wrapped(message: DescMessage, value: unknown): JsonValue {
    return scalarJson(message.fields[0]?.scalar, value);
  }

  #any(any: AnyContent): JsonValue {
    if (any.typeUrl === "") return {};
    const decoded = this.#anyLevels > 0 ? decodeAny(any, this.#schema) : undefined;
    if (decoded !== undefined) {
      this.#anyLevels--;
      const json = this.writeTyped(decoded.message, decoded.content, any.typeUrl);
      this.#anyLevels++;
      return json;
    }
    return { "@type": any.typeUrl, value: bytesJson(any.value) };
  }
}

function enumJson(descriptor: DescEnum, number: number): JsonValue {
  if (descriptor.typeName === "google.protobuf.NullValue") return null;
  return descriptor.value[number]?.name ?? number;
}

function scalarJson(scalar: ScalarType | undefined, value: unknown): JsonValue {
  switch (typeof value) {
    case "bigint":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) return String(value);
      return scalar === ScalarType.FLOAT ? shortestFloat(value) : value;
    case "string":
    case "boolean":
      return value;
    default:
      return value instanceof Uint8Array ? bytesJson(value) : null;
  }
}

const FLOAT_DIGITS = [6, 7, 8];

/** Returns the shortest number that is the same float: 0.1, not 0.10000000149011612. */
function shortestFloat(value: number): number {
  for (const digits of FLOAT_DIGITS) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}

function bytesJson(bytes: Uint8Array): string {
  if (bytes === redactedBytes) return REDACTED;
  return encodeBase64(bytes);
}

interface TimeParts {
  readonly seconds: bigint;
  readonly nanos: number;
}

function formatDuration({ seconds, nanos }: TimeParts): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  return `${sign}${whole}${formatFraction(Math.abs(nanos))}s`;
}

function formatTimestamp({ seconds, nanos }: TimeParts): string {
  const date = new Date(Number(seconds) * 1000);
  // Outside the range of dates; printed all the same, to show what is there.
  if (Number.isNaN(date.getTime())) return `${seconds}s after 1970-01-01T00:00:00Z`;
  return `${date.toISOString().slice(0, -5)}${formatFraction(nanos)}Z`;
}

/** Returns "" or a dot with 3, 6 or 9 digits. */
function formatFraction(nanos: number): string {
  if (nanos === 0) return "";
  return `.${String(nanos)
    .padStart(9, "0")
    .replace(/(000){1,2}$/, "")}`;
}

function formatMaskPath(path: string): string {
  return path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
