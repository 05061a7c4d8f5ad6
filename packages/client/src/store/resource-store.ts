import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { KeptResource, SourceId } from "@xdskit/protocol";
import { createSecretFilter } from "./secret-filter.ts";
import { readStore, writeStore } from "./store-file.ts";
import { acquireStoreLock, type StoreLock } from "./store-lock.ts";

/** What a store needs. */
export interface ResourceStoreOptions {
  /** The file; its directory is made if need be. Only its owner may read it. */
  readonly path: string;
  /** What does not fit into as many bytes is left out, source by source, those that were saved longest ago first. Default: 64 MiB. */
  readonly maxBytes?: number;
  readonly api: EnvoyApi;
  /** What becomes of Secrets, and of whatever else holds a key or a password. Default: `leave-out`, they never get to a disk. */
  readonly secrets?: "leave-out" | "keep";
  /** The file, or what is in it, cannot be used; the client goes on without. */
  readonly onProblem: (message: string) => void;
  /** Changes are written together after so many milliseconds. Default: 1,000. */
  readonly delayMs?: number;
}

/** The resources of a source, as they are when they are written. */
export type ResourceSnapshot = () => Iterable<KeptResource>;

/**
 * The last configuration that was good, on a disk (C-CLI-06). Nothing here throws or rejects: a store that cannot be used is
 * reported, and there is none. Its timer keeps no process alive; `close` writes what is left.
 */
export interface ResourceStore {
  /** What was kept by an earlier life, by source. Read once. */
  load(): Promise<ReadonlyMap<SourceId, readonly KeptResource[]>>;
  /** Something changed at a source: soon all that `snapshot` gives then is written. What is kept of other sources stays. */
  save(source: SourceId, snapshot: ResourceSnapshot): void;
  /** Resolves when all that was saved is on the disk, or cannot be. */
  flush(): Promise<void>;
  /** Flushes, and lets others write. */
  close(): Promise<void>;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const DEFAULT_DELAY_MS = 1_000;

/** Makes a store. Nothing is read or written before it is asked to. */
export function createResourceStore(options: ResourceStoreOptions): ResourceStore {
  return new FileStore(options);
}

interface SavedSource {
  readonly savedAtMs: number;
  readonly snapshot: ResourceSnapshot;
}

class FileStore implements ResourceStore {
  readonly #options: ResourceStoreOptions;
  readonly #isLeftOut: (resource: KeptResource) => boolean;
  readonly #sources = new Map<SourceId, SavedSource>();
  #loaded: Promise<ReadonlyMap<SourceId, readonly KeptResource[]>> | undefined;
  #lock: StoreLock | undefined;
  #wasRefused = false;
  #isDirty = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: ResourceStoreOptions) {
    this.#options = options;
    this.#isLeftOut = options.secrets === "keep" ? () => false : createSecretFilter(options.api);
  }

  load(): Promise<ReadonlyMap<SourceId, readonly KeptResource[]>> {
    this.#loaded ??= this.#read();
    return this.#loaded;
  }

  save(source: SourceId, snapshot: ResourceSnapshot): void {
    if (this.#isClosed) return;
    this.#sources.set(source, { savedAtMs: Date.now(), snapshot });
    this.#isDirty = true;
    this.#schedule();
  }

  async flush(): Promise<void> {
    while (this.#isDirty || this.#writing !== undefined) {
      this.#startWriting();
      await this.#writing;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    this.#lock?.release();
    this.#lock = undefined;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => this.#startWriting(), this.#options.delayMs ?? DEFAULT_DELAY_MS);
    this.#timer.unref();
  }

  /** One at a time. What changes meanwhile is written the next time. */
  #startWriting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined) return;
    this.#isDirty = false;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#isDirty) this.#schedule();
    });
  }

  async #read(): Promise<ReadonlyMap<SourceId, readonly KeptResource[]>> {
    const { path, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const content = await readStore(path, maxBytes);
    if (content === undefined) return new Map();
    if ("problem" in content) {
      this.#options.onProblem(`${path} is not used: ${content.problem}`);
      return new Map();
    }
    for (const { id, savedAtMs, resources } of content.sources) {
      if (!this.#sources.has(id)) this.#sources.set(id, { savedAtMs, snapshot: () => resources });
    }
    return new Map(content.sources.map(({ id, resources }) => [id, resources]));
  }

  async #write(): Promise<void> {
    const { path, maxBytes = DEFAULT_MAX_BYTES, onProblem } = this.#options;
    try {
      // What it says of other sources stays.
      await this.load();
      if (!(await this.#mayWrite())) return;
      const sources = [...this.#sources].map(([id, { savedAtMs, snapshot }]) => ({
        id,
        savedAtMs,
        resources: [...snapshot()].filter((resource) => !this.#isLeftOut(resource)),
      }));
      for (const id of await writeStore(path, sources, maxBytes)) {
        onProblem(`${path}: the source "${id}" does not fit into ${maxBytes} bytes, and is not kept`);
      }
    } catch (error) {
      onProblem(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Whoever came first writes. The others look again the next time. */
  async #mayWrite(): Promise<boolean> {
    const { path, onProblem } = this.#options;
    if (this.#lock !== undefined) return true;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    this.#lock = acquireStoreLock(path);
    if (this.#lock !== undefined) return true;
    if (!this.#wasRefused) onProblem(`${path} is written by somebody else; nothing is kept`);
    this.#wasRefused = true;
    return false;
  }
}
