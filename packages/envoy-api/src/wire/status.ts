/**
 * `google.rpc.Status`: why a client refuses a response, or why a server cannot give a resource. The text of a NACK is written by
 * the peer, may be a megabyte, and ends up in logs, terminals and pages, so the server reads it cut and without what steers a
 * terminal (client-behaviours A14).
 */
import type { Status } from "@xdskit/protocol";
import { type AnyMessage, readAny, writeAny } from "./any.ts";
import { lengthTag, varintTag, type WireReader } from "./reader.ts";
import type { WireWriter } from "./writer.ts";

/** A status as it stands on the wire. */
export interface StatusMessage extends Status {
  readonly details: readonly AnyMessage[];
}

const CODE = varintTag(1);
const MESSAGE = lengthTag(2);
const DETAILS = lengthTag(3);

const MAX_TEXT_BYTES = 4096;
const CUT_MARK = " [cut]";
/** Control characters but line feed and tab, and those that break lines or turn the direction of text. */
const unprintable = /(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Reads to the end, everything as it is. Values of details are views of the bytes that are read. */
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

/** Reads to the end, for people: the text is at most 4 KB, broken or unprintable characters are U+FFFD, details are left out. */
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

/** Writes code, message and details, each unless it is at its default. */
export function writeStatus(writer: WireWriter, status: Status & Partial<StatusMessage>): void {
  writer.integer(1, status.code).optionalString(2, status.message);
  for (const detail of status.details ?? []) writer.message(3, (inner) => writeAny(inner, detail));
}

/** Text in UTF-8 as it may be kept and shown: at most 4 KB, broken or unprintable characters are U+FFFD. */
export function printableText(text: Uint8Array): string {
  if (text.length <= MAX_TEXT_BYTES) return clean(text);
  return clean(text.subarray(0, startOfCharacter(text, MAX_TEXT_BYTES - CUT_MARK.length))) + CUT_MARK;
}

function clean(text: Uint8Array): string {
  return Buffer.from(text.buffer, text.byteOffset, text.length).toString().replace(unprintable, "\ufffd");
}

/** The start of the UTF-8 character that the byte at `index` belongs to. */
function startOfCharacter(text: Uint8Array, index: number): number {
  for (let start = index; start > index - 4 && start > 0; start--) {
    if (((text[start] ?? 0) & 0xc0) !== 0x80) return start;
  }
  return index; // not UTF-8 anyway
}
