import { isAscii } from "node:buffer";
import type { ValuePath } from "@xdskit/protocol/internal";
import { CandidateReader, type KnownResources } from "./candidate-reader.ts";
import type { DecodedResource } from "./decoded-resource.ts";
import { readBlockYaml } from "./document/block-yaml.ts";
import type { DocumentPlace } from "./document/document-place.ts";
import { unfold } from "./document/envelope.ts";
import type { ItemMemory } from "./document/item-memory.ts";
import { readJson } from "./document/json.ts";
import type { ParsedDocument } from "./document/parsed-text.ts";
import type { PlacedText, ShownPlace } from "./document/placed-text.ts";
import { entryOf, isMapping } from "./document/places.ts";
import { SourceText } from "./document/source-text.ts";
import { byteChange, type TextChange } from "./document/text-change.ts";
import { DecodedDocuments, decodedAt } from "./document-decoding.ts";
import { firstIndex } from "./file-chunks.ts";
import type { FileContent, KnownList } from "./file-content.ts";
import { mostInFile } from "./problem-bound.ts";
import type { Decoding } from "./read-resource.ts";

/** A text file to decode. */
export interface TextFile {
  readonly file: string;
  readonly format: "yaml" | "json";
  readonly bytes: Uint8Array;
}

/** Consecutive items, and where they stand in the text before and now. */
interface Range {
  readonly begin: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly toBefore: number;
  readonly isLast: boolean;
}

/** The most items to read again around a change. Of a larger one, the whole file is read, which recognises items, too. */
const MOST_AROUND = 256;
const LINE_BREAK = 10;

/**
 * Remembers a file that was read without mistakes, if it is a list of resources that are all known, and nothing else.
 * Returns its content then.
 */
export function rememberList(
  { bytes: read, format }: TextFile,
  documents: readonly ParsedDocument[],
  known: KnownResources,
  decoded: DecodedDocuments,
): FileContent | undefined {
  known.list = undefined;
  const { items } = known.items;
  const [value] = documents.map((document) => document.value);
  if (documents.length !== 1 || items.length < 2 || decoded.refused.length > 0) return undefined;
  if (decoded.resources.length !== items.length) return undefined;
  const key = Array.isArray(value) ? undefined : "resources";
  const list = key === undefined ? value : entryOf(value, key);
  if (!Array.isArray(list) || list.length !== items.length || !isAscii(read)) return undefined;
  const bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
  known.items.keepAs(bytes);
  const content = decoded.placedLater(new TextOfItems(bytes, format, key, items));
  known.list = { bytes, key, content };
  return content;
}

/**
 * Reads what changed in a file that was a list of known resources, and nothing else of it: items before and after mean
 * what they meant, because they stand at the same depth of the same list. Undefined: the file must be read as a whole.
 */
export function readChange(file: TextFile, decoding: Decoding, known: KnownResources): FileContent | undefined {
  const { list, items: memory } = known;
  if (list === undefined) return undefined;
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  const range = rangeAround(byteChange(list.bytes, bytes), memory.items, list.bytes.length, file.format);
  const part = range && readRange(file.format, bytes, range, list, memory, decoding);
  if (range === undefined || part === undefined) return undefined;
  const { begin, end } = range;
  const isLonger = part.resources.length !== end - begin;
  const isMoved = isLonger || linesIn(list.bytes, range.from, range.toBefore) !== linesIn(bytes, range.from, range.to);
  const [lineBegin, lineEnd] = [lineStartBefore(list.bytes, range.from), lineEndAfter(list.bytes, range.toBefore)];
  for (const [index, item] of memory.items.entries()) {
    if (item.shown === undefined) continue;
    if (index < begin ? item.end > lineBegin : isMoved || item.begin < lineEnd) item.shown = undefined;
  }
  memory.replace(begin, end, part.memory, part.shift, bytes);
  const resources = list.content.resources.toSpliced(begin, end - begin, ...part.resources);
  for (let index = begin + part.resources.length; isLonger && index < resources.length; index++) {
    const item = memory.items[index];
    if (item !== undefined) resources[index] = decodedAt(item, 0, [...pathTo(list, index), ...item.bodyPath]);
  }
  const content = contentOf(file, bytes, list, memory, resources);
  known.list = { bytes, key: list.key, content };
  return content;
}

function pathTo({ key }: Pick<KnownList, "key">, index: number): ValuePath {
  return key === undefined ? [index] : [key, index];
}

/** The items that a change touched, with the one before it. Undefined: it is not among items, or reaches too far. */
function rangeAround(
  { begin: from, endBefore, shift }: TextChange,
  items: ItemMemory["items"],
  lengthBefore: number,
  format: TextFile["format"],
): Range | undefined {
  const begin = firstIndex(items.length, (index) => (items[index]?.begin ?? 0) >= from) - 1;
  const first = items[begin];
  if (first === undefined) return undefined;
  const { level } = first;
  // A line of YAML belongs to the item whose dash is on it.
  const margin = format === "yaml" ? level : 0;
  let end = begin + 1;
  while (end - begin <= MOST_AROUND && end < items.length && (items[end]?.begin ?? 0) - margin < endBefore) end++;
  const next = items[end];
  const toBefore = next === undefined ? (items[end - 1]?.end ?? 0) : next.begin - margin;
  const isAtEnd = next === undefined && format === "yaml";
  if (end - begin > MOST_AROUND || toBefore < endBefore || (isAtEnd && toBefore !== lengthBefore)) return undefined;
  return { begin, end, from: first.begin - margin, to: toBefore + shift, toBefore, isLast: next === undefined };
}

interface ReadPart {
  readonly memory: ItemMemory;
  /** How far its items are moved from their text to the whole one. */
  readonly shift: number;
  readonly resources: readonly DecodedResource[];
}

/** Reads a range alone, as the whole list of a document of the same form. */
function readRange(
  format: TextFile["format"],
  bytes: Buffer,
  { begin, end, from, to, toBefore, isLast }: Range,
  list: KnownList,
  memory: ItemMemory,
  decoding: Decoding,
): ReadPart | undefined {
  const isLine = format === "json" || isLast || bytes[to - 1] === LINE_BREAK;
  if (!isLine || !isAscii(bytes.subarray(from, to))) return undefined;
  const { key } = list;
  const [head, tail] = AROUND[format][key ?? "none"];
  const textOf = (text: string): string | undefined => {
    if (format === "yaml") return `${head}${text}`;
    const items = isLast ? text : /^(.*),[ \t\r\n]*$/s.exec(text)?.[1];
    return items === undefined ? undefined : `${head}${items}${tail}`;
  };
  const before = textOf(list.bytes.toString("latin1", from, toBefore));
  const now = textOf(bytes.toString("latin1", from, to));
  if (before === undefined || now === undefined) return undefined;
  const shift = from - head.length;
  const part = memory.ofPart(begin, end, before, -shift);
  const documents = format === "yaml" ? readBlockYaml(now, undefined, part).documents : documentsOfJson(now, part);
  const value = documents?.length === 1 ? documents[0]?.value : undefined;
  if (key === undefined ? !Array.isArray(value) : !isMapping(value) || Object.keys(value).length !== 1)
    return undefined;
  const { candidates, errors, troubles } = unfold(value);
  if (errors.length + troubles.length > 0) return undefined;
  const reader = new CandidateReader(decoding, { items: part, digests: new Map() }, candidates.length + 1);
  const resources: DecodedResource[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const item = reader.read(candidate);
    if (item.resource === undefined) return undefined;
    const path = [...pathTo(list, begin + index), ...candidate.bodyPath.slice(candidate.path.length)];
    resources.push(decodedAt(item, 0, path));
  }
  return part.readNow.length === resources.length ? { memory: part, shift, resources } : undefined;
}

/** What makes a document of some items of a list. */
const AROUND = {
  yaml: { none: ["", ""], resources: ["resources:\n", ""] },
  json: { none: ["[", "]"], resources: ['{"resources":[', "]}"] },
} as const;

function documentsOfJson(text: string, items: ItemMemory): readonly ParsedDocument[] {
  return readJson(text, undefined, items).documents;
}

/** The content with the problems of all items; those that stand where they stood are the same objects. */
function contentOf(
  { file, format }: TextFile,
  bytes: Buffer,
  { key }: KnownList,
  { items }: ItemMemory,
  resources: DecodedResource[],
): FileContent {
  const decoded = new DecodedDocuments(file, resources);
  for (const [index, item] of items.entries())
    if (item.problems.length > 0) decoded.noteItem(item, { document: 0, path: pathTo({ key }, index) });
  return decoded.placedLater(new TextOfItems(bytes, format, key, items));
}

/** The text as far as problems are placed in it, which is seldom far. */
class TextOfItems implements PlacedText {
  readonly #bytes: Buffer;
  readonly #format: TextFile["format"];
  readonly #key: KnownList["key"];
  readonly #items: ItemMemory["items"];
  #text: SourceText | undefined;

  constructor(bytes: Buffer, format: TextFile["format"], key: KnownList["key"], items: ItemMemory["items"]) {
    this.#bytes = bytes;
    this.#format = format;
    this.#key = key;
    this.#items = items;
  }

  show(place: DocumentPlace): ShownPlace {
    return this.#source.show(place);
  }

  showText(place: DocumentPlace, wanted: string): ReturnType<SourceText["showText"]> {
    return this.#source.showText(place, wanted);
  }

  get #source(): SourceText {
    if (this.#text === undefined) {
      const value = this.#key === undefined ? this.#items : { [this.#key]: this.#items };
      const text = this.#bytes.toString("latin1", 0, lineEndAfter(this.#bytes, this.#lastPlaced()));
      this.#text = new SourceText(text, this.#format, undefined, { documents: [{ value, offset: 0 }], troubles: [] });
    }
    return this.#text;
  }

  /** The end of the last item whose problems may be admitted and are not placed. */
  #lastPlaced(): number {
    let problems = 0;
    let end = 0;
    for (const item of this.#items) {
      if (problems >= mostInFile) break;
      problems += item.problems.length;
      if (item.problems.length > 0 && item.shown === undefined) end = item.end;
    }
    return end;
  }
}

function linesIn(bytes: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++) if (bytes[at] === LINE_BREAK) lines++;
  return lines;
}

function lineStartBefore(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(LINE_BREAK, at - 1) + 1;
}

function lineEndAfter(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(LINE_BREAK, at);
  return found === -1 ? bytes.length : found;
}
