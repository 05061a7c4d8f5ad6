import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { SessionCounts, Sessions } from "./sessions.ts";
import type { LedgerRole } from "./source-role.ts";
import type { StoreMembers } from "./store.ts";

/** How often a replica looks at itself, and tells the others if its record, role or trouble is another one. */
const LOOKED_EVERY_MS = 1_000;
/** How often it tells nothing but other numbers of nodes. */
const COUNTED_EVERY_MS = 5_000;

/** A server that follows a store, as it tells of itself. */
export interface ReplicaState {
  /** Random, made at its start. */
  readonly id: string;
  /** The name of its host. */
  readonly name: string;
  /** Where clients connect; undefined until it listens. */
  readonly address: string | undefined;
  readonly version: string;
  readonly role: LedgerRole;
  readonly startedAt: Date;
  /** The newest record that it has in force. */
  readonly number: number;
  /** Since when that is. */
  readonly numberSince: Date;
  /** Since when it knows of records that are not in force; undefined: it knows of none. */
  readonly behindSince: Date | undefined;
  /** Since when it applies nothing any more; undefined: it does. */
  readonly stoppedSince: Date | undefined;
  /** Connected nodes. */
  readonly nodes: number;
  /** Nodes that have what is in force there. */
  readonly deployed: number;
  /** Connections that were not asked to leave; undefined: a server of an earlier version, which does not tell. */
  readonly connections: number | undefined;
}

/** What a replica is asked of itself. */
export interface ReplicaFacts extends Pick<ReplicaState, "address" | "role" | "number" | "stoppedSince"> {
  /** The newest record that it has seen in the store. */
  readonly head: number;
  /** Undefined: the engine cannot be reached. */
  readonly members: StoreMembers | undefined;
}

export interface ReplicasOptions {
  readonly version: string;
  readonly facts: () => ReplicaFacts;
  readonly sessions: Pick<Sessions, "count">;
  /** Told of the counts every five seconds. */
  readonly onCounted?: (counts: SessionCounts) => void;
  readonly now?: () => Date;
}

/** The servers of a store. */
export interface KnownReplicas {
  readonly replicas: readonly ReplicaState[];
  /** Those that are gone, or cut off from the store, but did not leave it. What they told last. */
  readonly lost: readonly ReplicaState[];
}

/** Tells the other servers of a store about this one, and knows what they tell. */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #id = randomBytes(6).toString("hex");
  readonly #startedAt: Date;
  #numberSince: Date;
  #number = -1;
  #behindSince: Date | undefined;
  #counts: SessionCounts = { nodes: 0, deployed: 0, connections: 0 };
  #countedAt = Number.NEGATIVE_INFINITY;
  #told: string | undefined;
  #telling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReplicasOptions) {
    this.#options = options;
    this.#startedAt = this.#now();
    this.#numberSince = this.#startedAt;
  }

  /** Begins to tell. */
  start(): void {
    this.#timer ??= setInterval(() => void this.look(), LOOKED_EVERY_MS).unref();
    void this.look();
  }

  /** What it told goes with the store's own end. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** This server. */
  async own(): Promise<ReplicaState> {
    this.#note(this.#options.facts());
    return this.#describe(await this.#options.sessions.count());
  }

  /** The other servers of the store that are there. Rejects if the engine is away. */
  async others(): Promise<readonly ReplicaState[]> {
    const { members } = this.#options.facts();
    return parseAll(await members?.list(), this.#id);
  }

  /** Since when records are known here that are not in force. */
  get behindSince(): Date | undefined {
    this.#note(this.#options.facts());
    return this.#behindSince;
  }

  /** All servers of the store that tell something, this one as it is now. Rejects if the engine is away. */
  async list(): Promise<KnownReplicas> {
    const { members } = this.#options.facts();
    const own = await this.own();
    const { replicas, lost } = await readReplicas(members, own.id);
    return { replicas: [own, ...replicas], lost: lost.filter((one) => !isBackAs(own, one)) };
  }

  /** Looks at itself, and tells the others what has changed. Called every second; never rejects. */
  async look(): Promise<void> {
    const facts = this.#options.facts();
    this.#note(facts);
    const now = this.#now().getTime();
    if (now - this.#countedAt >= COUNTED_EVERY_MS) {
      this.#countedAt = now;
      await this.#count();
    }
    const text = formatReplica(this.#describe(this.#counts));
    const { members } = facts;
    if (members === undefined || text === this.#told || this.#telling !== undefined) return;
    this.#telling = members
      .announce(this.#id, text)
      .then(
        () => {
          this.#told = text;
        },
        // The store tells of its outage itself.
        () => undefined,
      )
      .finally(() => {
        this.#telling = undefined;
      });
    await this.#telling;
  }

  async #count(): Promise<void> {
    const { sessions, onCounted } = this.#options;
    try {
      this.#counts = await sessions.count();
    } catch {
      // A worker could not tell; it is asked again.
      return;
    }
    onCounted?.(this.#counts);
  }

  #note({ number, head }: ReplicaFacts): void {
    if (number !== this.#number) {
      this.#number = number;
      this.#numberSince = this.#now();
    }
    this.#behindSince = head > number ? (this.#behindSince ?? this.#now()) : undefined;
  }

  #describe({ nodes, deployed, connections }: SessionCounts): ReplicaState {
    const { address, role, number, stoppedSince } = this.#options.facts();
    return {
      ...{ id: this.#id, name: hostname(), address, version: this.#options.version, role, startedAt: this.#startedAt },
      ...{ number, numberSince: this.#numberSince, behindSince: this.#behindSince, stoppedSince, nodes, deployed },
      connections,
    };
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }
}

/** What the servers of a store tell, without `own`. Rejects if the engine is away. */
export async function readReplicas(members: StoreMembers | undefined, own?: string): Promise<KnownReplicas> {
  // Whoever comes in between is among the living, and not taken for lost.
  const kept = parseAll(await members?.listKept?.(), own);
  const replicas = parseAll(await members?.list(), own);
  const living = new Set(replicas.map(({ id }) => id));
  const lost = kept.filter((one) => !living.has(one.id) && !replicas.some((other) => isBackAs(other, one)));
  return { replicas, lost };
}

function parseAll(told: ReadonlyMap<string, string> = new Map(), own: string | undefined): readonly ReplicaState[] {
  return [...told].flatMap(([id, text]) => (id === own ? [] : (parseReplica(id, text) ?? [])));
}

/** Whether a lost server was started again: on the same host, at the same port. */
function isBackAs(replica: ReplicaState, lost: ReplicaState): boolean {
  const port = ({ address = "" }: ReplicaState): string => address.slice(address.lastIndexOf(":"));
  return replica.name === lost.name && port(replica) === port(lost) && replica.startedAt > lost.startedAt;
}

/** What a replica tells of itself, as the store keeps it. */
export function formatReplica({ id: _, ...state }: ReplicaState): string {
  return JSON.stringify({ form: 1, ...state });
}

/** Undefined: the text is of another version. */
export function parseReplica(id: string, text: string): ReplicaState | undefined {
  try {
    const told = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const time = (key: string): Date | undefined => {
      const at = told[key];
      return typeof at === "string" ? new Date(at) : undefined;
    };
    const count = (key: string): number => Number(told[key]) || 0;
    const word = (key: string): string => String(told[key] ?? "");
    const [startedAt, numberSince] = [time("startedAt"), time("numberSince")];
    if (told["form"] !== 1 || startedAt === undefined || numberSince === undefined) return undefined;
    return {
      ...{ id, name: word("name"), version: word("version"), startedAt, numberSince },
      address: told["address"] === undefined ? undefined : word("address"),
      role: told["role"] === "publisher" ? "publisher" : "follower",
      ...{ number: count("number"), nodes: count("nodes"), deployed: count("deployed") },
      ...{ behindSince: time("behindSince"), stoppedSince: time("stoppedSince") },
      connections: told["connections"] === undefined ? undefined : count("connections"),
    };
  } catch {
    return undefined;
  }
}
