import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { type MessageShape, representationOf } from "../descriptor/message-shape.ts";
import type { Content } from "./content.ts";

const IMPLICIT_PRESENCE = 2;

/**
 * Returns the value of a field in a decoded message; undefined if it is not set. Empty lists and maps count as not set.
 */
export function fieldContent(content: Content, field: DescField): unknown {
  if (field.oneof !== undefined) {
    const member = content[field.oneof.localName] as { case: string | undefined; value?: unknown };
    return member.case === field.localName ? member.value : undefined;
  }
  const value = content[field.localName];
  switch (field.fieldKind) {
    case "list":
      return (value as readonly unknown[]).length === 0 ? undefined : value;
    case "map":
      return Object.keys(value as object).length === 0 ? undefined : value;
    case "message":
      return value;
    default:
      if (field.presence !== IMPLICIT_PRESENCE) return Object.hasOwn(content, field.localName) ? value : undefined;
      return isZero(field, value) ? undefined : value;
  }
}

function isZero(field: DescField, value: unknown): boolean {
  if (field.scalar === ScalarType.BYTES) return value instanceof Uint8Array && value.length === 0;
  if (field.scalar === ScalarType.DOUBLE || field.scalar === ScalarType.FLOAT) return Object.is(value, 0);
  return value === 0 || value === "" || value === false || value === 0n || value === "0";
}

/** A message in a field, with its list index or map key. */
export interface FieldMessage {
  readonly key: string | number | undefined;
  readonly content: Content;
}

/** Returns the messages in a field: one, those of a list, or those of a map. Omits those held as plain values. */
export function messagesIn(field: DescField, value: unknown): readonly FieldMessage[] {
  if (field.message === undefined || isKeptPlain(field)) return [];
  switch (field.fieldKind) {
    case "list":
      return (value as readonly Content[]).map((content, key) => ({ key, content }));
    case "map":
      return Object.entries(value as Readonly<Record<string, Content>>).map(([key, content]) => ({ key, content }));
    default:
      return [{ key: undefined, content: value as Content }];
  }
}

/** Whether a message field holds a plain value: the content of a wrapper, or the JSON of a Struct. */
export function isKeptPlain(field: DescField): boolean {
  if (field.message === undefined) return true;
  const representation = representationOf(field.message);
  if (representation === "struct") return field.parent.typeName !== "google.protobuf.Value";
  return representation === "wrapper" && field.fieldKind === "message" && field.oneof === undefined;
}

/** Calls `visit` for every set field, in order of field numbers. */
export function forEachField(
  shape: MessageShape,
  content: Content,
  visit: (field: DescField, value: unknown) => void,
): void {
  for (const field of shape.fields) {
    const value = fieldContent(content, field);
    if (value !== undefined) visit(field, value);
  }
}
