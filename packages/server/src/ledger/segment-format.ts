import { crc32 } from "node:zlib";
import { nextTurn } from "../next-turn.ts";
import type { LedgerFile } from "./ledger-files.ts";
import type { LedgerHead } from "./store.ts";
import { piecesOf } from "./text-pieces.ts";

/** The first line of every file of a ledger; any other one means another format version. */
export const HEADER = "xdskit ledger 1";

const READ_AT_ONCE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const SPACE = 0x20;
/** Of the checksum and the space behind it. */
export const CHECKSUM_LENGTH = 9;

/** Where a line stands; its newline does not count. */
export interface LinePart {
  readonly offset: number;
  readonly length: number;
}

/** A line with a good checksum. */
export interface Line extends LinePart {
  readonly kind: string;
  /** What stands behind the kind. */
  readonly content: Buffer;
}

/** A line whose checksum is wrong, or that ends without a newline; `number` is from 1. */
export interface BadLine {
  readonly kind: undefined;
  readonly offset: number;
  readonly number: number;
  readonly isComplete: boolean;
}

/** A checksum of the rest, the kind, and content without a newline. */
export function formatLine(kind: string, content: string): string {
  const rest = content === "" ? kind : `${kind} ${content}`;
  return `${crc32(rest).toString(16).padStart(8, "0")} ${rest}\n`;
}

/** A line as `formatLine` makes it, in parts, which takes several turns of the event loop if it is long. */
export async function* formatLongLine(kind: string, content: string): AsyncIterable<string> {
  const pieces = [...piecesOf(`${kind} ${content}`)];
  let checksum = 0;
  for (const piece of pieces) {
    checksum = crc32(piece, checksum);
    if (pieces.length > 1) await nextTurn();
  }
  yield `${checksum.toString(16).padStart(8, "0")} `;
  yield* pieces;
  yield "\n";
}

export function formatHead({ number, id }: LedgerHead): string {
  return `${number} ${id === "" ? "-" : id}`;
}

/** Undefined: the content is no head. What stands behind it is `rest`. */
export function parseHead(content: Buffer): { readonly head: LedgerHead; readonly rest: Buffer } | undefined {
  const numberEnd = content.indexOf(SPACE);
  if (numberEnd < 0) return undefined;
  const end = content.indexOf(SPACE, numberEnd + 1);
  const idEnd = end < 0 ? content.length : end;
  const number = Number(content.toString("latin1", 0, numberEnd));
  if (!Number.isSafeInteger(number) || number < 0) return undefined;
  const id = content.toString("latin1", numberEnd + 1, idEnd);
  return { head: { number, id: id === "-" ? "" : id }, rest: content.subarray(Math.min(idEnd + 1, content.length)) };
}

/** The word at the start, and how long it is with the space behind it. */
export function parseWord(content: Buffer): { readonly word: string; readonly length: number } {
  const end = content.indexOf(SPACE);
  return end < 0
    ? { word: content.toString("latin1"), length: content.length }
    : { word: content.toString("latin1", 0, end), length: end + 1 };
}

/** Whether the file begins with the header. */
export async function hasHeader(file: LedgerFile): Promise<boolean> {
  return (await file.read(0, HEADER.length + 1)).toString("latin1") === `${HEADER}\n`;
}

/** The lines behind the header up to the byte `to`, several at a time, bad ones too. */
export async function* readLines(file: LedgerFile, to: number): AsyncIterable<readonly (Line | BadLine)[]> {
  let offset = HEADER.length + 1;
  let rest: Buffer = Buffer.alloc(0);
  let number = 2;
  while (offset + rest.length < to) {
    const from = offset + rest.length;
    // A line longer than what is read at once doubles it, so that no line is copied more than a few times.
    const bytes = await file.read(from, Math.min(Math.max(READ_AT_ONCE_BYTES, rest.length), to - from));
    if (bytes.length === 0) break;
    const buffer = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const lines: (Line | BadLine)[] = [];
    let start = 0;
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, start)) {
      lines.push(parseLine(buffer.subarray(start, end), offset + start, number++));
      start = end + 1;
    }
    yield lines;
    offset += start;
    rest = buffer.subarray(start);
  }
  if (rest.length > 0) yield [{ kind: undefined, offset, number, isComplete: false }];
}

/** A line whose place is known already. Undefined: its checksum is wrong. */
export async function readLineAt(file: LedgerFile, { offset, length }: LinePart): Promise<Line | undefined> {
  return goodLine(await file.read(offset, length), offset);
}

/** A line that was read by its place; undefined: its checksum is wrong. */
export interface ReadLine<T extends LinePart> {
  readonly part: T;
  readonly line: Line | undefined;
}

/** Several lines whose places are known, by their offsets; those that stand near each other are read together. */
export async function* readLinesAt<T extends LinePart>(
  file: LedgerFile,
  parts: readonly T[],
): AsyncIterable<ReadLine<T>> {
  let from = 0;
  let near: T[] = [];
  for (const part of parts.toSorted((a, b) => a.offset - b.offset)) {
    if (near.length > 0 && part.offset + part.length > from + READ_AT_ONCE_BYTES) {
      yield* readTogether(file, from, near);
      near = [];
    }
    if (near.length === 0) from = part.offset;
    near.push(part);
  }
  yield* readTogether(file, from, near);
}

async function* readTogether<T extends LinePart>(
  file: LedgerFile,
  from: number,
  parts: readonly T[],
): AsyncIterable<ReadLine<T>> {
  const last = parts.at(-1);
  if (last === undefined) return;
  const bytes = await file.read(from, last.offset + last.length - from);
  for (const part of parts) {
    const start = part.offset - from;
    yield { part, line: goodLine(bytes.subarray(start, start + part.length), part.offset) };
  }
}

function goodLine(bytes: Buffer, offset: number): Line | undefined {
  const line = parseLine(bytes, offset, 0);
  return line.kind === undefined ? undefined : line;
}

function parseLine(bytes: Buffer, offset: number, number: number): Line | BadLine {
  const rest = bytes.subarray(CHECKSUM_LENGTH);
  if (bytes.length <= CHECKSUM_LENGTH || Number.parseInt(bytes.toString("latin1", 0, 8), 16) !== crc32(rest))
    return { kind: undefined, offset, number, isComplete: true };
  const { word, length } = parseWord(rest);
  return { kind: word, content: rest.subarray(length), offset, length: bytes.length };
}
