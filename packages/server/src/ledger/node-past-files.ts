import { createReadStream } from "node:fs";
import { appendFile, mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { formatPastLine, type NodePastLine, parsePastLine } from "@xdskit/protocol/internal";

/** The lines of the past, as far back as there is room. */
export interface NodePastStore {
  /** The lines of a node, oldest first. */
  read(id: string): AsyncIterable<NodePastLine>;
  /** Appends lines; `present` is what each node has, those of the lines included. */
  append(lines: readonly NodePastLine[], present: Iterable<NodePastLine>): Promise<void>;
}

const NEWEST = "newest.log";
const OLDER = "older.log";

/**
 * The lines of the past in two files: when the newer one has half of the bytes, it takes the place of the older one. A
 * file begins with what each node has, so that what holds for long does not fall out. Nothing is synced: a crash of the
 * machine may cost the last lines, and a torn one is left out.
 */
export class NodePastFiles implements NodePastStore {
  readonly #directory: string;
  readonly #halfBytes: number;
  #bytes = 0;
  /** The last line may be torn: the next one must not become one with it. */
  #isTorn = false;

  private constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#halfBytes = maxBytes / 2;
  }

  /** Opens the files of a directory, or makes it. Rejects with the system's error. */
  static async open(directory: string, maxBytes: number): Promise<NodePastFiles> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files = new NodePastFiles(directory, maxBytes);
    files.#bytes = await sizeOf(files.#path(NEWEST));
    files.#isTorn = files.#bytes > 0;
    return files;
  }

  async *read(id: string): AsyncIterable<NodePastLine> {
    const quoted = JSON.stringify(id);
    for await (const written of this.#written()) {
      const line = written.includes(quoted) ? parsePastLine(written) : undefined;
      if (line?.id === id) yield line;
    }
  }

  /** The lines of all nodes, oldest first. */
  async *readAll(): AsyncIterable<NodePastLine> {
    for await (const written of this.#written()) {
      const line = parsePastLine(written);
      if (line !== undefined) yield line;
    }
  }

  async *#written(): AsyncIterable<string> {
    for (const name of [OLDER, NEWEST]) {
      if ((await sizeOf(this.#path(name))) === 0) continue;
      yield* createInterface({ input: createReadStream(this.#path(name)), crlfDelay: Number.POSITIVE_INFINITY });
    }
  }

  async append(lines: readonly NodePastLine[], present: Iterable<NodePastLine>): Promise<void> {
    // Before anything is written, so that what failed can be appended again.
    if (this.#bytes >= this.#halfBytes) await this.#rotate(present);
    await this.#write(lines.map(formatPastLine).join(""));
  }

  async #rotate(present: Iterable<NodePastLine>): Promise<void> {
    const first = [...present].map(formatPastLine).join("");
    const next = this.#path(`${NEWEST}.new`);
    await writeFile(next, first, { mode: 0o600 });
    // Who tidies up may have removed it.
    if ((await sizeOf(this.#path(NEWEST))) > 0) await rename(this.#path(NEWEST), this.#path(OLDER));
    await rename(next, this.#path(NEWEST));
    // A fleet that fills a file by itself must not rotate it with every line.
    this.#bytes = Math.min(Buffer.byteLength(first), this.#halfBytes / 2);
    this.#isTorn = false;
  }

  async #write(lines: string): Promise<void> {
    const text = this.#isTorn ? `\n${lines}` : lines;
    this.#isTorn = true;
    await appendFile(this.#path(NEWEST), text, { mode: 0o600 });
    this.#isTorn = false;
    this.#bytes += Buffer.byteLength(text);
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return 0;
    throw cause;
  }
}
