import type { DescField, DescMessage, JsonValue, Message } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { asciiText } from "../platform.ts";
import { type AnyContent, type Content, DEEPEST_ANY, decodeAny, encodeContent, rememberDecoded } from "./content.ts";
import { forEachField, isKeptPlain, messagesIn } from "./present-field.ts";
import { holdsPrivateKey, isPlaceOfSecret, isSecretHeader, REDACTED, redactJson } from "./redact-json.ts";
import { assignJson, jsonOf, standsForJson } from "./struct-message.ts";

/** Replaces secret bytes; recognised by identity. */
export const redactedBytes: Uint8Array = new TextEncoder().encode(REDACTED);

/**
 * Replaces secrets in a decoded message, in place: every field that Envoy marks as sensitive with all text below it,
 * the values of headers such as `authorization`, those of keys such as `password` in untyped configuration (Struct),
 * every text with a private key, and unreadable parts of a Secret. Returns whether there were any.
 */
export function redact(message: DescMessage, content: Content, schema: Schema): boolean {
  const redaction = new Redaction(schema, schema.shapeOf(message).isSecret);
  redaction.visit(message, content, false);
  return redaction.hasFound;
}

/**
 * Returns the path of the first secret that reads "[redacted]" in a decoded message, in proto names; undefined if there
 * is none. Redacts the message.
 */
export function findRedacted(message: DescMessage, content: Content, schema: Schema): RedactedPath | undefined {
  const redaction = new Redaction(schema, schema.shapeOf(message).isSecret);
  redaction.visit(message, content, false);
  return redaction.redactedBefore;
}

type RedactedPath = readonly (string | number)[];

class Redaction {
  readonly #schema: Schema;
  readonly #hidesUnreadable: boolean;
  readonly #path: (string | number)[] = [];
  #anyLevels = DEEPEST_ANY;
  #hasFound = false;
  #redactedBefore: RedactedPath | undefined;

  constructor(schema: Schema, hidesUnreadable: boolean) {
    this.#schema = schema;
    this.#hidesUnreadable = hidesUnreadable;
  }

  get hasFound(): boolean {
    return this.#hasFound;
  }

  /** The path of the first secret that was redacted before. */
  get redactedBefore(): RedactedPath | undefined {
    return this.#redactedBefore;
  }

  visit(message: DescMessage, content: Content, isSecret: boolean): void {
    if (this.#hidesUnreadable || isSecret) delete content.$unknown;
    if (representationOf(message) === "any") {
      this.#any(content as unknown as AnyContent, isSecret);
      return;
    }
    if (standsForJson(message)) {
      this.#json(content as unknown as Message, isSecret);
      return;
    }
    const shape = this.#schema.shapeOf(message);
    const isHeader = shape.isHeader && isSecretHeader(String(content["key"]));
    forEachField(shape, content, (field, value) => {
      if (isSecret && isPlaceOfSecret(field.name)) return;
      const isMarked = shape.sensitive.has(field) || (isHeader && field.name !== "key");
      this.#path.push(field.name);
      this.#field(content, field, value, isSecret || isMarked);
      this.#path.pop();
    });
  }

  #field(content: Content, field: DescField, value: unknown, isSecret: boolean): void {
    for (const nested of messagesIn(field, value)) {
      if (field.message === undefined) continue;
      if (nested.key !== undefined) this.#path.push(nested.key);
      this.visit(field.message, nested.content, isSecret);
      if (nested.key !== undefined) this.#path.pop();
    }
    if (field.message !== undefined && !isKeptPlain(field)) return;
    const shown = isSecret ? blank(field, value) : redactPlain(field, value);
    if (isSecret && isRedacted(value)) this.#redactedBefore ??= [...this.#path];
    if (!isSecret && Object.is(shown, value)) return;
    this.#hasFound = true;
    setField(content, field, shown);
  }

  /** A Struct, Value or ListValue that is a message of its own. */
  #json(content: Message, isSecret: boolean): void {
    const json = jsonOf(content);
    const shown = redactJson(json, isSecret);
    if (shown === json) return;
    this.#hasFound = true;
    assignJson(content, shown as JsonValue);
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

function isRedacted(value: unknown): boolean {
  return value === REDACTED || (value instanceof Uint8Array && asciiText(value) === REDACTED);
}

/** Redacts plain values of a field that is not marked as a secret; returns the same value if there is none. */
function redactPlain(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list") {
    const list = value as readonly unknown[];
    const shown = list.map((element) => redactElement(field, element));
    return shown.some((element, index) => !Object.is(element, list[index])) ? shown : value;
  }
  if (field.fieldKind !== "map") return redactElement(field, value);
  const entries = Object.entries(value as object);
  const shown = entries.map(([key, element]): [string, unknown] => [key, redactElement(field, element)]);
  return shown.some(([, element], index) => !Object.is(element, entries[index]?.[1]))
    ? Object.fromEntries(shown)
    : value;
}

function redactElement(field: DescField, value: unknown): unknown {
  if (typeof value === "string") return holdsPrivateKey(value) ? REDACTED : value;
  if (value instanceof Uint8Array) return holdsPrivateKey(asciiText(value)) ? redactedBytes : value;
  return field.message !== undefined && standsForJson(field.message) ? redactJson(value) : value;
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
