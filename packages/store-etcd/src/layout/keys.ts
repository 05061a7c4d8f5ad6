/** The number of a record in a key, so that keys sort as numbers do. */
function digits(number: number): string {
  return String(number).padStart(16, "0");
}

/** The keys of one ledger. */
export class Keys {
  readonly epoch: string;
  readonly head: string;
  /** Which snapshot is in force. */
  readonly snapshot: string;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix.endsWith("/") ? prefix : `${prefix}/`;
    this.epoch = `${this.#prefix}epoch`;
    this.head = `${this.#prefix}head`;
    this.snapshot = `${this.#prefix}snapshot`;
  }

  /** The records of one append, by the number of its first. */
  batch(number: number): string {
    return `${this.#prefix}records/${digits(number)}`;
  }

  numberOf(batch: string): number {
    return Number(batch.slice(batch.lastIndexOf("/") + 1));
  }

  /** The first part of a body. */
  body(digest: string): string {
    return `${this.#prefix}bodies/${digest}`;
  }

  digestOf(body: string): string {
    return body.slice(this.body("").length);
  }

  /** Another part of a body. */
  bodyPart(digest: string, index: number): string {
    return `${this.#prefix}parts/${digest}/${digits(index)}`;
  }

  /** A part of records or of a snapshot. */
  chunk(blob: string, index: number): string {
    return `${this.#prefix}chunks/${blob}/${digits(index)}`;
  }

  blobOf(chunk: string): string {
    return chunk.slice(this.chunks.length).split("/")[0] ?? "";
  }

  get bodies(): string {
    return this.body("");
  }

  get batches(): string {
    return `${this.#prefix}records/`;
  }

  get chunks(): string {
    return `${this.#prefix}chunks/`;
  }

  /** What a process tells of itself. */
  member(id: string): string {
    return `${this.members}${id}`;
  }

  get members(): string {
    return `${this.#prefix}members/`;
  }

  /** The same, for as long as it is told that the process was lost. */
  keptMember(id: string): string {
    return `${this.keptMembers}${id}`;
  }

  get keptMembers(): string {
    return `${this.#prefix}kept-members/`;
  }

  lease(name: string): string {
    return `${this.#prefix}leases/${name}`;
  }
}

/** The key behind all keys that begin with this. */
export function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
}
