import { randomBytes } from "node:crypto";
import { type AcquiredFileLock, makeDirectory } from "@xdskit/disk";
import { lockDirectory } from "../store/directory-lock.ts";
import { bodyGroups, encodedBodies, recordGroups, recordsUpTo } from "./brought.ts";
import { headOf, isSameHead, NO_RECORDS, recordsAfter } from "./chain.ts";
import {
  type BodyPlace,
  type Contents,
  type Generation,
  historyName,
  readContents,
  readRecords,
  type Segment,
  snapshotName,
} from "./contents.ts";
import { discard, finishDiscarding, isUnfinished, UNFINISHED } from "./discarding.ts";
import { type CompactionInput, generationNames, writeGeneration } from "./generation.ts";
import { HeadWaiters } from "./head-waiters.ts";
import { diskFiles, type LedgerFiles } from "./ledger-files.ts";
import { OpenSegment } from "./open-segment.ts";
import { OpenedFiles } from "./opened-files.ts";
import { formatHead } from "./segment-format.ts";
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
import { type BodyPlaces, StoredBodies } from "./stored-bodies.ts";

/** A new segment is begun when the newest is longer. */
const SEGMENT_BYTES = 8 * 1024 * 1024;
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
  readonly #opened: OpenedFiles;
  readonly #bodies: StoredBodies;
  #generation: Generation | undefined;
  /** Without the one that is written to. */
  #sealed: readonly Segment[] = [];
  #writing: OpenSegment | undefined;
  #head: LedgerHead;
  /** Why nothing can be appended any more. */
  #failure: string | undefined;
  /** Appends, and what must not happen during one. */
  #last: Promise<unknown> = Promise.resolve();
  #compaction: Promise<void> = Promise.resolve();
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
    this.#opened = new OpenedFiles(files);
    this.#bodies = new StoredBodies(contents.bodies, this.#opened);
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
    const line = await this.#opened.lineAt(snapshotName(generation.number), generation.text);
    if (line === undefined) throw new Error(`${snapshotName(generation.number)} is damaged`);
    return { head: generation.head, text: line.toString("utf8") };
  }

  read(after: number): AsyncIterable<StoredRecord> {
    return this.#read(after, this.#head.number);
  }

  async body(digest: string): Promise<Uint8Array | undefined> {
    return await this.#bodies.read(digest);
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
    try {
      await this.#enqueue(async () => {
        this.#failure ??= this.#writing?.failure ?? "the ledger is closed";
        await this.#writing?.close();
        this.#writing = undefined;
        await this.#opened.closeAll();
      });
    } finally {
      this.#options.onClosed?.();
    }
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
      this.#writing = await OpenSegment.goOn(this.#files, last);
      this.#sealed = segments.slice(0, -1);
      if (torn !== undefined) {
        await this.#writing.cut();
        this.#options.onProblem(`${torn.file}:${torn.line}: an append that was not finished was cut off`);
      }
    }
    for (const name of unneeded) await this.#files.remove(name);
  }

  /** Begins a segment at the head. */
  async #begin(): Promise<void> {
    this.#writing = await OpenSegment.begin(this.#files, this.epoch, this.#head);
  }

  async #append({ records: texts, bodies }: Appended): Promise<void> {
    const records = await recordsAfter(this.#head, texts);
    const writing = await this.#ready();
    const number = this.#head.number + 1;
    const brought = new Map<string, BodyPlace>();
    await writing.append(async (writer) => {
      for (const [digest, body] of bodies) {
        const known = this.#bodies.place(digest);
        const part = known === undefined ? await writer.writeBody(digest, body) : await writer.write("used", digest);
        brought.set(digest, { ...(known ?? { file: writing.name, ...part }), number });
      }
      for (const record of records) await writer.write("record", `${formatHead(record)} ${record.text}`);
    });
    await this.#bodies.add(brought);
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
        await this.#writing?.close();
        this.#writing = undefined;
        throw error;
      }
      this.#waiters.moved(this.#head.number);
      return { kind: "appended", head: this.#head };
    });
  }

  /** Lets go of all that is known of the files. */
  async #discard(): Promise<void> {
    await this.#writing?.close();
    this.#writing = undefined;
    await this.#opened.closeAll();
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
      const places = new Map<string, BodyPlace>();
      for (const [digest, place] of written.bodies) places.set(digest, { ...place, number: head.number });
      await this.#bodies.add(places);
      this.#head = snapshot.head;
    } else for await (const bodies of bodyGroups(ledger.bodies())) await this.#append({ records: [], bodies });
    for await (const group of recordGroups(ledger.records(), this.#head.number))
      await this.#append({ records: group.map(({ text }) => text), bodies: new Map() });
    if (!isSameHead(this.#head, head))
      throw new Error(`the records up to ${this.#head.number} are not those that end with ${head.number}`);
  }

  /** The segment to append to, as this process left it. */
  async #ready(): Promise<OpenSegment> {
    const failure = this.#failure ?? this.#writing?.failure;
    if (failure !== undefined) throw new Error(failure);
    if (this.#writing === undefined) await this.#begin();
    else await this.#writing.mend();
    if (this.#writing !== undefined && this.#writing.bytes > (this.#options.segmentBytes ?? SEGMENT_BYTES))
      await this.#roll();
    if (this.#writing === undefined) throw new Error("the ledger has no segment");
    return this.#writing;
  }

  /** Goes on in a new segment, unless nothing was appended to this one. */
  async #roll(): Promise<void> {
    const writing = this.#writing;
    if (writing === undefined || writing.base.number === this.#head.number) return;
    const sealed = await writing.seal(this.#head);
    this.#writing = undefined;
    this.#sealed = [...this.#sealed, sealed];
    await this.#begin();
  }

  async #compact(snapshot: StoredSnapshot, keep: Kept): Promise<void> {
    const { input, dropped } = await this.#enqueue(() => this.#beginCompaction(snapshot, keep));
    try {
      const { generation, bodies } = await writeGeneration(this.#files, input);
      await this.#enqueue(() => this.#endCompaction(generation, bodies));
    } catch (error) {
      this.#bodies.restore(dropped);
      throw error;
    }
  }

  /** From here on an append that brings a body that goes writes it again. */
  async #beginCompaction(
    snapshot: StoredSnapshot,
    keep: Kept,
  ): Promise<{ readonly input: CompactionInput; readonly dropped: BodyPlaces }> {
    const { number } = snapshot.head;
    if (number > this.#head.number) throw new RangeError(`there is no number ${number} yet`);
    await this.#ready();
    await this.#roll();
    const covered = this.#sealed.filter(({ head }) => head.number <= number);
    const going = new Set(covered.map(({ name }) => name));
    const staying = new Set(this.#sealed.flatMap(({ name }) => (going.has(name) ? [] : [name])));
    if (this.#writing !== undefined) staying.add(this.#writing.name);
    const { moving, dropped } = await this.#bodies.drop({ staying, after: number, kept: keep.bodies });
    const input: CompactionInput = {
      number: (this.#generation?.number ?? 0) + 1,
      epoch: this.epoch,
      snapshot,
      completeAfter: keep.completeAfter,
      bodies: this.#bodies.linesOf(moving),
      records: this.#recordsOf([...covered, ...this.#sealed.filter(({ name }) => staying.has(name))], keep, number),
    };
    return { input, dropped };
  }

  async *#recordsOf(segments: readonly Segment[], keep: Kept, last: number): AsyncIterable<StoredRecord> {
    for await (const record of this.#read(0, last, segments)) if (keep.records.has(record.number)) yield record;
  }

  async #endCompaction(generation: Generation, bodies: BodyPlaces): Promise<void> {
    const before = this.#generation;
    this.#generation = generation;
    await this.#bodies.move(bodies);
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
    return [...this.#sealed, writing.upTo(this.#head)];
  }

  /** Not while somebody reads, who may need them. */
  async #removeUnneeded(): Promise<void> {
    if (this.#readers > 0 || this.#options.isReadOnly === true) return;
    for (const name of this.#unneeded.splice(0)) {
      await this.#opened.close(name);
      await this.#files.remove(name);
    }
  }
}
