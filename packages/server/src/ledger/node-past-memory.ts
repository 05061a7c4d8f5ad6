import type { NodePastLine } from "@xdskit/protocol/internal";
import type { NodePastStore } from "./node-past-files.ts";

/** The lines of the past of a server without a directory for them, in two halves as the files are. */
export class NodePastMemory implements NodePastStore {
  readonly #half: number;
  #older: readonly NodePastLine[] = [];
  #newest: NodePastLine[] = [];

  constructor(maxLines: number) {
    this.#half = maxLines / 2;
  }

  async *read(): AsyncIterable<NodePastLine> {
    yield* this.#older;
    yield* this.#newest;
  }

  async append(lines: readonly NodePastLine[], present: Iterable<NodePastLine>): Promise<void> {
    for (const line of lines) this.#newest.push(line);
    if (this.#newest.length < this.#half) return;
    this.#older = this.#newest;
    // A fleet that fills a half by itself must not turn it over with every line.
    this.#newest = [...present].slice(-this.#half / 2);
  }
}
