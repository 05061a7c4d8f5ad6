/**
 * `google.rpc.Status`: why a client NACKs a response, or why a server cannot provide a resource. A NACK's text comes
 * from the peer, may be a megabyte, and ends up in logs, terminals and pages, so the server truncates it and removes
 * terminal control characters (client-behaviours A14).
 */
import type { Status } from "@xdskit/protocol";
import { type AnyMessage, readAny, writeAny } from "./any.ts";
import { lengthTag, varintTag, type WireReader } from "./reader.ts";
import type { WireWriter } from "./writer.ts";

/** A status as on the wire. */
export interface StatusMessage extends Status {
  readonly details: readonly AnyMessage[];
}

const CODE = varintTag(1);
const MESSAGE = lengthTag(2);
const DETAILS = lengthTag(3);

const MAX_TEXT_BYTES = 4096;
const CUT_MARK = " [cut]";
/** Control characters except line feed and tab, line separators, and characters that change the direction of text. */
const unprintable = /(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Reads a status unchanged, to the end of the reader. Values of details are views of the bytes. */
export function readStatus(reader: WireReader): StatusMessage {
  let code = 0;
  let message = "";
  const details: AnyMessage[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case CODE:
        code = reader.int32();
        break;
      case MESSAGE:
        message = reader.string();
        break;
      case DETAILS:
        details.push(readAny(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return { code, message, details };
}

/** Reads a status for display: at most 4 KB of text, U+FFFD for broken or unprintable characters, no details. */
export function readPrintableStatus(reader: WireReader): Status {
  let code = 0;
  let message: Uint8Array | undefined;
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case CODE:
        code = reader.int32();
        break;
      case MESSAGE:
        message = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return { code, message: message === undefined ? "" : printableText(message) };
}

/** Writes code, message and details; omits default values. */
export function writeStatus(writer: WireWriter, status: Status & Partial<StatusMessage>): void {
  writer.integer(1, status.code).optionalString(2, status.message);
  for (const detail of status.details ?? []) writer.message(3, (inner) => writeAny(inner, detail));
}

/** Converts UTF-8 text for display: at most 4 KB, U+FFFD for broken or unprintable characters. */
export function printableText(text: Uint8Array): string {
  if (text.length <= MAX_TEXT_BYTES) return clean(text);
  return clean(text.subarray(0, startOfCharacter(text, MAX_TEXT_BYTES - CUT_MARK.length))) + CUT_MARK;
}

function clean(text: Uint8Array): string {
  return Buffer.from(text.buffer, text.byteOffset, text.length).toString().replace(unprintable, "\ufffd");
}

/** Returns the start of the UTF-8 character that holds the byte at `index`. */
function startOfCharacter(text: Uint8Array, index: number): number {
  for (let start = index; start > index - 4 && start > 0; start--) {
    if (((text[start] ?? 0) & 0xc0) !== 0x80) return start;
  }
  return index; // not UTF-8 anyway
}
