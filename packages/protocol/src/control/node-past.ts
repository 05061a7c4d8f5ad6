import { parseTypeUrl, type TypeUrl } from "../resource/type-url.ts";

/** A node reached a number of the ledger, or NACKed it. */
export interface NodePastLine {
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly number: number;
  readonly id: string;
  /** Undefined: it has the number. */
  readonly nacked?: NodeRejection;
}

/** What a node said about a response that it NACKed. */
export interface NodeRejection {
  readonly type: TypeUrl;
  readonly reason: string;
}

/** Of so many nodes it is known what they have, and of so many what they NACKed; of others a line may be written again. */
const MOST_NODES = 100_000;
/** How long an id may be, in UTF-16 code units; longer ones have no past. */
const LONGEST_ID = 1_024;
/** UTF-16 code units of a reason that are kept. */
const LONGEST_REASON = 800;

/** What each node has and NACKed last, and when that has changed enough for a line. */
export class NodePast {
  readonly #last = new Map<string, NodePastLine>();
  /** By node and type. */
  readonly #nacked = new Map<string, NodePastLine>();

  /** What each node has; those that went on least recently first. */
  get last(): Iterable<NodePastLine> {
    return this.#last.values();
  }

  /** Takes in what was written before. */
  know(line: NodePastLine): void {
    if (line.nacked === undefined) put(this.#last, line.id, line);
    else put(this.#nacked, keyOf(line.id, line.nacked), line);
  }

  /** The line that must be written; undefined: it would say again what the last one of the node does. */
  add(given: NodePastLine): NodePastLine | undefined {
    if (given.id === "" || given.id.length > LONGEST_ID) return undefined;
    const line = shortened(given);
    const { id, number, nacked } = line;
    const last = nacked === undefined ? this.#last.get(id) : this.#nacked.get(keyOf(id, nacked));
    if (last?.number === number && last.nacked?.reason === nacked?.reason) return undefined;
    this.know(line);
    return line;
  }
}

/** The latest come last, and the oldest fall out. */
function put(lines: Map<string, NodePastLine>, key: string, line: NodePastLine): void {
  lines.delete(key);
  lines.set(key, line);
  const [oldest] = lines.keys();
  if (lines.size > MOST_NODES && oldest !== undefined) lines.delete(oldest);
}

function keyOf(id: string, { type }: NodeRejection): string {
  return `${type} ${id}`;
}

function shortened(line: NodePastLine): NodePastLine {
  const { nacked } = line;
  if (nacked === undefined || nacked.reason.length <= LONGEST_REASON) return line;
  return { ...line, nacked: { ...nacked, reason: nacked.reason.slice(0, LONGEST_REASON) } };
}

/** A line of the past, as it is written. */
export function formatPastLine({ time, number, id, nacked }: NodePastLine): string {
  const more = nacked === undefined ? [] : [nacked.type, nacked.reason];
  return `${JSON.stringify([time, number, id, ...more])}\n`;
}

/** Undefined: the line is torn or damaged. */
export function parsePastLine(text: string): NodePastLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return undefined;
    const [time, number, id, typeUrl, reason] = value as readonly unknown[];
    if (!Number.isSafeInteger(time) || !Number.isSafeInteger(number) || typeof id !== "string") return undefined;
    const line = { time: time as number, number: number as number, id };
    if (typeUrl === undefined) return line;
    const type = typeof typeUrl === "string" ? parseTypeUrl(typeUrl) : undefined;
    return type === undefined || typeof reason !== "string" ? undefined : { ...line, nacked: { type, reason } };
  } catch {
    return undefined;
  }
}
