import { DirectoryReading, type HowToLook, type Look, type ReadingOptions } from "../directory/directory-reading.ts";
import { OutgrownError } from "../directory/file-cache.ts";
import { WorkerReading } from "./worker-reading.ts";

/** What is read without a thread: it takes less time than a thread takes to begin, and keeps nobody waiting. */
const IN_THREAD_BYTES = 128 * 1024;

/** Looks at a directory: in this thread while it is small and, where that is wanted, in another from then on. */
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

  /** All folders by path, with their real ones: what has to be watched. */
  get folders(): ReadonlyMap<string, string> {
    return this.#reading instanceof WorkerReading ? this.#reading.folders : this.#reading.tree.folders;
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

  /** Ends what runs beside this thread; a look begins it again. */
  close(): void {
    if (this.#reading instanceof WorkerReading) this.#reading.close();
  }
}
