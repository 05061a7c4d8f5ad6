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

/** Takes out what happened so far; how far each server had counted remains, since what follows is counted from there. */
export function cutHistory(history: History): History {
  const past: History = {
    appends: history.appends.splice(0),
    reads: history.reads.splice(0),
    sightings: history.sightings.splice(0),
    unchecked: history.unchecked.splice(0),
  };
  const counts = past.unchecked.filter(({ count }) => count !== undefined);
  history.unchecked.push(...new Map(counts.map((look) => [look.server, look])).values());
  return past;
}
