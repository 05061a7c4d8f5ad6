import { DirectoryReading, type HowToLook, type Look, type ReadingOptions } from "../directory/directory-reading.ts";
import { OutgrownError } from "../directory/outgrown-error.ts";
import type { AskedResource, ResourcePlace } from "../resource-places.ts";
import { dropThread } from "./reader-thread.ts";
import { IN_THREAD_BYTES } from "./size.ts";
import { WorkerReading } from "./worker-reading.ts";

/** Reads a directory: in this thread while it is small, then, if enabled, in a worker thread. */
export class DirectoryReader {
  readonly #options: ReadingOptions;
  readonly #offThread: { readonly descriptors: readonly Uint8Array[] } | undefined;
  #reading: DirectoryReading | WorkerReading;
  /** How often it was closed. */
  #closed = 0;

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
    const closed = this.#closed;
    try {
      const look = await this.#reading.look(paths, how);
      if (this.#reading instanceof DirectoryReading) dropThread();
      return look;
    } catch (error) {
      if (!(error instanceof OutgrownError) || this.#offThread === undefined) throw error;
    }
    if (closed !== this.#closed) throw new DOMException("the source was closed", "AbortError");
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
    this.#closed++;
    if (this.#reading instanceof WorkerReading) this.#reading.close();
    else dropThread();
  }
}
