import type { Resource } from "../resource/resource.ts";

/** What a name was before a change: enough to tell whether it differs from now, who was told of it, and what it used. */
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
>;

/** What names were before the changes after some revision; undefined: not there. */
export type PastNames = ReadonlyMap<string, Past | undefined>;

interface Line {
  readonly revision: number;
  readonly name: string;
  readonly before: Past | undefined;
  /** Bytes of a body that only this line may keep alive. */
  readonly bytes: number;
}

/** What changed at which revision, for one type in one layer: a line per change, so "what is new" costs what is new. */
export class Journal {
  #lines: Line[] = [];
  #trimmedTo = 0;
  #bytes = 0;

  /** Lines kept. */
  get length(): number {
    return this.#lines.length;
  }

  /** Bytes of the bodies that the lines keep. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Cursors that stand before this revision cannot be answered any more. */
  get trimmedTo(): number {
    return this.#trimmedTo;
  }

  /** `bytes`: of the body that `before` keeps; 0 if it keeps none. */
  append(revision: number, name: string, before: Past | undefined, bytes: number): void {
    this.#lines.push({ revision, name, before, bytes });
    this.#bytes += bytes;
  }

  /** The last change at or before a revision: cursors with equal answers stand at the same change. */
  changeAt(revision: number): number {
    return this.#lines[this.#indexAfter(revision) - 1]?.revision ?? this.#trimmedTo;
  }

  /** What each name that changed after a revision was at that revision. */
  pastAt(revision: number): PastNames {
    const past = new Map<string, Past | undefined>();
    for (let i = this.#indexAfter(revision); i < this.#lines.length; i++) {
      const line = this.#lines[i];
      if (line !== undefined && !past.has(line.name)) past.set(line.name, line.before);
    }
    return past;
  }

  /** The revision before which the older half of the lines lies. */
  get middle(): number {
    return this.#lines[(this.#lines.length - 1) >> 1]?.revision ?? this.#trimmedTo;
  }

  /** Forgets the lines up to a revision. */
  trim(revision: number): void {
    const keepFrom = this.#indexAfter(revision);
    if (keepFrom === 0) return;
    for (const line of this.#lines.slice(0, keepFrom)) this.#bytes -= line.bytes;
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
