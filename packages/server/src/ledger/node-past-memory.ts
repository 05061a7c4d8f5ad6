import { formatPastLine, type NodePastLine, parsePastLine } from "@xdskit/protocol/internal";
import type { NodePastStore } from "./node-past-files.ts";

/** The lines of one append, as text: a fraction of what the objects take. */
interface Block {
  readonly text: string;
  /** Of its newest line, in milliseconds since 1970. */
  readonly time: number;
}

/**
 * The lines of the past of a server without a directory for them. The oldest fall out one append at a time, so that the
 * memory stays level; what a node has had for longer than that is known from what it has.
 */
export class NodePastMemory implements NodePastStore {
  readonly #maxLength: number;
  readonly #present: () => Iterable<NodePastLine>;
  readonly #blocks: Block[] = [];
  #length = 0;
  /** The newest line that fell out. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  /** `present` is what each node has. */
  constructor(maxLength: number, present: () => Iterable<NodePastLine>) {
    this.#maxLength = maxLength;
    this.#present = present;
  }

  async *read(id: string): AsyncIterable<NodePastLine> {
    for (const line of this.#present()) if (line.id === id && line.time <= this.#forgottenUntil) yield line;
    const quoted = JSON.stringify(id);
    for (const { text } of [...this.#blocks]) {
      if (!text.includes(quoted)) continue;
      for (const written of text.split("\n")) {
        const line = written.includes(quoted) ? parsePastLine(written) : undefined;
        if (line?.id === id) yield line;
      }
    }
  }

  async append(lines: readonly NodePastLine[]): Promise<void> {
    const text = lines.map(formatPastLine).join("");
    this.#blocks.push({ text, time: lines.reduce((newest, { time }) => Math.max(newest, time), 0) });
    this.#length += text.length;
    while (this.#length > this.#maxLength && this.#blocks.length > 1) {
      const oldest = this.#blocks.shift();
      if (oldest === undefined) return;
      this.#length -= oldest.text.length;
      this.#forgottenUntil = Math.max(this.#forgottenUntil, oldest.time);
    }
  }
}
