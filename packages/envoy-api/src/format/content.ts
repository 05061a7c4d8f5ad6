import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { Schema } from "../descriptor/schema.ts";
import type { ProblemList } from "./problem-list.ts";

/** How many Anys are looked into, one in the other. Nothing real is nested as deep; what is, was made to exhaust us. */
export const DEEPEST_ANY = 60;

/** A decoded message whose fields are looked up by the local names of its descriptor. */
export type Content = Message & { [localName: string]: unknown };

/** A decoded message with its descriptor. */
export interface Decoded {
  readonly message: DescMessage;
  readonly content: Content;
}

// What stands in an Any is often needed again right after it was read or decoded. A property and not a WeakMap, whose
// entries cost the garbage collector more than the reading costs us.
const DECODED: unique symbol = Symbol("decoded");

/** A `google.protobuf.Any` as it is kept in a message. */
export interface AnyContent extends Message {
  typeUrl: string;
  value: Uint8Array;
  [DECODED]?: Decoded | "unreadable";
}

/** Remembers what was encoded into an `Any`, so that it need not be decoded to walk through it. */
export function rememberDecoded(any: AnyContent, decoded: Decoded): void {
  any[DECODED] = decoded;
}

/** What stands in an `Any`; undefined if its type is not known, or its value is no such message. */
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
    // An Any is opaque to whoever relays it: what cannot be read is passed on as it is (B-MSC-09).
    return undefined;
  }
}

/** Throws an `Error` on bytes that are no such message. */
export function decodeContent(message: DescMessage, bytes: Uint8Array): Content {
  return fromBinary(message, bytes) as Content;
}

/** The same, with a problem instead of an error. */
export function decodeOrReport(message: DescMessage, bytes: Uint8Array, problems: ProblemList): Content | undefined {
  try {
    return decodeContent(message, bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.error("MESSAGE_MALFORMED", `expected the bytes of a ${message.typeName}: ${reason}`);
    return undefined;
  }
}

/** Fields in the order of their numbers, maps in the order that their reader gave them. */
export function encodeContent(message: DescMessage, content: Message): Uint8Array {
  return toBinary(message, content);
}
