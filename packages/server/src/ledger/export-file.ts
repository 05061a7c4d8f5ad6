import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { contentDigest } from "@xdskit/envoy-api";
import { headOf, isSameHead, NO_RECORDS, recordAfter } from "./chain.ts";
import { diskFiles, type LedgerFile } from "./ledger-files.ts";
import {
  type BadLine,
  formatHead,
  formatLine,
  formatLongLine,
  HEADER,
  hasHeader,
  type Line,
  parseHead,
  parseWord,
  readLineAt,
  readLines,
} from "./segment-format.ts";
import type { LedgerHead, StoredRecord, WholeLedger } from "./store.ts";

const WRITTEN_AT_ONCE = 64 * 1024;
const READ_AT_ONCE = 1024 * 1024;
/** The most that stands in front of a version in the first line of a file that is ours. */
const LONGEST_HEADER = 64;

/** How far an export or an import is. */
export interface LedgerProgress {
  /** The number of the record that is written or read. */
  readonly number: number;
  readonly head: number;
}

/** What an export has. */
export interface LedgerExport {
  readonly head: LedgerHead;
  readonly records: number;
  readonly bodies: number;
  readonly bytes: number;
}

/**
 * Writes a ledger as one file: lines with a checksum each, and a last one that tells how many there are and the digest of
 * all. `write` resolves when it can take more.
 */
export async function writeLedgerExport(
  ledger: WholeLedger,
  write: (bytes: Uint8Array) => Promise<void>,
  onProgress: (progress: LedgerProgress) => void = () => undefined,
): Promise<LedgerExport> {
  const { head, completeAfter, snapshot } = ledger;
  const hash = createHash("sha256");
  let [pending, pendingLength, bytes]: [string[], number, number] = [[], 0, 0];
  const flush = async (): Promise<void> => {
    const all = Buffer.from(pending.join(""));
    pending = [];
    pendingLength = 0;
    bytes += all.length;
    hash.update(all);
    await write(all);
  };
  const add = async (text: string): Promise<void> => {
    pending.push(text);
    pendingLength += text.length;
    if (pendingLength >= WRITTEN_AT_ONCE) await flush();
  };
  await add(`${HEADER}\n${formatLine("export", `${formatHead(head)} ${completeAfter}`)}`);
  if (snapshot !== undefined)
    for await (const part of formatLongLine("snapshot", `${formatHead(snapshot.head)} ${snapshot.text}`))
      await add(part);
  let records = 0;
  for await (const record of ledger.records()) {
    for await (const part of formatLongLine("record", `${formatHead(record)} ${record.text}`)) await add(part);
    records++;
    onProgress({ number: record.number, head: head.number });
  }
  let bodies = 0;
  for await (const [digest, body] of ledger.bodies()) {
    await add(formatLine("body", `${digest} ${Buffer.from(body).toString("base64")}`));
    bodies++;
  }
  await flush();
  const end = Buffer.from(formatLine("end", `${records} ${bodies} ${hash.digest("hex")}`));
  await write(end);
  return { head, records, bodies, bytes: bytes + end.length };
}

/** An exported ledger that was read once, and is whole. */
export interface ReadExport extends LedgerExport {
  readonly ledger: WholeLedger;
  close(): Promise<void>;
}

/**
 * Reads an exported ledger, with every checksum, every body's digest and the chain of ids. Rejects, with the reason, if it
 * is not whole, not of this version, or no ledger. No more than a line is in memory.
 */
export async function readLedgerExport(
  path: string,
  onProgress: (progress: LedgerProgress) => void = () => undefined,
): Promise<ReadExport> {
  const file = await diskFiles(dirname(path)).open(basename(path), "read");
  try {
    await requireHeader(file);
    const check = new ExportCheck(onProgress);
    for await (const line of linesOf(file)) check.add(line);
    const { ledger, ...counts } = check.result(await digestOf(file, check.endsAt));
    return {
      ...counts,
      ledger: {
        ...ledger,
        snapshot: await readSnapshot(file, ledger.snapshotAt),
        records: () => recordsIn(file),
        bodies: () => bodiesIn(file),
      },
      bytes: (await file.size()) ?? 0,
      close: () => file.close(),
    };
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

async function requireHeader(file: LedgerFile): Promise<void> {
  if (await hasHeader(file)) return;
  const first = (await file.read(0, LONGEST_HEADER)).toString("latin1").split("\n")[0] ?? "";
  const [, version] = /^xdskit ledger (\d+)$/.exec(first) ?? [];
  if (version !== undefined) throw new Error(`it is of version ${version}, and this program reads "${HEADER}"`);
  throw new Error(first === "" ? "it is empty" : "it is no export of a ledger");
}

/** The digest of the first bytes of a file. */
async function digestOf(file: LedgerFile, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes; at += READ_AT_ONCE) hash.update(await file.read(at, Math.min(READ_AT_ONCE, bytes - at)));
  return hash.digest("hex");
}

async function* linesOf(file: LedgerFile): AsyncIterable<Line | BadLine> {
  for await (const lines of readLines(file, (await file.size()) ?? 0)) yield* lines;
}

async function* recordsIn(file: LedgerFile): AsyncIterable<StoredRecord> {
  for await (const line of linesOf(file)) if (line.kind === "record") yield recordIn(line);
}

async function* bodiesIn(file: LedgerFile): AsyncIterable<readonly [string, Uint8Array]> {
  for await (const line of linesOf(file)) if (line.kind === "body") yield bodyIn(line);
}

function recordIn({ content }: Line): StoredRecord {
  const parsed = parseHead(content);
  if (parsed === undefined) throw new Error("it has a record without a number");
  return { ...parsed.head, text: parsed.rest.toString("utf8") };
}

function bodyIn({ content }: Line): readonly [string, Uint8Array] {
  const { word, length } = parseWord(content);
  return [word, Buffer.from(content.toString("latin1", length), "base64")];
}

async function readSnapshot(
  file: LedgerFile,
  at: Pick<Line, "offset" | "length"> | undefined,
): Promise<WholeLedger["snapshot"]> {
  const line = at && (await readLineAt(file, at));
  if (line === undefined) return undefined;
  const { text, ...head } = recordIn(line);
  return { head, text };
}

interface Checked extends Pick<WholeLedger, "head" | "completeAfter"> {
  readonly snapshotAt: Pick<Line, "offset" | "length"> | undefined;
}

/** Goes through the lines of an exported ledger once. */
class ExportCheck {
  readonly #onProgress: (progress: LedgerProgress) => void;
  #line = 1;
  #head: LedgerHead | undefined;
  #completeAfter = 0;
  #snapshotAt: Checked["snapshotAt"];
  /** What the records up to there are in. */
  #from = NO_RECORDS;
  #last: LedgerHead = NO_RECORDS;
  #records = 0;
  #bodies = 0;
  #end: { readonly at: number; readonly content: string } | undefined;

  constructor(onProgress: (progress: LedgerProgress) => void) {
    this.#onProgress = onProgress;
  }

  /** Where the last line begins. */
  get endsAt(): number {
    return this.#end?.at ?? 0;
  }

  add(line: Line | BadLine): void {
    this.#line++;
    if (line.kind === undefined)
      throw new Error(line.isComplete ? `line ${line.number} is damaged` : `it ends amidst line ${line.number}`);
    if (this.#end !== undefined) throw new Error(`line ${this.#line} stands behind its end`);
    if (this.#head === undefined && line.kind !== "export") throw new Error("it is a part of a ledger, and no export");
    switch (line.kind) {
      case "export":
        this.#begin(line);
        return;
      case "snapshot":
        this.#snapshotAt = line;
        this.#from = headOf(recordIn(line));
        this.#last = NO_RECORDS;
        return;
      case "record":
        this.#addRecord(recordIn(line));
        return;
      case "body":
        this.#addBody(bodyIn(line));
        return;
      case "end":
        this.#end = { at: line.offset, content: line.content.toString("latin1") };
        return;
      default:
        throw new Error(`line ${this.#line} is of a kind that this version does not know: ${line.kind}`);
    }
  }

  result(digest: string): LedgerExport & { readonly ledger: Checked } {
    const head = this.#head;
    if (head === undefined || this.#end === undefined) throw new Error("its end is missing");
    if (this.#end.content !== `${this.#records} ${this.#bodies} ${digest}`)
      throw new Error("lines of it are missing, or were changed");
    const last = this.#last.number > this.#from.number ? this.#last : this.#from;
    if (!isSameHead(last, head)) throw new Error(`its records end with ${last.number}, and not with ${head.number}`);
    const ledger = { head, completeAfter: this.#completeAfter, snapshotAt: this.#snapshotAt };
    return { head, records: this.#records, bodies: this.#bodies, bytes: 0, ledger };
  }

  #begin({ content }: Line): void {
    const parsed = parseHead(content);
    this.#head = parsed?.head;
    this.#completeAfter = Number(parsed?.rest.toString("latin1"));
  }

  /** Behind the snapshot there is no gap; records before it may be left out. */
  #addRecord(record: StoredRecord): void {
    const isBehind = record.number > this.#from.number;
    const before = isBehind && this.#last.number < this.#from.number ? this.#from : this.#last;
    const isSnapshots = record.number === this.#from.number && record.id !== this.#from.id;
    const follows = record.number === before.number + 1;
    const isGap = !follows && (isBehind || record.number <= before.number);
    if (isGap || isSnapshots || (follows && recordAfter(before, record.text).id !== record.id))
      throw new Error(`record ${record.number} does not follow ${before.number}`);
    this.#last = headOf(record);
    this.#records++;
    this.#onProgress({ number: record.number, head: this.#head?.number ?? 0 });
  }

  #addBody([digest, bytes]: readonly [string, Uint8Array]): void {
    if (contentDigest([bytes]).toString(16).padStart(32, "0") !== digest)
      throw new Error(`line ${this.#line}: the body ${digest} has another content`);
    this.#bodies++;
  }
}
