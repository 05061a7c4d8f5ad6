/** A node reached a number of the ledger. */
export interface NodeReached {
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly number: number;
  readonly id: string;
}

/** Of so many nodes it is known what they have; of the others a line may be written again. */
const MOST_NODES = 100_000;
/** How long an id may be, in UTF-16 code units; longer ones have no past. */
const LONGEST_ID = 1_024;

/** What each node has, and when that has changed enough for a line. */
export class NodePast {
  readonly #last = new Map<string, NodeReached>();

  /** The nodes, each with what it reached last; those that went on least recently first. */
  get last(): Iterable<NodeReached> {
    return this.#last.values();
  }

  /** Takes in what was written before. */
  know(reached: NodeReached): void {
    this.#last.delete(reached.id);
    this.#last.set(reached.id, reached);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MOST_NODES && oldest !== undefined) this.#last.delete(oldest);
  }

  /** Whether a line must be written: the node did not have this number last. */
  reach(reached: NodeReached): boolean {
    const { id, number } = reached;
    if (id === "" || id.length > LONGEST_ID || this.#last.get(id)?.number === number) return false;
    this.know(reached);
    return true;
  }
}

/** A line of the past. */
export function formatReached({ time, number, id }: NodeReached): string {
  return `${JSON.stringify([time, number, id])}\n`;
}

/** Undefined: the line is torn or damaged. */
export function parseReached(line: string): NodeReached | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!Array.isArray(value)) return undefined;
    const [time, number, id] = value as readonly unknown[];
    if (!Number.isSafeInteger(time) || !Number.isSafeInteger(number) || typeof id !== "string") return undefined;
    return { time: time as number, number: number as number, id };
  } catch {
    return undefined;
  }
}
