import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type AcquiredFileLock, makeDirectory } from "@xdskit/disk";
import type { Resource } from "@xdskit/protocol";
import type { Digest, Remembered } from "@xdskit/protocol/internal";
import type { Memory } from "../hub/port.ts";
import { lockDirectory } from "./directory-lock.ts";
import { formatRecord, formatSnapshotEnd, HEADER, parseFile } from "./record.ts";

/** A file is begun anew when as much was added to it as was in it, but not before it got this long. */
const ROLL_FROM_BYTES = 4 * 1024 * 1024;
/** Files that are larger are not read: they would take longer than what they are good for. */
const LARGEST_FILE_BYTES = 384 * 1024 * 1024;
/** What is written at a stretch; the rest waits for the next turn of the event loop. */
const WRITTEN_AT_ONCE_BYTES = 256 * 1024;
/** Resources in one line. */
const RESOURCES_PER_LINE = 64;

const FILE = /^clusters-(\d+)\.log$/;

export interface FileHistoryOptions {
  readonly directory: string;
  readonly digest: Digest;
  /** What is not to be written to a disk. */
  readonly holdsSecret: (resource: Resource) => boolean;
  /** What there is now, as if it had just come. */
  readonly snapshot: () => Iterable<Remembered>;
  /** The directory, or something in it, cannot be used; the server goes on without. */
  readonly onProblem: (message: string) => void;
}

/** A file that is being written. */
interface OpenFile {
  readonly number: number;
  readonly descriptor: number;
  bytes: number;
}

/** A file that takes the place of the one that has grown long: it begins with all there is. */
interface NextFile {
  readonly file: OpenFile;
  readonly snapshot: Iterator<Remembered>;
  /** What happened since the snapshot was begun. */
  readonly since: string[];
}

/**
 * Keeps what a server has to know of the one before it (see `Remembered`) in a directory: a log of the Clusters and of the
 * versions that clients were sent, begun anew now and then with all there is. The file before the newest one is kept, so that
 * there is always a whole one. Each line has a checksum; a line that was being written when the power went off is left out.
 *
 * Nothing here stops a server: what cannot be read is reported and left aside, and if nothing can be written any more, that is
 * reported and nothing is.
 */
export class FileHistory implements Memory {
  readonly restored: readonly Remembered[];
  readonly #options: FileHistoryOptions;
  readonly #lock: AcquiredFileLock | undefined;
  #file: OpenFile | undefined;
  #next: NextFile | undefined;
  #snapshotBytes = 0;
  #isIncomplete = false;
  readonly #queue: Remembered[] = [];
  #isScheduled = false;

  constructor(options: FileHistoryOptions) {
    this.#options = options;
    let restored: readonly Remembered[] = [];
    try {
      makeDirectory(options.directory, 0o700);
      this.#lock = lockDirectory(options.directory);
      restored = this.#open();
    } catch (error) {
      this.#giveUp(error);
    }
    this.restored = restored;
  }

  remember(what: Remembered): void {
    if (this.#file === undefined) return;
    this.#queue.push(...chunksOf(what));
    this.#schedule();
  }

  flush(): void {
    if (this.#queue.length > 0) this.#attempt(() => this.#drain());
  }

  close(): void {
    this.#attempt(() => {
      while (this.#queue.length > 0 && this.#file !== undefined) this.#drain();
    });
    this.#release();
    this.#lock?.release();
  }

  /** Reads the two newest files; what is damaged is left aside. */
  #open(): readonly Remembered[] {
    const numbers = this.#numbers();
    const newest = numbers.at(-1);
    if (newest === undefined) {
      const first = this.#create(1);
      write(first, formatSnapshotEnd());
      this.#finish(first);
      return [];
    }
    const content = this.#read(newest);
    if (content !== undefined && content.damagedLine === undefined) this.#continue(newest, content.goodBytes);
    else {
      // What it is missing is made good as soon as it is known what there is.
      this.#finish(this.#create(newest + 1));
      this.#isIncomplete = true;
    }
    const before = numbers.at(-2);
    const older = before === undefined ? undefined : this.#read(before);
    const isOlderGood = older?.isWhole === true && older.damagedLine === undefined;
    const base = content?.isWhole !== true || isOlderGood ? (older ?? content) : content;
    if (base === undefined) return [];
    return [...base.snapshot, ...base.since, ...(base === content ? [] : (content?.since ?? []))];
  }

  /** Goes on with a file, but for the line that was being written when the server before was killed. */
  #continue(number: number, goodBytes: number): void {
    const path = this.#pathOf(number);
    const descriptor = openSync(path, "r+");
    ftruncateSync(descriptor, goodBytes);
    closeSync(descriptor);
    this.#file = { number, descriptor: openSync(path, "a", 0o600), bytes: goodBytes };
  }

  #read(number: number): ReturnType<typeof parseFile> {
    const path = this.#pathOf(number);
    const { size } = statSync(path);
    if (size > LARGEST_FILE_BYTES) {
      this.#options.onProblem(`${path} has ${size} bytes, more than the ${LARGEST_FILE_BYTES} that are read: ignored`);
      return undefined;
    }
    const content = parseFile(readFileSync(path), this.#options.digest);
    if (content === undefined) this.#options.onProblem(`${path} is not of this version ("${HEADER}"): ignored`);
    else if (content.damagedLine !== undefined)
      this.#options.onProblem(`${path}:${content.damagedLine} is damaged: what stands before that line is used`);
    return content;
  }

  /** Begins a file. It has its name only when it can be read. */
  #create(number: number): OpenFile {
    const descriptor = openSync(`${this.#pathOf(number)}.new`, "w", 0o600);
    const file = { number, descriptor, bytes: 0 };
    write(file, `${HEADER}\n`);
    return file;
  }

  /** From now on this file is the newest. */
  #finish(file: OpenFile): void {
    fsyncSync(file.descriptor);
    renameSync(`${this.#pathOf(file.number)}.new`, this.#pathOf(file.number));
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = file;
    this.#snapshotBytes = file.bytes;
    for (const old of this.#numbers().slice(0, -2)) rmSync(this.#pathOf(old), { force: true });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#attempt(() => {
        this.#drain();
        this.#advanceNext();
      });
      if (this.#file !== undefined && (this.#queue.length > 0 || this.#next !== undefined)) this.#schedule();
    });
  }

  /** Writes what waits, up to a slice. */
  #drain(): void {
    if (this.#file === undefined) return;
    const lines: string[] = [];
    let length = 0;
    let taken = 0;
    for (const what of this.#queue) {
      if (length > WRITTEN_AT_ONCE_BYTES) break;
      taken++;
      const line = formatRecord(this.#withoutSecrets(what));
      lines.push(line);
      length += line.length;
    }
    this.#queue.splice(0, taken);
    const text = lines.join("");
    write(this.#file, text);
    this.#next?.since.push(text);
    const isLong = this.#file.bytes > Math.max(ROLL_FROM_BYTES, 2 * this.#snapshotBytes);
    if ((isLong || this.#isIncomplete) && this.#next === undefined && this.#queue.length === 0) {
      this.#isIncomplete = false;
      const file = this.#create(this.#file.number + 1);
      this.#next = { file, snapshot: this.#snapshot(), since: [] };
    }
  }

  *#snapshot(): Iterator<Remembered> {
    for (const what of this.#options.snapshot()) yield* chunksOf(what);
  }

  /** Writes some more of the next file; when all there is stands in it, it takes over. */
  #advanceNext(): void {
    if (this.#next === undefined) return;
    const { file, snapshot, since } = this.#next;
    const end = file.bytes + WRITTEN_AT_ONCE_BYTES;
    while (file.bytes < end) {
      const one = snapshot.next();
      if (one.done === true) {
        write(file, formatSnapshotEnd());
        const snapshotBytes = file.bytes;
        write(file, since.join(""));
        this.#next = undefined;
        this.#finish(file);
        this.#snapshotBytes = snapshotBytes;
        return;
      }
      write(file, formatRecord(this.#withoutSecrets(one.value)));
    }
  }

  #withoutSecrets(what: Remembered): Remembered {
    const isFree = (resource: Resource): boolean => !this.#options.holdsSecret(resource);
    return what.kind === "changed"
      ? { ...what, puts: what.puts.filter(isFree) }
      : { ...what, pendingRemovals: what.pendingRemovals.filter(isFree) };
  }

  #numbers(): readonly number[] {
    const found = readdirSync(this.#options.directory).flatMap((name) => FILE.exec(name)?.[1] ?? []);
    return found.map(Number).sort((a, b) => a - b);
  }

  #pathOf(number: number): string {
    return join(this.#options.directory, `clusters-${number}.log`);
  }

  #attempt(what: () => void): void {
    try {
      what();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#release();
    this.#queue.length = 0;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.onProblem(`${this.#options.directory} cannot be used: ${reason}`);
  }

  #release(): void {
    for (const file of [this.#file, this.#next?.file]) {
      if (file !== undefined) closeSync(file.descriptor);
    }
    if (this.#next !== undefined) rmSync(`${this.#pathOf(this.#next.file.number)}.new`, { force: true });
    this.#file = undefined;
    this.#next = undefined;
  }
}

function* chunksOf(what: Remembered): Iterable<Remembered> {
  if (what.kind === "served" || what.puts.length <= RESOURCES_PER_LINE) {
    yield what;
    return;
  }
  for (let i = 0; i < what.puts.length; i += RESOURCES_PER_LINE) {
    const deletes = i === 0 ? what.deletes : [];
    yield { ...what, puts: what.puts.slice(i, i + RESOURCES_PER_LINE), deletes };
  }
}

/** A disk that is full may take only a part of it; the rest fails. */
function write(file: OpenFile, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(file.descriptor, bytes, written);
  file.bytes += bytes.length;
}
