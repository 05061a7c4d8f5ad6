/** What happened in a run, with times in milliseconds of this process' clock. */
export interface History {
  readonly appends: Append[];
  readonly reads: Read[];
  readonly sightings: Sighting[];
  /** How many clients a server said that it served unasked, whenever that was looked at and the server answered. */
  readonly unchecked: Unchecked[];
}

/** A call of `xds publish`. */
export interface Append {
  readonly publisher: string;
  readonly content: string;
  readonly calledAt: number;
  /** Undefined: it was killed, or could not tell what became of it. */
  outcome?: { readonly at: number; readonly number: number };
}

/** A question to the engine for its newest record. */
export interface Read {
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly number: number;
}

/** A response that a client got. */
export interface Sighting {
  readonly client: string;
  /** A client that starts anew knows nothing of what it had. */
  readonly life: number;
  readonly server: number;
  readonly openedAt: number;
  readonly at: number;
  readonly content: string;
}

export interface Unchecked {
  readonly server: number;
  readonly at: number;
  /** Undefined: the server did not answer. */
  readonly count: number | undefined;
}

/** The contents of the final ledger with their numbers; each content is published once. */
export type Ledger = ReadonlyMap<string, number>;

export function emptyHistory(): History {
  return { appends: [], reads: [], sightings: [], unchecked: [] };
}
