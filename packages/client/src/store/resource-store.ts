import { dirname } from "node:path";
import { type AcquiredFileLock, acquireFileLock, makeDirectory } from "@xdskit/disk";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { KeptResource } from "@xdskit/protocol";
import { createSecretFilter } from "./secret-filter.ts";
import { readStore, removeLeftovers, writeStore } from "./store-file.ts";
import type { KeptSource } from "./store-format.ts";

/** What a store needs. */
export interface ResourceStoreOptions {
  /** The file; its directory is made if need be. Only its owner may read it. */
  readonly path: string;
  /** What does not fit into as many bytes is left out, source by source, those that were used longest ago first. Default: 64 MiB. */
  readonly maxBytes?: number;
  /** A source that was not in use for so many milliseconds is dropped. Default: 30 days. */
  readonly unusedMs?: number;
  readonly api: EnvoyApi;
  /** What becomes of Secrets, and of whatever else holds a key or a password. Default: `leave-out`, they never get to a disk. */
  readonly secrets?: "leave-out" | "keep";
  /** The file, or what is in it, cannot be used; the client goes on without. Not called again for the same while it lasts. Does not throw. */
  readonly onProblem: (message: string) => void;
  /** Changes are written together after so many milliseconds. Default: 1,000. */
  readonly delayMs?: number;
  /** What could not be written is tried again after so many milliseconds. Default: 60,000. */
  readonly retryMs?: number;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The resources of a source, as they are when they are written. */
export type ResourceSnapshot = () => Iterable<KeptResource>;

/**
 * The last configuration that was good, on a disk (C-CLI-06). Nothing here throws or rejects: a store that cannot be used is
 * reported, and there is none. Its timer keeps no process alive; `close` writes what is left.
 */
export interface ResourceStore {
  /** Reads what was kept by earlier lives. */
  load(): Promise<void>;
  /** Of which sources something is kept, once that was read. */
  sources(): Iterable<string>;
  /** What was kept of a source, once that was read; undefined: nothing. The source is in use from now on. */
  restore(source: string): readonly KeptResource[] | undefined;
  /** What is kept of a source goes by another name from now on, of which nothing was kept. */
  rename(source: string, to: string): void;
  /** Something changed at a source: soon all that `snapshot` gives then is written. What is kept of other sources stays. */
  save(source: string, snapshot: ResourceSnapshot): void;
  /** Resolves when all that was saved is on the disk, or cannot be. */
  flush(): Promise<void>;
  /** Flushes, and lets others write. */
  close(): Promise<void>;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_UNUSED_MS = 30 * DAY_MS;
const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_RETRY_MS = 60_000;

/** Makes a store. Nothing is read or written before it is asked to. */
export function createResourceStore(options: ResourceStoreOptions): ResourceStore {
  return new FileStore(options);
}

interface SavedSource {
  readonly savedAtMs: number;
  /** `now`: this life has it in use. */
  readonly usedAtMs: number | "now";
  readonly snapshot: ResourceSnapshot;
}

class FileStore implements ResourceStore {
  readonly #options: ResourceStoreOptions;
  readonly #now: () => number;
  readonly #isLeftOut: (resource: KeptResource) => boolean;
  readonly #sources = new Map<string, SavedSource>();
  #loading: Promise<void> | undefined;
  #lock: AcquiredFileLock | undefined;
  #problems: ReadonlySet<string> = new Set();
  #isDirty = false;
  /** The last write was in vain. */
  #isUnwritten = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: ResourceStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#isLeftOut = options.secrets === "keep" ? () => false : createSecretFilter(options.api);
  }

  load(): Promise<void> {
    this.#loading ??= this.#read();
    return this.#loading;
  }

  sources(): Iterable<string> {
    return this.#sources.keys();
  }

  rename(source: string, to: string): void {
    const kept = this.#sources.get(source);
    if (kept === undefined) return;
    this.#sources.delete(source);
    this.#sources.set(to, kept);
  }

  restore(source: string): readonly KeptResource[] | undefined {
    const kept = this.#sources.get(source);
    if (kept === undefined) return undefined;
    this.#sources.set(source, { ...kept, usedAtMs: "now" });
    // That it is in use is worth a write now and then, though nothing of it changes.
    if (kept.usedAtMs !== "now" && this.#now() - kept.usedAtMs > DAY_MS) this.#touch();
    return [...kept.snapshot()];
  }

  save(source: string, snapshot: ResourceSnapshot): void {
    if (this.#isClosed) return;
    this.#sources.set(source, { savedAtMs: this.#now(), usedAtMs: "now", snapshot });
    this.#touch();
  }

  async flush(): Promise<void> {
    this.#isDirty ||= this.#isUnwritten;
    while (this.#isDirty || this.#writing !== undefined) {
      this.#startWriting();
      await this.#writing;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    clearTimeout(this.#timer);
    this.#lock?.release();
    this.#lock = undefined;
  }

  #touch(): void {
    this.#isDirty = true;
    this.#schedule(this.#options.delayMs ?? DEFAULT_DELAY_MS);
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => this.#startWriting(), ms);
    this.#timer.unref();
  }

  /** One at a time. What changes meanwhile is written the next time. */
  #startWriting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined) return;
    this.#isDirty = false;
    this.#writing = this.#write().then((isWritten) => {
      this.#writing = undefined;
      this.#isUnwritten = !isWritten;
      if (!isWritten) this.#schedule(this.#options.retryMs ?? DEFAULT_RETRY_MS);
      else if (this.#isDirty) this.#schedule(this.#options.delayMs ?? DEFAULT_DELAY_MS);
    });
  }

  async #read(): Promise<void> {
    const { path, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const content = await readStore(path, maxBytes);
    if (content === undefined) return;
    if ("problem" in content) {
      this.#options.onProblem(`${path} is not used: ${content.problem}`);
      return;
    }
    for (const { id, savedAtMs, usedAtMs, resources } of content.sources) {
      if (!this.#sources.has(id)) this.#sources.set(id, { savedAtMs, usedAtMs, snapshot: () => resources });
    }
  }

  /** Whether what there is was written. */
  async #write(): Promise<boolean> {
    const { path, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const problems = new Set<string>();
    let isWritten = false;
    try {
      // What it says of other sources stays.
      await this.load();
      const writer = await this.#otherWriter();
      if (writer === undefined) {
        const store = { sources: this.#sourcesToWrite(), isLeftOut: this.#isLeftOut, maxBytes };
        for (const id of await writeStore(path, store)) {
          problems.add(`${path}: the source "${id}" does not fit into ${maxBytes} bytes, and is not kept`);
        }
        isWritten = true;
      } else problems.add(`${path} is written by ${writer}; nothing is kept`);
    } catch (error) {
      problems.add(`${path} cannot be written: ${reasonOf(error)}`);
    }
    for (const problem of problems) if (!this.#problems.has(problem)) this.#options.onProblem(problem);
    this.#problems = problems;
    return isWritten;
  }

  /** All but those that were not in use for too long. */
  #sourcesToWrite(): readonly KeptSource[] {
    const { unusedMs = DEFAULT_UNUSED_MS } = this.#options;
    const nowMs = this.#now();
    const sources: KeptSource[] = [];
    for (const [id, { savedAtMs, usedAtMs, snapshot }] of this.#sources) {
      const used = usedAtMs === "now" ? nowMs : Math.min(usedAtMs, nowMs);
      if (nowMs - used > unusedMs) this.#sources.delete(id);
      else sources.push({ id, savedAtMs, usedAtMs: used, resources: [...snapshot()] });
    }
    return sources;
  }

  /** Whoever came first writes. The others look again the next time. Undefined: it is this one. */
  async #otherWriter(): Promise<string | undefined> {
    const { path } = this.#options;
    if (this.#lock !== undefined) return undefined;
    makeDirectory(dirname(path), 0o700);
    const lock = acquireFileLock(`${path}.lock`);
    if (lock.kind === "held") {
      if (lock.pid === process.pid) return "another client of this process";
      return lock.pid === undefined ? "another process" : `the process with id ${lock.pid}`;
    }
    this.#lock = lock;
    await removeLeftovers(path);
    return undefined;
  }
}

/** Without the path of the file, which is another one each time. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(", ")[0] ?? message;
}
