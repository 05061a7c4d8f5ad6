import { setImmediate as pause } from "node:timers/promises";
import type { TypeUrl } from "@xdskit/protocol";
import { NodePast, type NodePastLine } from "@xdskit/protocol/internal";
import { NodePastFiles, type NodePastStore } from "./node-past-files.ts";
import { NodePastMemory } from "./node-past-memory.ts";

/** The bytes of the files, together. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The lines in memory, where there are no files, in UTF-16 code units. */
const MAX_LENGTH = 4 * 1024 * 1024;
/** So many rejections are kept until they are written; of more the first are. */
const MAX_REJECTIONS = 10_000;
/** A node gets at most one line in this time. */
const EVERY_MS = 1_000;
/** After how long it is tried again, in milliseconds, if lines cannot be written. */
const AGAIN_MS = 60_000;
/** So many lines are kept until they can be written; of more only what each node has is. */
const MAX_UNWRITTEN = 50_000;
/** So many clients are looked at in one turn of the event loop. */
const SLICE = 1_000;

export interface NodePastOptions {
  /** What each client has, by node. */
  readonly reached: () => Iterable<{ readonly id: string; readonly reached: number }>;
  /** The newest revision. */
  readonly revision: () => number;
  /** The number of the newest change at a revision; undefined: none. */
  readonly numberOf: (revision: number) => number | undefined;
  /** The number of the newest change at a revision, of live data too. */
  readonly rejectedNumberOf: (revision: number) => number;
  readonly now?: () => number;
  /** Called if the past cannot be written, and not again before it could be. */
  readonly onProblem: (message: string) => void;
  /** Called when the past is written again. */
  readonly onRecovered: (message: string) => void;
}

/** A NACK of a node. */
export interface NackOfNode {
  readonly node: string;
  readonly type: TypeUrl;
  /** The revision of the response. */
  readonly revision: number;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The error message, without secrets. */
  readonly reason: string;
}

/** Where lines are written. */
export interface NodePastDirectory {
  readonly directory: string;
  readonly maxBytes?: number;
}

/** Writes down which number each node reached or NACKed when; in memory until a directory is opened. */
export class NodePastRecorder {
  readonly #options: NodePastOptions;
  readonly #past = new NodePast();
  /** By node and type: what it NACKed since the last sweep. */
  readonly #rejections = new Map<string, NackOfNode>();
  #store: NodePastStore = new NodePastMemory(MAX_LENGTH, () => this.#past.last);
  #timer: NodeJS.Timeout | undefined;
  /** The last sweep that was begun or is to follow; never rejects. */
  #sweeping: Promise<void> | undefined;
  #isClosed = false;
  /** Lines that could not be written yet. */
  #unwritten: readonly NodePastLine[] = [];
  #isFailing = false;
  /** The number that every node has; undefined: some may have another. */
  #settledAt: number | undefined;

  constructor(options: NodePastOptions) {
    this.#options = options;
  }

  /** Reads what was written to a directory before, and goes on there. Rejects with the system's error. */
  async open({ directory, maxBytes = MAX_BYTES }: NodePastDirectory): Promise<void> {
    const files = await NodePastFiles.open(directory, maxBytes);
    for await (const line of files.readAll()) this.#past.know(line);
    this.#store = files;
  }

  /** Lines go to another place from now on, and are read there. */
  use(store: NodePastStore): void {
    this.#store = store;
  }

  /** Takes in lines of another process. */
  take(lines: readonly NodePastLine[]): void {
    if (this.#isClosed) return;
    const fresh = lines.flatMap((line) => this.#past.add(line) ?? []);
    this.#sweeping = (this.#sweeping ?? Promise.resolve()).then(async () => {
      if (fresh.length > 0) await this.#append(fresh);
    });
  }

  /** Clients went on: looks at them soon. */
  advanced(): void {
    const { revision, numberOf } = this.#options;
    // Live data makes no number here, and comes a thousand times a second.
    if (this.#settledAt !== undefined && this.#settledAt === numberOf(revision())) return;
    this.#sweepSoon();
  }

  /** A client NACKed something. */
  nacked(nacked: NackOfNode): void {
    const { node, type } = nacked;
    if (this.#isClosed) return;
    const key = `${type} ${node}`;
    if (this.#rejections.size >= MAX_REJECTIONS && !this.#rejections.has(key)) return;
    this.#rejections.set(key, nacked);
    this.#sweepSoon();
  }

  #sweepSoon(): void {
    this.#sweepIn(EVERY_MS);
  }

  #sweepIn(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#sweepNow(), ms).unref();
  }

  /** Sweeps, after the sweep that is under way: that one may have passed what is due now. */
  async #sweepNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sweeping = (this.#sweeping ?? Promise.resolve()).then(async () => {
      if (!this.#isClosed) await this.sweep();
    });
    await this.#sweeping;
  }

  /** A node came. */
  found(): void {
    this.#settledAt = undefined;
    this.advanced();
  }

  /** What a node reached and NACKed until now, oldest first, as far back as it is kept. */
  async of(id: string): Promise<readonly NodePastLine[]> {
    if (this.#timer !== undefined) await this.#sweepNow();
    await this.#sweeping;
    const found: NodePastLine[] = [];
    let had: number | undefined;
    for await (const line of this.#read(id)) {
      // A file begins with what the one before it ends with.
      if (line.nacked === undefined && had === line.number) continue;
      if (line.nacked === undefined) had = line.number;
      found.push(line);
    }
    return found;
  }

  async *#read(id: string): AsyncIterable<NodePastLine> {
    yield* this.#store.read(id);
    yield* this.#unwritten.filter((line) => line.id === id);
  }

  /** Writes a line for each node that has another number than before, and for each rejection. */
  async sweep(): Promise<void> {
    try {
      const lines = this.#takeRejections();
      const { numberOf, now = Date.now } = this.#options;
      const time = now();
      const head = this.#options.revision();
      const newest = numberOf(head);
      this.#settledAt = newest;
      for (const [id, reached] of await this.#least()) {
        const number = reached < 0 ? undefined : numberOf(Math.min(reached, head));
        if (number !== newest) this.#settledAt = undefined;
        if (number === undefined) continue;
        const line = this.#past.add({ time, number, id });
        if (line !== undefined) lines.push(line);
      }
      await this.#append(lines);
    } catch (cause) {
      this.#failed(cause);
    }
  }

  /** Writes lines, after those that could not be written before. Never rejects. */
  async #append(lines: readonly NodePastLine[]): Promise<void> {
    const due = this.#unwritten.concat(lines);
    if (due.length === 0) return;
    try {
      await this.#store.append(due, this.#past.last);
    } catch (cause) {
      this.#unwritten = due.length > MAX_UNWRITTEN ? [...this.#past.last] : due;
      this.#failed(cause);
      return;
    }
    this.#unwritten = [];
    if (this.#isFailing) this.#options.onRecovered("what nodes have is written down again");
    this.#isFailing = false;
  }

  #failed(cause: unknown): void {
    this.#sweepIn(AGAIN_MS);
    if (this.#isFailing) return;
    this.#isFailing = true;
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#options.onProblem(`what nodes have cannot be written down, and is tried again every minute: ${why}`);
  }

  /** Writes what is due now. */
  async flush(): Promise<void> {
    await this.#sweepNow();
  }

  /** Writes what is due, and stops. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#sweeping;
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.sweep();
  }

  #takeRejections(): NodePastLine[] {
    const lines: NodePastLine[] = [];
    for (const { node: id, type, revision, at: time, reason } of this.#rejections.values()) {
      const number = this.#options.rejectedNumberOf(revision);
      const line = this.#past.add({ time, number, id, nacked: { type, reason } });
      if (line !== undefined) lines.push(line);
    }
    this.#rejections.clear();
    return lines;
  }

  /** What each node has on all its clients. */
  async #least(): Promise<ReadonlyMap<string, number>> {
    const least = new Map<string, number>();
    let looked = 0;
    for (const { id, reached } of this.#options.reached()) {
      least.set(id, Math.min(least.get(id) ?? Number.POSITIVE_INFINITY, reached));
      if (++looked % SLICE === 0) await pause();
    }
    return least;
  }
}
