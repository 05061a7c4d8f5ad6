import type { FieldProblem } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import type { ValuePath } from "@xdskit/protocol/internal";
import type { DecodedResource } from "../decoded-resource.ts";
import type { Problem } from "../problem.ts";
import type { Candidate } from "./candidate.ts";
import { type TextChange, textChange } from "./text-change.ts";

/** A resource recognised by its text, in place of the parsed value. */
export interface KnownItem {
  readonly resource: Resource;
  /** Its warnings, with paths relative to the item. */
  readonly problems: readonly FieldProblem[];
  /** The path from the item to the message: one step inside a `discovery.v3.Resource`. */
  readonly bodyPath: ValuePath;
  /** Its fields are spelled as in ProtoJSON. */
  readonly isJsonSpelled: boolean;
  /** What was last made of it; used again while it stands at the same index of the same list. */
  candidate?: Candidate;
  decoded?: DecodedResource;
  /** Its problems as they were placed last, if all of them were; used again while the item stands where it stood. */
  shown?: readonly Problem[] | undefined;
}

/** Reads an item of a list before its document is read; undefined: it waits for that. */
export type ItemReader = (value: unknown) => KnownItem | undefined;

/** Where an item of a list stands in its text. */
export interface ItemExtent {
  readonly begin: number;
  readonly end: number;
  /** The indentation of a YAML list, the depth of a JSON list; an item is known only in a list with the same. */
  readonly level: number;
}

/**
 * The resources of a list in a file by their text, so that unchanged ones are not read again. An item means the same at
 * any position, because texts of the quick readers have no anchors.
 *
 * Most of a text is as before. So the text is compared with the one before as a whole; items in its equal beginning and
 * end are the same by their place. The others are first compared with the item expected next, and only those that the
 * change touched are indexed by their text.
 */
export class ItemMemory {
  #text = "";
  /** Or its bytes, if they are its characters: they are kept in place of the text. */
  #textBefore: string | Buffer = "";
  #change: TextChange = textChange("", "");
  #before: readonly RememberedItem[] = [];
  #byText: ReadonlyMap<string, number> | undefined;
  #expected = 0;
  /** Counts the texts. */
  #round = 0;
  /** Whether a text was begun and not finished. */
  #isUnfinished = false;
  #now: RememberedItem[] = [];
  #extents = new Map<unknown, ItemExtent>();
  #readAhead: ItemReader | undefined;

  /** Sets by what items of the next text are read when they are noted. */
  readAhead(read: ItemReader): void {
    this.#readAhead = read;
  }

  /** Sets the text that items are recalled of, and whose items are noted. Returns how it differs from the one before. */
  begin(text: string): TextChange {
    this.#text = text;
    this.#isUnfinished = true;
    this.#round++;
    if (typeof this.#textBefore !== "string") this.#textBefore = this.#textBefore.toString("latin1");
    this.#change = textChange(this.#textBefore, text);
    this.#byText = undefined;
    this.#expected = 0;
    this.#now = [];
    this.#extents = new Map();
    return this.#change;
  }

  /** Forgets the text of `begin`, which a quick reader cannot read as a whole. */
  abandon(): void {
    this.#text = "";
    this.#now = [];
    this.#extents = new Map();
    this.#readAhead = undefined;
  }

  /**
   * The item that is expected next, if it is what the text continues with. The caller must know that the item ends
   * there.
   */
  recallNext(begin: number, level: number): (KnownItem & ItemExtent) | undefined {
    const { shift, endBefore } = this.#change;
    const beginBefore = begin - shift;
    // In the equal end, what comes next is what stood there.
    if (beginBefore >= endBefore) while (this.#isBefore(this.#expected, beginBefore)) this.#expected++;
    const next = this.#before[this.#expected];
    if (next?.level !== level || !this.#continuesWith(next, begin)) return undefined;
    return next.at(begin, this.#round);
  }

  #isBefore(index: number, begin: number): boolean {
    const item = this.#before[index];
    return item !== undefined && item.beginBefore < begin;
  }

  #continuesWith(item: RememberedItem, begin: number): boolean {
    const { begin: from, endBefore, shift } = this.#change;
    const { beginBefore, length } = item;
    if (beginBefore === begin && begin + length <= from) return true;
    if (beginBefore === begin - shift && beginBefore >= endBefore) return true;
    return this.#text.startsWith(this.#textOf(item), begin);
  }

  /** The item with the text at this place. */
  recall({ begin, end, level }: ItemExtent): (KnownItem & ItemExtent) | undefined {
    if (this.#before.length === 0) return undefined;
    this.#byText ??= this.#indexTouched();
    const index = this.#byText.get(this.#text.slice(begin, end));
    const item = index === undefined ? undefined : this.#before[index];
    if (index === undefined || item?.level !== level) return undefined;
    this.#expected = index;
    return item.at(begin, this.#round);
  }

  /** The items that the change touched; the others are where they are expected. */
  #indexTouched(): ReadonlyMap<string, number> {
    const { begin, endBefore } = this.#change;
    const byText = new Map<string, number>();
    for (const [index, item] of this.#before.entries()) {
      const { beginBefore, length } = item;
      if (beginBefore + length > begin && beginBefore < endBefore) byText.set(this.#textOf(item), index);
    }
    return byText;
  }

  /** Takes a recalled item as part of the text. */
  use(item: KnownItem): void {
    if (!(item instanceof RememberedItem)) return;
    this.#now.push(item);
    this.#expected++;
  }

  /** Records where a parsed item stands. Returns what stands for it in the document: its value, or what it was read as. */
  note(value: unknown, extent: ItemExtent): unknown {
    this.#expected++;
    const read = this.#readAhead?.(value);
    if (read === undefined) this.#extents.set(value, extent);
    return read === undefined ? value : this.#add(read, extent);
  }

  #add(known: KnownItem, extent: ItemExtent): RememberedItem {
    const item = new RememberedItem(known, extent, this.#round);
    this.#now.push(item);
    return item;
  }

  /** Where the item of this value, or this known item, stands; undefined if not recorded. */
  extentOf(value: unknown): ItemExtent | undefined {
    return knownExtent(value) ?? this.#extents.get(value);
  }

  /** Assigns a resource to the text of this item, if it was noted. */
  remember(value: unknown, known: KnownItem): KnownItem | undefined {
    const extent = this.#extents.get(value);
    return extent && this.#add(known, extent);
  }

  /** Keeps the current items for the next read. A single item is not worth its memory. */
  finish(): void {
    const isWorthIt = this.#now.length > 1;
    this.#before = isWorthIt ? this.#now.sort((a, b) => a.begin - b.begin) : [];
    for (const item of this.#before) item.beginBefore = item.begin;
    this.#isUnfinished = false;
    this.#textBefore = isWorthIt ? this.#text : "";
    this.#text = "";
    this.#byText = undefined;
    this.#change = textChange("", "");
    this.#now = [];
    this.#extents = new Map();
    this.#readAhead = undefined;
  }

  #textOf({ beginBefore, length }: RememberedItem): string {
    const text = this.#textBefore;
    const end = beginBefore + length;
    return typeof text === "string" ? text.slice(beginBefore, end) : text.toString("latin1", beginBefore, end);
  }

  /** The items as they were read last, in order. A text with mistakes moved some, and then nothing of it was kept. */
  get items(): readonly (KnownItem & ItemExtent)[] {
    if (this.#isUnfinished) for (const item of this.#before) item.begin = item.beginBefore;
    this.#isUnfinished = false;
    return this.#before;
  }

  /** The items that were recalled or read of the text, in any order. */
  get readNow(): readonly KnownItem[] {
    return this.#now;
  }

  /** Keeps these bytes, which must be the characters of the text as it was read last, in place of it. */
  keepAs(bytes: Buffer): void {
    this.#textBefore = bytes;
  }

  /** A memory of some of the items in a text of their own, in which they stand `shift` further on. */
  ofPart(begin: number, end: number, text: string, shift: number): ItemMemory {
    const part = new ItemMemory();
    part.#textBefore = text;
    part.#before = this.#before.slice(begin, end).map((item) => item.shifted(shift));
    return part;
  }

  /**
   * Replaces items by those that a part has read now, moves the ones behind, and takes bytes as the text. The items of
   * the part stand `shift` further on in the whole text.
   */
  replace(begin: number, end: number, part: ItemMemory, shift: number, bytes: Buffer): void {
    const moved = bytes.length - this.#textBefore.length;
    if (moved !== 0) for (let index = end; index < this.#before.length; index++) this.#before[index]?.move(moved);
    const items = part.#now.sort((a, b) => a.begin - b.begin);
    for (const item of items) item.move(shift);
    this.#before = this.#before.toSpliced(begin, end - begin, ...items);
    this.#textBefore = bytes;
  }
}

class RememberedItem implements KnownItem, ItemExtent {
  readonly resource: Resource;
  readonly problems: readonly FieldProblem[];
  readonly bodyPath: ValuePath;
  readonly isJsonSpelled: boolean;
  readonly level: number;
  readonly length: number;
  candidate?: Candidate;
  decoded?: DecodedResource;
  shown?: readonly Problem[] | undefined;
  begin: number;
  /** Where it stood in the text before. */
  beginBefore: number;
  /** The text that it was last found in. */
  #round: number;

  constructor({ resource, problems, bodyPath, isJsonSpelled }: KnownItem, extent: ItemExtent, round: number) {
    this.resource = resource;
    this.problems = problems;
    this.bodyPath = bodyPath;
    this.isJsonSpelled = isJsonSpelled;
    this.level = extent.level;
    this.length = extent.end - extent.begin;
    this.begin = extent.begin;
    this.beginBefore = extent.begin;
    this.#round = round;
  }

  get end(): number {
    return this.begin + this.length;
  }

  move(by: number): void {
    this.begin += by;
    this.beginBefore = this.begin;
  }

  /** The same item in another text. */
  shifted(by: number): RememberedItem {
    const begin = this.begin + by;
    return new RememberedItem(this, { begin, end: begin + this.length, level: this.level }, 0);
  }

  /** The item at this place; each has its own, because a text may hold an item twice. */
  at(begin: number, round: number): RememberedItem {
    if (this.#round === round) {
      return new RememberedItem(this, { begin, end: begin + this.length, level: this.level }, round);
    }
    this.#round = round;
    this.begin = begin;
    return this;
  }
}

/** The known resource that a value of a document stands for, if any. */
export function knownItem(value: unknown): KnownItem | undefined {
  return value instanceof RememberedItem ? value : undefined;
}

/** Where a known item stands that a value of a document stands for. */
export function knownExtent(value: unknown): ItemExtent | undefined {
  return value instanceof RememberedItem ? value : undefined;
}
