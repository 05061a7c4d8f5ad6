import { randomBytes } from "node:crypto";
import { type AcquiredFileLock, makeDirectory } from "@xdskit/disk";
import { Slices } from "../slices.ts";
import { lockDirectory } from "../store/directory-lock.ts";
import { bodyGroups, encodedBodies, recordGroups, recordsUpTo } from "./brought.ts";
import { headOf, isSameHead, NO_RECORDS, recordsAfter } from "./chain.ts";
import {
  type BodyPlace,
  type Contents,
  type Generation,
  historyName,
  openToRead,
  readContents,
  readRecords,
  type Segment,
  segmentName,
  snapshotName,
} from "./contents.ts";
import { discard, finishDiscarding, isUnfinished, UNFINISHED } from "./discarding.ts";
import { type CompactionInput, generationNames, writeGeneration } from "./generation.ts";
import { HeadWaiters } from "./head-waiters.ts";
import { diskFiles, type LedgerFile, type LedgerFiles } from "./ledger-files.ts";
import { LineBlock } from "./line-block.ts";
import {
  formatHead,
  formatLine,
  formatLongLine,
  HEADER,
  parseWord,
  readLineAt,
  readLinesAt,
} from "./segment-format.ts";
import type {
  Appended,
  AppendResult,
  Kept,
  LedgerHead,
  LedgerStore,
  StoredRecord,
  StoredSnapshot,
  WholeLedger,
} from "./store.ts";

/** A new segment is begun when the newest is longer. */
const SEGMENT_BYTES = 8 * 1024 * 1024;
/** Lines are written together up to this length. */
const WRITTEN_AT_ONCE = 128 * 1024;

export interface DirectoryLedgerOptions {
  readonly directory: string;
  /** Reads only: needs no lock, so it works beside a server, and for what that had appended when it was opened. */
  readonly isReadOnly?: boolean;
  /** Called with what was mended when it was opened. */
  readonly onProblem?: (message: string) => void;
}

/** Opens the ledger in a directory, or begins one. Throws, with the reason, if it cannot be used; then nothing changed. */
export async function openDirectoryLedger(options: DirectoryLedgerOptions): Promise<LedgerStore> {
  const { directory, isReadOnly = false } = options;
  const files = diskFiles(directory);
  const onProblem = (message: string): void => options.onProblem?.(`${directory}: ${message}`);
  let lock: AcquiredFileLock | undefined;
  try {
    if (isReadOnly) return await DirectoryLedgerStore.open(files, { isReadOnly, onProblem });
    makeDirectory(directory, 0o700);
    const acquired = lockDirectory(directory);
    lock = acquired;
    return await DirectoryLedgerStore.open(files, { onProblem, onClosed: () => acquired.release() });
  } catch (cause) {
    lock?.release();
    throw new Error(`${directory} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

interface StoreOptions {
  readonly isReadOnly?: boolean;
  readonly segmentBytes?: number;
  readonly onProblem: (message: string) => void;
  readonly onClosed?: () => void;
}

/** The segment that is written to. */
interface Writing {
  readonly segment: Segment;
  readonly file: LedgerFile;
  bytes: number;
}

/**
 * A ledger in files of lines, each with a checksum. Segments of records and the bodies that came with them are only ever
 * appended to; a line `commit` ends each append, and one without it is cut off when the ledger is opened. A compaction
 * writes a snapshot, and what is kept of the past, into new files, and removes the segments that these cover.
 */
export class DirectoryLedgerStore implements LedgerStore {
  readonly epoch: string;
  readonly #files: LedgerFiles;
  readonly #options: StoreOptions;
  readonly #waiters = new HeadWaiters();
  readonly #bodies: Map<string, BodyPlace>;
  #generation: Generation | undefined;
  /** Without the one that is written to. */
  #sealed: readonly Segment[] = [];
  #writing: Writing | undefined;
  #head: LedgerHead;
  /** Why nothing can be appended any more. */
  #failure: string | undefined;
  /** Whether the end of the segment has to be cut off before the next append. */
  #isTorn = false;
  /** Appends, and what must not happen during one. */
  #last: Promise<unknown> = Promise.resolve();
  #compaction: Promise<void> = Promise.resolve();
  /** What is about to be written. */
  readonly #block = new LineBlock();
  /** To read bodies from. */
  readonly #opened = new Map<string, Promise<LedgerFile>>();
  #readers = 0;
  #unneeded: string[] = [];

  static async open(files: LedgerFiles, options: StoreOptions): Promise<DirectoryLedgerStore> {
    if (options.isReadOnly !== true) await finishDiscarding(files, options.onProblem);
    else if (await isUnfinished(files)) throw new Error("it is being restored, or its restore was not finished");
    const contents = await readContents(files);
    const store = new DirectoryLedgerStore(files, options, contents);
    if (options.isReadOnly !== true) await store.#mend(contents);
    return store;
  }

  private constructor(files: LedgerFiles, options: StoreOptions, contents: Contents) {
    this.#files = files;
    this.#options = options;
    this.epoch = contents.epoch ?? randomBytes(16).toString("hex");
    this.#bodies = contents.bodies;
    this.#generation = contents.generation;
    this.#sealed = contents.segments;
    this.#head = contents.segments.at(-1)?.head ?? NO_RECORDS;
    if (options.isReadOnly === true) this.#failure = "the ledger was opened to read only";
  }

  get head(): LedgerHead {
    return this.#head;
  }

  get completeAfter(): number {
    return this.#generation?.completeAfter ?? 0;
  }

  async snapshot(): Promise<StoredSnapshot | undefined> {
    const generation = this.#generation;
    if (generation === undefined) return undefined;
    const line = await this.#readLine(snapshotName(generation.number), generation.text);
    if (line === undefined) throw new Error(`${snapshotName(generation.number)} is damaged`);
    return { head: generation.head, text: line.toString("utf8") };
  }

  read(after: number): AsyncIterable<StoredRecord> {
    return this.#read(after, this.#head.number);
  }

  async body(digest: string): Promise<Uint8Array | undefined> {
    const place = this.#bodies.get(digest);
    if (place === undefined) return undefined;
    const content = await this.#readLine(place.file, place);
    if (content === undefined) throw damaged(place);
    return Buffer.from(content.toString("latin1", parseWord(content).length), "base64");
  }

  append(expected: LedgerHead, appended: Appended): Promise<AppendResult> {
    return this.#enqueue(async () => {
      if (!isSameHead(expected, this.#head)) return { kind: "conflict", head: this.#head };
      try {
        await this.#append(appended);
      } catch (error) {
        if (error instanceof TypeError) throw error;
        return { kind: "unavailable", reason: error instanceof Error ? error.message : String(error) };
      }
      this.#waiters.moved(this.#head.number);
      return { kind: "appended", head: this.#head };
    });
  }

  compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    const done = this.#compaction.then(() => this.#compact(snapshot, keep));
    this.#compaction = done.catch(() => undefined);
    return done;
  }

  async begin(ledger: WholeLedger): Promise<AppendResult> {
    return await this.#replace(NO_RECORDS, ledger);
  }

  async clear(expected: LedgerHead): Promise<AppendResult> {
    return await this.#replace(expected, undefined);
  }

  async whenPast(number: number, signal: AbortSignal): Promise<void> {
    if (this.#head.number <= number) await this.#waiters.wait(number, signal);
  }

  async close(): Promise<void> {
    await this.#compaction;
    await this.#enqueue(async () => {
      this.#failure ??= "the ledger is closed";
      await this.#writing?.file.close();
      this.#writing = undefined;
      for (const file of this.#opened.values()) await (await file).close();
      this.#opened.clear();
    });
    this.#options.onClosed?.();
  }

  #enqueue<T>(what: () => Promise<T>): Promise<T> {
    const done = this.#last.then(what);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Cuts off what is torn, removes what is unneeded, and goes on with the last segment. */
  async #mend({ segments, torn, unneeded }: Contents): Promise<void> {
    const last = segments.at(-1);
    if (last === undefined || last.isSealed) await this.#begin();
    else {
      const file = await this.#files.open(last.name, "append");
      this.#sealed = segments.slice(0, -1);
      this.#writing = { segment: last, file, bytes: last.bytes };
      if (torn !== undefined) {
        await this.#cut(this.#writing);
        this.#options.onProblem(`${torn.file}:${torn.line}: an append that was not finished was cut off`);
      }
    }
    for (const name of unneeded) await this.#files.remove(name);
  }

  /** Begins a segment at the head. */
  async #begin(): Promise<void> {
    const name = segmentName(this.#head.number);
    const file = await this.#files.create(`${name}.new`);
    const text = `${HEADER}\n${formatLine("epoch", this.epoch)}${formatLine("base", formatHead(this.#head))}`;
    try {
      await file.append(Buffer.from(text));
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#files.rename(`${name}.new`, name);
    const segment: Segment = { name, base: this.#head, head: this.#head, bytes: text.length, isSealed: false };
    this.#writing = { segment, file: await this.#files.open(name, "append"), bytes: text.length };
  }

  async #append({ records: texts, bodies }: Appended): Promise<void> {
    const records = await recordsAfter(this.#head, texts);
    const slices = new Slices();
    const writing = await this.#ready();
    const brought = new Map<string, BodyPlace>();
    let bytes = writing.bytes;
    const block = this.#block;
    block.clear();
    const added = async (length: number): Promise<void> => {
      bytes += length;
      // What is written may be done within the same turn.
      if (slices.count(length)) await slices.next();
      if (block.length < WRITTEN_AT_ONCE) return;
      await writing.file.append(block.bytes);
      block.clear();
    };
    try {
      const number = this.#head.number + 1;
      for (const [digest, body] of bodies) {
        const known = this.#bodies.get(digest);
        const length = known === undefined ? block.addBody(digest, body) : block.addText(formatLine("used", digest));
        const place = known ?? { file: writing.segment.name, offset: bytes, length: length - 1, number };
        brought.set(digest, known === undefined ? place : { ...place, number });
        await added(length);
      }
      for (const record of records) {
        for await (const part of formatLongLine("record", `${formatHead(record)} ${record.text}`))
          await added(block.addText(part));
      }
      bytes += block.addText(formatLine("commit", ""));
      await writing.file.append(block.bytes);
      await writing.file.sync();
    } catch (error) {
      this.#isTorn = true;
      await this.#cut(writing).catch(() => undefined);
      throw error;
    }
    await this.#expectSize(writing, bytes);
    for (const [digest, place] of brought) {
      this.#bodies.set(digest, place);
      if (slices.count()) await slices.next();
    }
    writing.bytes = bytes;
    this.#head = headOf(records.at(-1) ?? this.#head);
  }

  /** Puts another ledger, or none, in place of this one. One that is not finished is none when it is opened again. */
  async #replace(expected: LedgerHead, ledger: WholeLedger | undefined): Promise<AppendResult> {
    await this.#compaction;
    return await this.#enqueue(async () => {
      if (!isSameHead(expected, this.#head)) return { kind: "conflict", head: this.#head };
      try {
        await this.#ready();
      } catch (error) {
        return { kind: "unavailable", reason: error instanceof Error ? error.message : String(error) };
      }
      try {
        await this.#discard();
        await discard(this.#files);
        if (ledger !== undefined) await this.#fill(ledger);
        if (this.#writing === undefined) await this.#begin();
        await this.#files.remove(UNFINISHED);
      } catch (error) {
        this.#failure = "what was to be restored is not whole";
        await this.#writing?.file.close();
        this.#writing = undefined;
        throw error;
      }
      this.#waiters.moved(this.#head.number);
      return { kind: "appended", head: this.#head };
    });
  }

  /** Lets go of all that is known of the files. */
  async #discard(): Promise<void> {
    await this.#writing?.file.close();
    this.#writing = undefined;
    for (const file of this.#opened.values()) await (await file).close();
    this.#opened.clear();
    this.#bodies.clear();
    this.#generation = undefined;
    this.#sealed = [];
    this.#unneeded = [];
    this.#head = NO_RECORDS;
  }

  async #fill(ledger: WholeLedger): Promise<void> {
    const { head, snapshot, completeAfter } = ledger;
    if (snapshot !== undefined) {
      const written = await writeGeneration(this.#files, {
        ...{ number: 1, epoch: this.epoch, snapshot, completeAfter },
        records: recordsUpTo(ledger.records(), snapshot.head.number),
        bodies: encodedBodies(ledger.bodies()),
      });
      this.#generation = written.generation;
      for (const [digest, place] of written.bodies) this.#bodies.set(digest, { ...place, number: head.number });
      this.#head = snapshot.head;
    } else for await (const bodies of bodyGroups(ledger.bodies())) await this.#append({ records: [], bodies });
    for await (const group of recordGroups(ledger.records(), this.#head.number))
      await this.#append({ records: group.map(({ text }) => text), bodies: new Map() });
    if (!isSameHead(this.#head, head))
      throw new Error(`the records up to ${this.#head.number} are not those that end with ${head.number}`);
  }

  /** The segment to append to, as this process left it. */
  async #ready(): Promise<Writing> {
    if (this.#failure !== undefined) throw new Error(this.#failure);
    if (this.#writing === undefined) await this.#begin();
    else if (this.#isTorn) await this.#cut(this.#writing);
    else await this.#expectSize(this.#writing, this.#writing.bytes);
    if (this.#writing !== undefined && this.#writing.bytes > (this.#options.segmentBytes ?? SEGMENT_BYTES))
      await this.#roll();
    if (this.#writing === undefined) throw new Error("the ledger has no segment");
    return this.#writing;
  }

  /** With another size another process writes here, and what it wrote must stay as it is. */
  async #expectSize({ file, segment }: Writing, bytes: number): Promise<void> {
    if ((await file.size()) === bytes) return;
    this.#failure = `another process writes to ${segment.name}`;
    throw new Error(this.#failure);
  }

  /** Goes on in a new segment. The line `sealed` shows another process that this one was here, and the other way round. */
  async #roll(): Promise<void> {
    const writing = this.#writing;
    if (writing === undefined || writing.segment.base.number === this.#head.number) return;
    const line = formatLine("sealed", "");
    try {
      await writing.file.append(Buffer.from(line));
      await writing.file.sync();
    } catch (error) {
      this.#isTorn = true;
      throw error;
    }
    await writing.file.close();
    this.#writing = undefined;
    this.#sealed = [
      ...this.#sealed,
      { ...writing.segment, head: this.#head, bytes: writing.bytes + line.length, isSealed: true },
    ];
    await this.#begin();
  }

  async #cut(writing: Writing): Promise<void> {
    await writing.file.truncate(writing.bytes);
    await writing.file.sync();
    this.#isTorn = false;
  }

  async #compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    const { input, dropped } = await this.#enqueue(() => this.#beginCompaction(snapshot, keep));
    try {
      const { generation, bodies } = await writeGeneration(this.#files, input);
      await this.#enqueue(() => this.#endCompaction(generation, bodies));
    } catch (error) {
      // They are still there, unless an append brought them again.
      for (const [digest, place] of dropped) if (!this.#bodies.has(digest)) this.#bodies.set(digest, place);
      throw error;
    }
  }

  /** From here on an append that brings a body that goes writes it again. */
  async #beginCompaction(
    snapshot: StoredSnapshot,
    keep: Kept,
  ): Promise<{ readonly input: CompactionInput; readonly dropped: ReadonlyMap<string, BodyPlace> }> {
    const { number } = snapshot.head;
    if (number > this.#head.number) throw new RangeError(`there is no number ${number} yet`);
    await this.#ready();
    await this.#roll();
    const covered = this.#sealed.filter(({ head }) => head.number <= number);
    const going = new Set(covered.map(({ name }) => name));
    const staying = new Set(this.#sealed.flatMap(({ name }) => (going.has(name) ? [] : [name])));
    if (this.#writing !== undefined) staying.add(this.#writing.segment.name);
    const slices = new Slices();
    const dropped = new Map<string, BodyPlace>();
    const kept = new Map<string, BodyPlace>();
    for (const [digest, place] of this.#bodies) {
      if (staying.has(place.file)) continue;
      const isKept = place.number > number || keep.bodies.has(digest);
      (isKept ? kept : dropped).set(digest, place);
      if (slices.count()) await slices.next();
    }
    for (const digest of dropped.keys()) {
      this.#bodies.delete(digest);
      if (slices.count()) await slices.next();
    }
    const input: CompactionInput = {
      number: (this.#generation?.number ?? 0) + 1,
      epoch: this.epoch,
      snapshot,
      completeAfter: keep.completeAfter,
      bodies: this.#bodiesAt(kept),
      records: this.#recordsOf([...covered, ...this.#sealed.filter(({ name }) => staying.has(name))], keep, number),
    };
    return { input, dropped };
  }

  /** The content of the lines of bodies, by their digests, in the order in which they are on disk. */
  async *#bodiesAt(places: ReadonlyMap<string, BodyPlace>): AsyncIterable<readonly [string, Buffer]> {
    const byFile = new Map<string, (BodyPlace & { readonly digest: string })[]>();
    const slices = new Slices();
    for (const [digest, place] of places) {
      const parts = byFile.get(place.file);
      if (parts === undefined) byFile.set(place.file, [{ digest, ...place }]);
      else parts.push({ digest, ...place });
      if (slices.count()) await slices.next();
    }
    for (const [file, parts] of byFile) {
      for await (const { part, line } of readLinesAt(await this.#openedFile(file), parts)) {
        if (line === undefined) throw damaged(part);
        yield [part.digest, line.content];
      }
    }
  }

  async *#recordsOf(segments: readonly Segment[], keep: Kept, last: number): AsyncIterable<StoredRecord> {
    for await (const record of this.#read(0, last, segments)) if (keep.records.has(record.number)) yield record;
  }

  async #endCompaction(generation: Generation, bodies: ReadonlyMap<string, BodyPlace>): Promise<void> {
    const before = this.#generation;
    const slices = new Slices();
    this.#generation = generation;
    for (const [digest, place] of bodies) {
      // An append may have brought it again meanwhile.
      const number = this.#bodies.get(digest)?.number ?? 0;
      this.#bodies.set(digest, { ...place, number });
      if (slices.count()) await slices.next();
    }
    const covered = this.#sealed.filter(({ head }) => head.number <= generation.head.number);
    this.#sealed = this.#sealed.filter((segment) => !covered.includes(segment));
    this.#unneeded.push(...covered.map(({ name }) => name));
    if (before !== undefined) this.#unneeded.push(...generationNames(before.number));
    await this.#removeUnneeded();
  }

  async *#read(after: number, last: number, segments = this.#segments()): AsyncIterable<StoredRecord> {
    const generation = this.#generation;
    const from = Math.max(after, generation?.head.number ?? 0);
    this.#readers++;
    try {
      if (generation !== undefined && after < generation.head.number)
        yield* readRecords(this.#files, historyName(generation.number), undefined, after, last);
      for (const segment of segments) {
        if (segment.head.number <= from) continue;
        yield* readRecords(this.#files, segment.name, segment.bytes, from, last);
      }
    } finally {
      this.#readers--;
      await this.#removeUnneeded();
    }
  }

  #segments(): readonly Segment[] {
    const writing = this.#writing;
    if (writing === undefined) return this.#sealed;
    return [...this.#sealed, { ...writing.segment, head: this.#head, bytes: writing.bytes }];
  }

  /** The content of a line; undefined if it is damaged. */
  async #readLine(
    name: string,
    part: { readonly offset: number; readonly length: number },
  ): Promise<Buffer | undefined> {
    return (await readLineAt(await this.#openedFile(name), part))?.content;
  }

  async #openedFile(name: string): Promise<LedgerFile> {
    let opened = this.#opened.get(name);
    if (opened === undefined) {
      opened = openToRead(this.#files, name);
      this.#opened.set(name, opened);
      opened.catch(() => this.#opened.delete(name));
    }
    return await opened;
  }

  /** Not while somebody reads, who may need them. */
  async #removeUnneeded(): Promise<void> {
    if (this.#readers > 0 || this.#options.isReadOnly === true) return;
    for (const name of this.#unneeded.splice(0)) {
      const opened = this.#opened.get(name);
      this.#opened.delete(name);
      await (await opened)?.close();
      await this.#files.remove(name);
    }
  }
}

function damaged({ file, offset }: BodyPlace): Error {
  return new Error(`${file} is damaged at byte ${offset}`);
}
