import { DirectoryReading, type HowToLook, type Look, type ReadingOptions } from "../directory/directory-reading.ts";
import { OutgrownError } from "../directory/file-cache.ts";
import type { AskedResource, ResourcePlace } from "../resource-places.ts";
import { WorkerReading } from "./worker-reading.ts";

/** The size up to which a directory is read without a thread, in bytes: that takes less time than starting one. */
const IN_THREAD_BYTES = 128 * 1024;

/** Reads a directory: in this thread while it is small, then, if enabled, in a worker thread. */
export class DirectoryReader {
  readonly #options: ReadingOptions;
  readonly #offThread: { readonly descriptors: readonly Uint8Array[] } | undefined;
  #reading: DirectoryReading | WorkerReading;

  constructor(options: ReadingOptions, offThread: { readonly descriptors: readonly Uint8Array[] } | undefined) {
    this.#options = options;
    this.#offThread = offThread;
    this.#reading = new DirectoryReading(
      offThread === undefined ? options : { ...options, maxTotalBytes: IN_THREAD_BYTES },
    );
  }

  /** The real paths of all folders by path, for watching them. */
  get folders(): ReadonlyMap<string, string> {
    return this.#reading.folders;
  }

  async look(paths: ReadonlySet<string>, how: HowToLook): Promise<Look> {
    try {
      return await this.#reading.look(paths, how);
    } catch (error) {
      if (!(error instanceof OutgrownError) || this.#offThread === undefined) throw error;
    }
    const { api: _, ...options } = this.#options;
    this.#reading = new WorkerReading({ ...options, descriptors: this.#offThread.descriptors });
    return await this.#reading.look(paths, how);
  }

  /** Where resources are in the files; undefined where that is not known. */
  placesOf(asked: readonly AskedResource[]): Promise<readonly (ResourcePlace | undefined)[]> {
    return this.#reading.placesOf(asked);
  }

  /** Ends the worker thread; the next look starts another. */
  close(): void {
    if (this.#reading instanceof WorkerReading) this.#reading.close();
  }
}
