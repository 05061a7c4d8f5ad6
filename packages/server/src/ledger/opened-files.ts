import { openToRead } from "./contents.ts";
import type { LedgerFile, LedgerFiles } from "./ledger-files.ts";
import { type LinePart, type ReadLine, readLineAt, readLinesAt } from "./segment-format.ts";

/** The files of a ledger from which single lines are read: each is opened once. */
export class OpenedFiles {
  readonly #files: LedgerFiles;
  readonly #opened = new Map<string, Promise<LedgerFile>>();

  constructor(files: LedgerFiles) {
    this.#files = files;
  }

  /** The content of a line; undefined if it is damaged. */
  async lineAt(name: string, part: LinePart): Promise<Buffer | undefined> {
    return (await readLineAt(await this.#open(name), part))?.content;
  }

  /** Several lines of a file, in the order in which they are on disk. */
  async *linesAt<T extends LinePart>(name: string, parts: readonly T[]): AsyncIterable<ReadLine<T>> {
    yield* readLinesAt(await this.#open(name), parts);
  }

  async close(name: string): Promise<void> {
    const opened = this.#opened.get(name);
    this.#opened.delete(name);
    await (await opened)?.close();
  }

  async closeAll(): Promise<void> {
    for (const file of this.#opened.values()) await (await file).close();
    this.#opened.clear();
  }

  async #open(name: string): Promise<LedgerFile> {
    let opened = this.#opened.get(name);
    if (opened === undefined) {
      opened = openToRead(this.#files, name);
      this.#opened.set(name, opened);
      opened.catch(() => this.#opened.delete(name));
    }
    return await opened;
  }
}
