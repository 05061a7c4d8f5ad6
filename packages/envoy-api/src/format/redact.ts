import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { type AnyContent, type Content, DEEPEST_ANY, decodeAny, encodeContent, rememberDecoded } from "./content.ts";
import { forEachField, isKeptPlain, messagesIn } from "./present-field.ts";
import { standsForJson } from "./struct-message.ts";

/** Replaces a secret text. */
export const REDACTED = "[redacted]";

/** Replaces secret bytes; recognised by identity. */
export const redactedBytes: Uint8Array = new TextEncoder().encode(REDACTED);

// Fields that only say where a secret is; operators need to see them.
const NAMES_OF_PLACES = new Set(["filename", "environment_variable", "watched_directory"]);

// Headers that hold credentials, wherever a header is added to a request.
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|set-cookie|.*(api-?key|token|secret|password).*)$/i;

/**
 * Replaces secrets in a decoded message, in place: every field that Envoy marks as sensitive with all text below it,
 * the values of headers such as `authorization`, and unreadable parts of a Secret. Returns whether there were any.
 */
export function redact(message: DescMessage, content: Content, schema: Schema): boolean {
  const redaction = new Redaction(schema, schema.shapeOf(message).isSecret);
  redaction.visit(message, content, false);
  return redaction.hasFound;
}

/** Returns a copy of a JSON object in which the values of keys that name secrets are replaced. */
export function redactKeys(struct: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(struct).map(([key, value]) => [
    key,
    SECRET_HEADER.test(key) ? REDACTED : redactWithin(value),
  ]);
  return Object.fromEntries(entries);
}

function redactWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactWithin);
  return typeof value === "object" && value !== null ? redactKeys({ ...value }) : value;
}

class Redaction {
  readonly #schema: Schema;
  readonly #hidesUnreadable: boolean;
  #anyLevels = DEEPEST_ANY;
  #hasFound = false;

  constructor(schema: Schema, hidesUnreadable: boolean) {
    this.#schema = schema;
    this.#hidesUnreadable = hidesUnreadable;
  }

  get hasFound(): boolean {
    return this.#hasFound;
  }

  visit(message: DescMessage, content: Content, isSecret: boolean): void {
    if (this.#hidesUnreadable || isSecret) delete content.$unknown;
    if (representationOf(message) === "any") {
      this.#any(content as unknown as AnyContent, isSecret);
      return;
    }
    const shape = this.#schema.shapeOf(message);
    const isHeader = shape.isHeader && SECRET_HEADER.test(String(content["key"]));
    forEachField(shape, content, (field, value) => {
      if (isSecret && NAMES_OF_PLACES.has(field.name)) return;
      const isMarked = shape.sensitive.has(field) || (isHeader && field.name !== "key");
      this.#field(content, field, value, isSecret || isMarked);
    });
  }

  #field(content: Content, field: DescField, value: unknown, isSecret: boolean): void {
    for (const nested of messagesIn(field, value)) {
      if (field.message !== undefined) this.visit(field.message, nested.content, isSecret);
    }
    if (!isSecret || (field.message !== undefined && !isKeptPlain(field))) return;
    this.#hasFound = true;
    setField(content, field, blank(field, value));
  }

  #any(any: AnyContent, isSecret: boolean): void {
    const isTooDeep = this.#anyLevels <= 0;
    const decoded = isTooDeep ? undefined : decodeAny(any, this.#schema);
    if (decoded === undefined) {
      if (!this.#hidesUnreadable && !isSecret && !isTooDeep) return;
      this.#hasFound = true;
      any.value = redactedBytes;
      return;
    }
    this.#anyLevels--;
    this.visit(decoded.message, decoded.content, isSecret);
    this.#anyLevels++;
    any.value = encodeContent(decoded.message, decoded.content);
    rememberDecoded(any, decoded);
  }
}

function setField(content: Content, field: DescField, value: unknown): void {
  if (field.oneof === undefined) content[field.localName] = value;
  else content[field.oneof.localName] = { case: field.localName, value };
}

function blank(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list") return (value as readonly unknown[]).map((element) => blankElement(field, element));
  if (field.fieldKind === "map") {
    const entries = Object.entries(value as object);
    return Object.fromEntries(entries.map(([key, element]) => [key, blankElement(field, element)]));
  }
  return blankElement(field, value);
}

/** Numbers and booleans stay: they are settings of a secret, not the secret. */
function blankElement(field: DescField, value: unknown): unknown {
  if (field.message !== undefined && standsForJson(field.message)) return { [REDACTED]: true };
  if (typeof value === "string") return REDACTED;
  return value instanceof Uint8Array ? redactedBytes : value;
}
