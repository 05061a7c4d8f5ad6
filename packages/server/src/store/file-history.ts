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

/** A new file is started once a file is twice as long as it need be, but not below this size. */
const ROLL_FROM_BYTES = 4 * 1024 * 1024;
/** Larger files are not read: that would take longer than it is worth. */
const LARGEST_FILE_BYTES = 384 * 1024 * 1024;
/** Bytes written at a time; the rest waits for the next turn of the event loop. */
const WRITTEN_AT_ONCE_BYTES = 64 * 1024;
/** Resources per line. */
const RESOURCES_PER_LINE = 64;

const FILE = /^clusters-(\d+)\.log$/;

export interface FileHistoryOptions {
  readonly directory: string;
  readonly digest: Digest;
  /** Whether a resource holds secrets, which are not written to disk. */
  readonly holdsSecret: (resource: Resource) => boolean;
  /** The current state, as if it had just arrived. */
  readonly snapshot: () => Iterable<Remembered>;
  /** Called if the directory, or a file in it, is unusable; the server continues without it. */
  readonly onProblem: (message: string) => void;
}

/** A file being written. */
interface OpenFile {
  readonly number: number;
  readonly descriptor: number;
  bytes: number;
}

/** The successor of a file that has grown too long; it starts with a snapshot. */
interface NextFile {
  readonly file: OpenFile;
  readonly snapshot: Iterator<Remembered>;
  /** Records since the snapshot began. */
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
  /** At what size of the file to ask whether a new one is worth it. */
  #rollAtBytes = ROLL_FROM_BYTES;
  /** The Clusters in the file, each as often as it was put. */
  #puts = 0;
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

  /** Reads the two newest files; skips damaged content. */
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
    if (content !== undefined && content.damagedLine === undefined) {
      this.#continue(newest, content.goodBytes);
      this.#startAt(0, putsIn(content.snapshot) + putsIn(content.since));
    } else {
      // Missing content is added once the current state is known.
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

  /** Continues a file after its last complete line. */
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

  /** Creates a file. It gets its final name only once it is readable. */
  #create(number: number): OpenFile {
    const descriptor = openSync(`${this.#pathOf(number)}.new`, "w", 0o600);
    const file = { number, descriptor, bytes: 0 };
    write(file, `${HEADER}\n`);
    return file;
  }

  /** Makes this file the newest. */
  #finish(file: OpenFile): void {
    fsyncSync(file.descriptor);
    renameSync(`${this.#pathOf(file.number)}.new`, this.#pathOf(file.number));
    if (this.#file !== undefined) closeSync(this.#file.descriptor);
    this.#file = file;
    this.#startAt(file.bytes, 0);
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

  /** Writes pending lines, up to a slice. */
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
      this.#puts += putsIn([what]);
    }
    this.#queue.splice(0, taken);
    const text = lines.join("");
    write(this.#file, text);
    this.#next?.since.push(text);
    if (this.#next !== undefined || this.#queue.length > 0) return;
    if (this.#isIncomplete || this.#isTooLong(this.#file.bytes)) {
      this.#isIncomplete = false;
      const file = this.#create(this.#file.number + 1);
      this.#next = { file, snapshot: this.#snapshot(), since: [] };
    }
  }

  /** What is in a file that was begun, or continued. */
  #startAt(snapshotBytes: number, puts: number): void {
    this.#rollAtBytes = Math.max(ROLL_FROM_BYTES, 2 * snapshotBytes);
    this.#puts = puts;
  }

  /** Whether a file is twice as long as a snapshot would be; after a first load it is as long as that. */
  #isTooLong(bytes: number): boolean {
    if (bytes <= this.#rollAtBytes) return false;
    const share = this.#puts === 0 ? 0 : putsIn(this.#options.snapshot()) / this.#puts;
    this.#rollAtBytes = Math.max(this.#rollAtBytes, 2 * share * bytes);
    return bytes > this.#rollAtBytes;
  }

  *#snapshot(): Iterator<Remembered> {
    for (const what of this.#options.snapshot()) yield* chunksOf(what);
  }

  /** Continues the next file; once its snapshot is complete, it takes over. */
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
        this.#startAt(snapshotBytes, putsIn(this.#options.snapshot()));
        return;
      }
      write(file, formatRecord(this.#withoutSecrets(one.value)));
    }
  }

  #withoutSecrets(what: Remembered): Remembered {
    const isFree = (resource: Resource): boolean => !this.#options.holdsSecret(resource);
    if (what.kind === "clusters-elsewhere") return what;
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

function putsIn(remembered: Iterable<Remembered>): number {
  let puts = 0;
  for (const what of remembered) if (what.kind === "changed") puts += what.puts.length;
  return puts;
}

function* chunksOf(what: Remembered): Iterable<Remembered> {
  if (what.kind !== "changed" || what.puts.length <= RESOURCES_PER_LINE) {
    yield what;
    return;
  }
  for (let i = 0; i < what.puts.length; i += RESOURCES_PER_LINE) {
    const deletes = i === 0 ? what.deletes : [];
    yield { ...what, puts: what.puts.slice(i, i + RESOURCES_PER_LINE), deletes };
  }
}

/** Writes the whole text. A full disk may accept only a part; then the rest fails. */
function write(file: OpenFile, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(file.descriptor, bytes, written);
  file.bytes += bytes.length;
}
