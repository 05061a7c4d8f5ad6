/** The connected nodes by state; a node counts once, by the worst of its types. */
export interface NodeCountsAnswer {
  readonly total: number;
  /** Nodes with a NACK in force. */
  readonly nacked: number;
  /** Nodes for which something is held back until something else has been ACKed. */
  readonly waiting: number;
  /** Nodes with a response that awaits its ACK. */
  readonly pending: number;
  /** All other nodes: they ACKed everything that they were sent. */
  readonly acked: number;
}

/** `GET /api/v1/samples`: the last hour. */
export interface SamplesAnswer {
  readonly intervalSeconds: number;
  /** Oldest first; at most 360. */
  readonly items: readonly SampleAnswer[];
  /** The last revisions that were sent to connected clients, oldest first; at most 100. */
  readonly revisions: readonly RevisionTimeAnswer[];
}

export interface SampleAnswer {
  readonly at: string;
  readonly streams: number;
  readonly nodes: NodeCountsAnswer;
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** The longest delay of the event loop since the sample before, in milliseconds. */
  readonly lagMs: number;
}

/** How long a revision took to arrive. */
export interface RevisionTimeAnswer {
  readonly revision: number;
  /** When it was committed. */
  readonly at?: string;
  /** ACKs of responses at this revision, by streams that were open when it was committed. */
  readonly acks: number;
  /** Milliseconds from the commit to the last of these ACKs. */
  readonly lastAckMs: number;
}

/** The data of the events of `GET /api/v1/events`, by event name. */
export interface LiveEvents {
  readonly server: {
    readonly version: string;
    readonly ready: boolean;
    readonly draining: boolean;
    readonly reasons: readonly string[];
  };
  readonly source: {
    readonly state: "loading" | "good" | "failed";
    readonly since: string;
    readonly errors: number;
    readonly warnings: number;
  };
  /** How far the newest revision is. Under load a revision may be skipped. */
  readonly progress: {
    readonly head: number;
    /** The revision that the counts are about: `head`, or shortly before it. */
    readonly revision: number;
    /** Nodes of which a client has the revision. */
    readonly deployed: number;
    /** Clients that have something up to the revision not sent, or without an ACK or NACK. */
    readonly pending: number;
    /** Clients with nothing pending and a NACK in force. */
    readonly nacked: number;
  };
  /** Told by servers with a ledger only. */
  readonly ledger: {
    /** Of the newest record. */
    readonly number: number;
    /** The number of the newest change that is in force. */
    readonly inForce: number;
    /** The number of the change that a fuse holds. */
    readonly held?: number;
  };
  readonly nodes: NodeCountsAnswer & {
    /** Grows with every change of a node: what a list of nodes shows may be outdated. */
    readonly changes: number;
    readonly streams: number;
    /** The largest groups, at most 20 each. */
    readonly clusters: readonly NodeGroupAnswer[];
    /** By group; a node that is in several counts in each. */
    readonly groups: readonly NodeGroupAnswer[];
    readonly userAgents: readonly NodeGroupAnswer[];
  };
}

/** The nodes with the same `cluster`, or the same name and version of their program. */
export interface NodeGroupAnswer extends NodeCountsAnswer {
  readonly name: string;
}
