import type { StoredRecord } from "@xdskit/server/ledger-store";
import { unreadable } from "./unreadable.ts";

/** Values are cut into parts of this length: etcd takes no request above 1.5 MiB. */
export const PART_BYTES: number = 512 * 1024;

/** The value of the key of an append. */
export interface Batch {
  /** Random, so that a writer recognises its own append. */
  readonly attempt: string;
  /** How many parts the text has elsewhere; 0: it follows. */
  readonly parts: number;
  readonly text: string;
}

export function encodeBatch({ attempt, parts, text }: Batch): Buffer {
  return Buffer.from(`${attempt} ${parts}\n${text}`);
}

/** Throws, and names the key, if the bytes are none of `encodeBatch`. */
export function decodeBatch(bytes: Buffer, key: string): Batch {
  const end = bytes.indexOf("\n");
  const [, attempt, parts] = /^([0-9a-f]+) (\d+)$/.exec(bytes.toString("latin1", 0, Math.max(end, 0))) ?? [];
  if (attempt === undefined) throw unreadable(key, "expected the records of an append");
  return { attempt, parts: Number(parts), text: bytes.toString("utf8", end + 1) };
}

export function formatRecords(records: readonly StoredRecord[]): string {
  return records.map(({ number, id, text }) => `${number} ${id} ${text}`).join("\n");
}

/** Throws, and names the key, if the text is none of `formatRecords`. */
export function parseRecords(text: string, key: string): readonly StoredRecord[] {
  return text.split("\n").map((line) => {
    const [, number, id, record] = /^(\d+) (\S+) (.*)$/s.exec(line) ?? [];
    if (number === undefined || id === undefined || record === undefined)
      throw unreadable(key, "expected a number, an id and a text in each line");
    return { number: Number(number), id, text: record };
  });
}

/** The parts of a value; at least one. */
export function partsOf(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PART_BYTES) parts.push(bytes.subarray(at, at + PART_BYTES));
  return parts.length === 0 ? [bytes] : parts;
}

/** The first part of a body, with the number of all its parts. */
export function encodeFirstPart(first: Uint8Array, parts: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(parts);
  return Buffer.concat([count, first]);
}

/** Throws, and names the key, if the bytes are none of `encodeFirstPart`. */
export function decodeFirstPart(bytes: Buffer, key: string): { readonly first: Buffer; readonly parts: number } {
  const parts = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  if (parts === 0) throw unreadable(key, "expected the first part of a body");
  return { first: bytes.subarray(4), parts };
}
