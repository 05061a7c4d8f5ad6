import { dirname } from "node:path";
import { type AcquiredFileLock, acquireFileLock, makeDirectory } from "@xdskit/disk";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { KeptResource } from "@xdskit/protocol/internal";
import { readStore, removeLeftovers, writeStore } from "./store-file.ts";
import type { KeptSource } from "./store-format.ts";

/** Options of a resource store. */
export interface ResourceStoreOptions {
  /** The path of the file; its directory is created if needed. Only the owner may read the file. */
  readonly path: string;
  /**
   * The size limit in bytes; sources that do not fit are left out, least recently used first.
   * @default 64 MiB
   */
  readonly maxBytes?: number;
  /**
   * How long an unused source is kept, in milliseconds.
   * @default 30 days
   */
  readonly unusedMs?: number;
  readonly api: EnvoyApi;
  /**
   * Whether to keep Secrets and other resources with a key or a password; `leave-out` never writes them to disk.
   * @default "leave-out"
   */
  readonly secrets?: "leave-out" | "keep";
  /**
   * Called when the file cannot be used; the client continues without it. Not called again while the same problem
   * lasts. Must not throw.
   */
  readonly onProblem: (message: string) => void;
  /**
   * The delay of writes, which collects changes, in milliseconds.
   * @default 1_000
   */
  readonly delayMs?: number;
  /**
   * The delay before a failed write is retried, in milliseconds.
   * @default 60_000
   */
  readonly retryMs?: number;
  /**
   * Returns milliseconds since 1970.
   * @default Date.now
   */
  readonly now?: () => number;
}

/** Returns the resources of a source at the time of writing. */
export type ResourceSnapshot = () => Iterable<KeptResource>;

/**
 * Keeps the last accepted configuration on disk (C-CLI-06). It never throws or rejects: if it cannot be used, it
 * reports that and stays empty. Its timer does not keep the process alive; `close` writes what is left.
 */
export interface ResourceStore {
  /** Reads the file of earlier runs. */
  load(): Promise<void>;
  /** The ids of the kept sources, once loaded. */
  sources(): Iterable<string>;
  /** The kept resources of a source, once loaded; undefined: none. It marks the source as in use. */
  restore(source: string): readonly KeptResource[] | undefined;
  /** Renames a kept source to a name that is not kept yet. */
  rename(source: string, to: string): void;
  /** Schedules a write of `snapshot` for a changed source. Other sources stay as they are. */
  save(source: string, snapshot: ResourceSnapshot): void;
  /** The source is not in use any more; if it holds nothing, it is not kept. */
  release(source: string): void;
  /** Resolves when everything is written, or cannot be. */
  flush(): Promise<void>;
  /** Flushes, and releases the file for other writers. Nothing is written from then on. */
  close(): Promise<void>;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_UNUSED_MS = 30 * DAY_MS;
const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_RETRY_MS = 60_000;

/** Creates a store; it neither reads nor writes until it is called. */
export function createResourceStore(options: ResourceStoreOptions): ResourceStore {
  return new FileStore(options);
}

interface SavedSource {
  readonly savedAtMs: number;
  /** `now`: in use by this process. */
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
  /** The last write failed. */
  #isUnwritten = false;
  #closing: Promise<void> | undefined;
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
    if (this.#closing !== undefined) return [...kept.snapshot()];
    this.#sources.set(source, { ...kept, usedAtMs: "now" });
    // An unchanged source in use is written from time to time to record that it is used.
    if (kept.usedAtMs !== "now" && this.#now() - kept.usedAtMs > DAY_MS) this.#touch();
    return [...kept.snapshot()];
  }

  save(source: string, snapshot: ResourceSnapshot): void {
    if (this.#closing !== undefined) return;
    this.#sources.set(source, { savedAtMs: this.#now(), usedAtMs: "now", snapshot });
    this.#touch();
  }

  release(source: string): void {
    const kept = this.#sources.get(source);
    if (kept === undefined || this.#closing !== undefined) return;
    const resources = [...kept.snapshot()];
    if (resources.length === 0) this.#sources.delete(source);
    else this.#sources.set(source, { ...kept, usedAtMs: this.#now(), snapshot: () => resources });
    this.#touch();
  }

  flush(): Promise<void> {
    return this.#closing ?? this.#writeAll();
  }

  close(): Promise<void> {
    this.#closing ??= this.#writeLast();
    return this.#closing;
  }

  async #writeLast(): Promise<void> {
    await this.#writeAll();
    clearTimeout(this.#timer);
    this.#lock?.release();
    this.#lock = undefined;
  }

  async #writeAll(): Promise<void> {
    this.#isDirty ||= this.#isUnwritten;
    while (this.#isDirty || this.#writing !== undefined) {
      this.#startWriting();
      await this.#writing;
    }
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

  /** One write at a time; changes during a write go into the next one. */
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

  /** Returns whether the state was written. */
  async #write(): Promise<boolean> {
    const { path, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const problems = new Set<string>();
    let isWritten = false;
    try {
      // Keeps the other sources of the file.
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

  /** All sources except those unused for too long. */
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

  /**
   * The process that writes the file, if another one does; undefined: this process does. Others try again at the next
   * write.
   */
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

/** Without the temporary file's path, which differs each time. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(", ")[0] ?? message;
}

const SECRETS: readonly TypeUrl[] = [
  formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
  formatTypeUrl("envoy.api.v2.auth.Secret"),
];

/**
 * Returns a test for resources that must not be written to disk: Secrets, and other resources with a key or a password.
 */
function createSecretFilter(api: EnvoyApi): (resource: KeptResource) => boolean {
  // Unchanged resources are tested again at every write.
  const known = new WeakMap<Uint8Array, boolean>();
  return ({ type, bodyType, bytes }) => {
    if (SECRETS.includes(type)) return true;
    const before = known.get(bytes);
    if (before !== undefined) return before;
    const isSecret = api.holdsSecret(bodyType ?? type, bytes);
    known.set(bytes, isSecret);
    return isSecret;
  };
}
