import { headOf, isSameHead, NO_RECORDS, recordAfter } from "./chain.ts";
import type { LedgerFile, LedgerFiles } from "./ledger-files.ts";
import {
  type BadLine,
  HEADER,
  hasHeader,
  type Line,
  type LinePart,
  parseHead,
  parseWord,
  readLines,
} from "./segment-format.ts";
import type { LedgerHead, StoredRecord } from "./store.ts";

/** Where a body stands. */
export interface BodyPlace extends LinePart {
  readonly file: string;
  /** Of the first record of the newest append that brought it. */
  readonly number: number;
}

/** A file with the records after `base`, up to and with `head`. */
export interface Segment {
  readonly name: string;
  readonly base: LedgerHead;
  readonly head: LedgerHead;
  /** Up to the end of the last whole append. */
  readonly bytes: number;
  /** A later one follows it. */
  readonly isSealed: boolean;
}

/** What a compaction left: a snapshot, and in two other files the records and bodies that are kept. */
export interface Generation {
  readonly number: number;
  readonly head: LedgerHead;
  readonly completeAfter: number;
  /** The line of the snapshot's text. */
  readonly text: LinePart;
}

/** What stands in the directory of a ledger. */
export interface Contents {
  readonly epoch: string | undefined;
  readonly generation: Generation | undefined;
  /** In order; the last is written to. */
  readonly segments: readonly Segment[];
  readonly bodies: Map<string, BodyPlace>;
  /** An append that was being written when the process or the machine stopped. */
  readonly torn: { readonly file: string; readonly line: number } | undefined;
  /** Files of the ledger that nothing needs any more. */
  readonly unneeded: readonly string[];
}

const FILE = /^(?<kind>records|snapshot|history|bodies)-(?<number>\d+)\.log(?<isNew>\.new)?$/;

/** Whether a file belongs to a ledger by its name. */
export const isLedgerFile = (name: string): boolean => FILE.test(name);

export const segmentName = (base: number): string => `records-${base}.log`;
export const snapshotName = (generation: number): string => `snapshot-${generation}.log`;
export const historyName = (generation: number): string => `history-${generation}.log`;
export const bodiesName = (generation: number): string => `bodies-${generation}.log`;

/** Reads the newest snapshot and what came after it. Throws if it cannot be used as it is. Changes nothing. */
export async function readContents(files: LedgerFiles): Promise<Contents> {
  const names = await files.list();
  const found = names.flatMap((name) => {
    const { kind, number, isNew } = FILE.exec(name)?.groups ?? {};
    return kind === undefined ? [] : [{ name, kind, number: Number(number), isNew: isNew !== undefined }];
  });
  const numbersOf = (kind: string): readonly number[] =>
    found.flatMap((one) => (one.kind === kind && !one.isNew ? [one.number] : [])).sort((a, b) => a - b);
  const bodies = new Map<string, BodyPlace>();
  const newest = numbersOf("snapshot").at(-1);
  const snapshot = newest === undefined ? undefined : await readSnapshot(files, newest, bodies);
  const from = snapshot?.generation.head ?? NO_RECORDS;
  // Those before the last one that begins at or before the snapshot are covered by it.
  const bases = numbersOf("records");
  const first = bases.findLastIndex((base) => base <= from.number);
  const needed = bases.slice(Math.max(first, 0));
  const scans: Scan[] = [];
  for (const base of needed) scans.push(await scanSegment(files, segmentName(base), bodies));
  const torn = checkOrder(from, scans, snapshot?.epoch);
  return {
    epoch: snapshot?.epoch ?? scans[0]?.epoch,
    generation: snapshot?.generation,
    segments: scans,
    bodies,
    torn,
    unneeded: found.flatMap(({ name, kind, number, isNew }) => {
      const isNeeded = kind === "records" ? needed.includes(number) : number === newest;
      return isNeeded && !isNew ? [] : [name];
    }),
  };
}

interface Scan extends Segment {
  readonly epoch: string;
  readonly torn: { readonly file: string; readonly line: number } | undefined;
}

/** What is torn is at the end of the last segment, or it is damage. */
function checkOrder(
  from: LedgerHead,
  scans: readonly Scan[],
  epoch: string | undefined,
): { readonly file: string; readonly line: number } | undefined {
  const [first] = scans;
  if (first === undefined && from.number > 0) throw new Error(`the records after number ${from.number} are missing`);
  if (first !== undefined && first.base.number > from.number)
    throw new Error(`the records ${from.number + 1} to ${first.base.number} are missing`);
  for (const [i, scan] of scans.entries()) {
    const next = scans[i + 1];
    if (scan.epoch !== (epoch ?? first?.epoch)) throw new Error(`${scan.name} belongs to another ledger`);
    if (next === undefined) {
      if (scan.head.number < from.number) throw new Error(`the records up to ${from.number} are missing`);
      return scan.torn;
    }
    if (scan.torn !== undefined) throw damage(scan.torn.file, scan.torn.line);
    if (!isSameHead(scan.head, next.base)) throw new Error(`${next.name} does not continue ${scan.name}`);
  }
  return undefined;
}

function damage(file: string, line: number): Error {
  return new Error(`${file}:${line} is damaged, and there are records behind it`);
}

/** Opens a file to read; throws if it is of another version. */
export async function openToRead(files: LedgerFiles, name: string): Promise<LedgerFile> {
  const file = await files.open(name, "read");
  if (await hasHeader(file)) return file;
  await file.close();
  throw new Error(`${name} is not of this version ("${HEADER}")`);
}

/** The records of a file with numbers from after `after` to `last`. `bytes`: up to there; undefined: the whole file. */
export async function* readRecords(
  files: LedgerFiles,
  name: string,
  bytes: number | undefined,
  after: number,
  last: number,
): AsyncIterable<StoredRecord> {
  const file = await openToRead(files, name);
  try {
    for await (const lines of readLines(file, bytes ?? (await file.size()) ?? 0)) {
      for (const line of lines) {
        if (line.kind === undefined) throw new Error(`${name}:${line.number} is damaged`);
        const parsed = line.kind === "record" ? parseHead(line.content) : undefined;
        if (parsed === undefined || parsed.head.number <= after) continue;
        if (parsed.head.number > last) return;
        yield { ...parsed.head, text: parsed.rest.toString("utf8") };
      }
    }
  } finally {
    await file.close();
  }
}

async function readSnapshot(
  files: LedgerFiles,
  number: number,
  bodies: Map<string, BodyPlace>,
): Promise<{ readonly epoch: string; readonly generation: Generation }> {
  const name = snapshotName(number);
  const file = await openToRead(files, name);
  let epoch = "";
  let head = NO_RECORDS;
  let completeAfter = 0;
  let text: LinePart | undefined;
  let isWhole = false;
  try {
    for await (const lines of readLines(file, (await file.size()) ?? 0)) {
      for (const line of lines) {
        if (line.kind === undefined) throw new Error(`${name}:${line.number} is damaged`);
        if (line.kind === "epoch") epoch = line.content.toString("latin1");
        else if (line.kind === "base") head = parseHead(line.content)?.head ?? head;
        else if (line.kind === "complete-after") completeAfter = Number(line.content.toString("latin1"));
        else if (line.kind === "kept") {
          const [digest = "", offset, length] = line.content.toString("latin1").split(" ");
          bodies.set(digest, { file: bodiesName(number), offset: Number(offset), length: Number(length), number: 0 });
        } else if (line.kind === "snapshot") text = partOf(line);
        else isWhole = line.kind === "commit";
      }
    }
  } finally {
    await file.close();
  }
  if (text === undefined || !isWhole) throw new Error(`${name} is damaged: its end is missing`);
  return { epoch, generation: { number, head, completeAfter, text } };
}

const partOf = ({ offset, length }: Line): LinePart => ({ offset, length });
const endOf = ({ offset, length }: Line): number => offset + length + 1;

async function scanSegment(files: LedgerFiles, name: string, bodies: Map<string, BodyPlace>): Promise<Scan> {
  const file = await openToRead(files, name);
  try {
    const scan = new SegmentScan(name, bodies);
    for await (const lines of readLines(file, (await file.size()) ?? 0)) {
      for (const line of lines) scan.add(line);
    }
    return scan.result();
  } finally {
    await file.close();
  }
}

/** Goes through the lines of a segment: a part of it counts from its `commit` on. */
class SegmentScan {
  readonly #name: string;
  readonly #bodies: Map<string, BodyPlace>;
  #epoch: string | undefined;
  #base: LedgerHead | undefined;
  #head = NO_RECORDS;
  #bytes = 0;
  #isSealed = false;
  #line = 1;
  /** Of the append that is being read. */
  #next = NO_RECORDS;
  readonly #brought = new Map<string, LinePart | undefined>();
  #damagedLine: number | undefined;
  #appendsBehindDamage = 0;

  constructor(name: string, bodies: Map<string, BodyPlace>) {
    this.#name = name;
    this.#bodies = bodies;
  }

  add(line: Line | BadLine): void {
    this.#line++;
    if (this.#damagedLine !== undefined) {
      if (line.kind === "commit") this.#appendsBehindDamage++;
    } else if (line.kind === undefined || !this.#follows(line)) this.#damagedLine = this.#line;
  }

  result(): Scan {
    if (this.#epoch === undefined || this.#base === undefined) throw new Error(`${this.#name} is damaged at its start`);
    // One append may have been under way, and what was written of it can have holes.
    if (this.#damagedLine !== undefined && this.#appendsBehindDamage > 1) throw damage(this.#name, this.#damagedLine);
    const isOpenAppend =
      this.#damagedLine !== undefined || !isSameHead(this.#next, this.#head) || this.#brought.size > 0;
    return {
      name: this.#name,
      epoch: this.#epoch,
      base: this.#base,
      head: this.#head,
      bytes: this.#bytes,
      isSealed: this.#isSealed,
      torn: isOpenAppend ? { file: this.#name, line: this.#damagedLine ?? this.#line } : undefined,
    };
  }

  /** False: the line cannot stand here. */
  #follows(line: Line): boolean {
    if (this.#isSealed) return false;
    switch (line.kind) {
      case "epoch":
        this.#epoch = line.content.toString("latin1");
        return true;
      case "base":
        this.#head = parseHead(line.content)?.head ?? NO_RECORDS;
        this.#base = this.#head;
        this.#next = this.#head;
        this.#bytes = endOf(line);
        return true;
      case "body":
        this.#brought.set(parseWord(line.content).word, partOf(line));
        return true;
      case "used":
        this.#brought.set(line.content.toString("latin1"), undefined);
        return true;
      case "record":
        return this.#followsRecord(line);
      case "commit":
        this.#commit(line);
        return true;
      case "sealed":
        this.#isSealed = true;
        this.#bytes = endOf(line);
        return true;
      default:
        return false;
    }
  }

  #followsRecord({ content }: Line): boolean {
    const parsed = parseHead(content);
    if (parsed === undefined) return false;
    const record = recordAfter(this.#next, parsed.rest.toString("utf8"));
    if (!isSameHead(record, parsed.head)) return false;
    this.#next = headOf(record);
    return true;
  }

  #commit(line: Line): void {
    const number = this.#head.number + 1;
    for (const [digest, part] of this.#brought) {
      const place = part === undefined ? this.#bodies.get(digest) : { ...part, file: this.#name };
      if (place !== undefined) this.#bodies.set(digest, { ...place, number });
    }
    this.#brought.clear();
    this.#head = this.#next;
    this.#bytes = endOf(line);
  }
}
