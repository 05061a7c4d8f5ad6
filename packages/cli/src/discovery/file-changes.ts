import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** A write may take several steps: it is over when nothing more happens for so long. */
const SETTLE_MS = 50;

/**
 * Hears that a file may have changed: that it was replaced, or written in place, or that a link on its path was swapped, as Kubernetes
 * does it (C-FS-09, C-FS-10).
 */
export class FileChanges {
  readonly #directory: string;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isChanged = false;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(path: string) {
    this.#directory = dirname(path);
  }

  /** Listens. Throws the system's error when the directory cannot be watched. */
  open(): void {
    this.#watcher = watch(this.#directory, () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => {
        this.#isChanged = true;
        this.#wake();
      }, SETTLE_MS);
    });
    this.#watcher.on("error", () => this.close());
  }

  /** Waits for the next change; false when there will be none. */
  async next(): Promise<boolean> {
    while (!this.#isChanged && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isChanged = false;
    return !this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#watcher?.close();
    this.#wake();
  }
}
