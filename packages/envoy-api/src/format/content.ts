import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { Schema } from "../descriptor/schema.ts";
import type { ProblemList } from "./problem-list.ts";

/** How many nested Anys are decoded. No real message is deeper; one that is, is an attack. */
export const DEEPEST_ANY = 60;

/** A decoded message with fields by the local names of its descriptor. */
export type Content = Message & { [localName: string]: unknown };

/** A decoded message with its descriptor. */
export interface Decoded {
  readonly message: DescMessage;
  readonly content: Content;
}

// The decoded content of an Any, which is often needed right after it was read. A property and not a WeakMap, whose
// entries cost more in garbage collection than decoding does.
const DECODED: unique symbol = Symbol("decoded");

/** A `google.protobuf.Any` in a decoded message. */
export interface AnyContent extends Message {
  typeUrl: string;
  value: Uint8Array;
  [DECODED]?: Decoded | "unreadable";
}

/** Caches the content that was encoded into an `Any`. */
export function rememberDecoded(any: AnyContent, decoded: Decoded): void {
  any[DECODED] = decoded;
}

/** Decodes an `Any`; undefined if its type is unknown or its value is not such a message. */
export function decodeAny(any: AnyContent, schema: Schema): Decoded | undefined {
  const remembered = any[DECODED];
  if (remembered !== undefined) return remembered === "unreadable" ? undefined : remembered;
  const decoded = decodeAnew(any, schema);
  any[DECODED] = decoded ?? "unreadable";
  return decoded;
}

function decodeAnew(any: AnyContent, schema: Schema): Decoded | undefined {
  const message = schema.message(any.typeUrl);
  if (message === undefined) return undefined;
  try {
    return { message, content: decodeContent(message, any.value) };
  } catch {
    // An Any is opaque to a relay: what cannot be decoded is passed on as it is (B-MSC-09).
    return undefined;
  }
}

/** Decodes a message. Throws an `Error` if the bytes are not such a message. */
export function decodeContent(message: DescMessage, bytes: Uint8Array): Content {
  return fromBinary(message, bytes) as Content;
}

/** Decodes a message; adds a problem and returns undefined if the bytes are not such a message. */
export function decodeOrReport(message: DescMessage, bytes: Uint8Array, problems: ProblemList): Content | undefined {
  try {
    return decodeContent(message, bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.error("MESSAGE_MALFORMED", `expected the bytes of a ${message.typeName}: ${reason}`);
    return undefined;
  }
}

/** Encodes fields in order of their numbers, and maps in insertion order. */
export function encodeContent(message: DescMessage, content: Message): Uint8Array {
  return toBinary(message, content);
}
