import { setImmediate as pause } from "node:timers/promises";
import { NodePast, type NodeReached } from "@xdskit/protocol/internal";
import { NodePastFiles } from "./node-past-files.ts";

/** The bytes of the files, together. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A node gets at most one line in this time. */
const EVERY_MS = 1_000;
/** So many clients are looked at in one turn of the event loop. */
const SLICE = 1_000;

export interface NodePastOptions {
  readonly directory: string;
  readonly maxBytes?: number;
  /** What each client has, by node. */
  readonly reached: () => Iterable<{ readonly id: string; readonly reached: number }>;
  /** The newest revision. */
  readonly revision: () => number;
  /** The number of the newest change at a revision; undefined: none. */
  readonly numberOf: (revision: number) => number | undefined;
  readonly now?: () => number;
  /** Called once if the past cannot be written any more. */
  readonly onProblem: (message: string) => void;
}

/** Writes down which number each node reached when. */
export class NodePastRecorder {
  readonly #options: NodePastOptions;
  readonly #past = new NodePast();
  readonly #files: NodePastFiles;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;
  /** The number that every node has; undefined: some may have another. */
  #settledAt: number | undefined;

  private constructor(options: NodePastOptions, files: NodePastFiles) {
    this.#options = options;
    this.#files = files;
  }

  /** Reads what was written before. Rejects with the system's error. */
  static async open(options: NodePastOptions): Promise<NodePastRecorder> {
    const files = await NodePastFiles.open(options.directory, options.maxBytes ?? MAX_BYTES);
    const recorder = new NodePastRecorder(options, files);
    for await (const reached of files.read()) recorder.#past.know(reached);
    return recorder;
  }

  /** Clients went on: looks at them soon. */
  advanced(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const { revision, numberOf } = this.#options;
    // Live data makes no number here, and comes a thousand times a second.
    if (this.#settledAt !== undefined && this.#settledAt === numberOf(revision())) return;
    this.#timer = setTimeout(() => {
      this.#sweeping = this.sweep().finally(() => {
        this.#timer = undefined;
      });
    }, EVERY_MS).unref();
  }

  /** A node came. */
  found(): void {
    this.#settledAt = undefined;
    this.advanced();
  }

  /** What a node reached, oldest first, as far back as it is kept. */
  async of(id: string): Promise<readonly NodeReached[]> {
    const found: NodeReached[] = [];
    for await (const reached of this.#files.read()) {
      // A file begins with what the one before it ends with.
      if (reached.id === id && found.at(-1)?.number !== reached.number) found.push(reached);
    }
    return found;
  }

  /** Writes a line for each node that has another number than before. */
  async sweep(): Promise<void> {
    try {
      const lines: NodeReached[] = [];
      const { numberOf, now = Date.now } = this.#options;
      const time = now();
      const head = this.#options.revision();
      const newest = numberOf(head);
      this.#settledAt = newest;
      for (const [id, reached] of await this.#least()) {
        const number = reached < 0 ? undefined : numberOf(Math.min(reached, head));
        if (number !== newest) this.#settledAt = undefined;
        if (number === undefined) continue;
        const line = { time, number, id };
        if (this.#past.reach(line)) lines.push(line);
      }
      if (lines.length > 0) await this.#files.append(lines, this.#past.last);
    } catch (cause) {
      this.#isClosed = true;
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#options.onProblem(`what nodes have is not written down any more: ${why}`);
    }
  }

  /** Writes what is due, and stops. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sweeping;
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.sweep();
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
