import type { Resource } from "../resource/resource.ts";
import { ITEMS_A_STEP, type Steps } from "./steps.ts";

/**
 * The state of a name before a change: enough to tell whether it differs from now, who was sent it, and what it used.
 */
export type Past = Pick<
  Resource,
  | "name"
  | "version"
  | "content"
  | "sum"
  | "aliases"
  | "onDemand"
  | "references"
  | "ttlMs"
  | "error"
  | "variant"
  | "isStandIn"
> & {
  /** The addresses that it bound, if the type has any; not set on what still has its bytes. */
  readonly addresses?: readonly string[];
};

/** Whether a name had a resource, and has one now that references something else. */
export function isRetargeted(
  then: Pick<Past, "references"> | undefined,
  now: Pick<Past, "references"> | undefined,
): boolean {
  if (then === undefined || now === undefined || then.references.length + now.references.length === 0) return false;
  return JSON.stringify(then.references) !== JSON.stringify(now.references);
}

/** The state of names before the changes after some revision; undefined: did not exist. */
export type PastNames = ReadonlyMap<string, Past | undefined>;

interface JournalLine {
  readonly revision: number;
  readonly name: string;
  readonly before: Past | undefined;
  /** Bytes of a resource body that this line alone may keep in memory. */
  readonly bytes: number;
}

/**
 * The changes of one type in one layer, one line each with its revision, so that finding what is new costs only what is
 * new.
 */
export class Journal {
  #lines: JournalLine[] = [];
  #trimmedTo = 0;
  #bytes = 0;

  /** Number of lines. */
  get length(): number {
    return this.#lines.length;
  }

  /** Bytes of resource bodies that the lines keep in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The journal cannot answer for positions before this revision. */
  get trimmedTo(): number {
    return this.#trimmedTo;
  }

  /** Adds a line; `bytes` is the size of the body that `before` keeps, 0 for none. */
  append(revision: number, name: string, before: Past | undefined, bytes: number): void {
    this.#lines.push({ revision, name, before, bytes });
    this.#bytes += bytes;
  }

  /** Adds the lines of another journal, which are newer. */
  extend(newer: Journal): void {
    for (const line of newer.#lines) this.#lines.push(line);
    this.#bytes += newer.#bytes;
  }

  /**
   * Returns the revision of the last change at or before a revision; positions with the same result have the same
   * differences.
   */
  changeAt(revision: number): number {
    return this.#lines[this.#indexAfter(revision) - 1]?.revision ?? this.#trimmedTo;
  }

  /** Returns the state at a revision of each name that changed after it. */
  *pastAt(revision: number): Steps<PastNames> {
    let taken = 0;
    const past = new Map<string, Past | undefined>();
    for (let i = this.#indexAfter(revision); i < this.#lines.length; i++) {
      const line = this.#lines[i];
      if (line !== undefined && !past.has(line.name)) past.set(line.name, line.before);
      if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
    }
    return past;
  }

  /** The lines, the newest first. */
  *backwards(): Generator<Readonly<JournalLine>, void> {
    for (let i = this.#lines.length - 1; i >= 0; i--) {
      const line = this.#lines[i];
      if (line !== undefined) yield line;
    }
  }

  /** The revision in the middle of the lines. */
  get middle(): number {
    return this.#lines[(this.#lines.length - 1) >> 1]?.revision ?? this.#trimmedTo;
  }

  /** Drops the lines up to a revision. */
  trim(revision: number): void {
    const keepFrom = this.#indexAfter(revision);
    if (keepFrom === 0) return;
    if (this.#bytes > 0) for (const line of this.#lines.slice(0, keepFrom)) this.#bytes -= line.bytes;
    this.#lines = this.#lines.slice(keepFrom);
    this.#trimmedTo = Math.max(this.#trimmedTo, revision);
  }

  #indexAfter(revision: number): number {
    let low = 0;
    let high = this.#lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
