import type { ReplicaState, Replicas } from "./replicas.ts";
import { SessionBalance } from "./session-balance.ts";
import type { Sessions } from "./sessions.ts";

const EVERY_MS = 1_000;
/** How often the other servers are asked for: they tell their numbers as often. */
const ASKED_EVERY_MS = 5_000;

export interface SessionBalancerParts {
  readonly replicas: Replicas;
  readonly sessions: Sessions;
  /** Whether this server is one that clients may leave: it is in order, and the others can be asked for. */
  readonly maySend: () => boolean;
  /** So many connections were asked to leave, of so many; the emptiest of the others has `fewest`. */
  readonly onMoved: (moved: number, connections: number, fewest: number) => void;
}

/** Lets the connections of a server that has more than others go to them. */
export class SessionBalancer {
  readonly #parts: SessionBalancerParts;
  readonly #balance = new SessionBalance();
  #others: ReadonlyMap<string, number> = new Map();
  #askedAt = Number.NEGATIVE_INFINITY;
  #connections = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(parts: SessionBalancerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      // What cannot be asked now is asked later; the store tells of its outage itself.
      this.#looking ??= this.#look()
        .catch(() => undefined)
        .finally(() => {
          this.#looking = undefined;
        });
    }, EVERY_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { replicas, sessions, maySend, onMoved } = this.#parts;
    const nowMs = performance.now();
    if (nowMs - this.#askedAt >= ASKED_EVERY_MS) {
      this.#askedAt = nowMs;
      this.#others = placesAmong(await replicas.others());
      this.#connections = (await sessions.count()).connections;
    }
    if (!maySend()) return;
    const due = this.#balance.next({ nowMs, own: this.#connections, others: this.#others });
    if (due === 0) return;
    const moved = await sessions.move(due);
    this.#balance.closed(moved, nowMs);
    if (moved > 0) onMoved(moved, this.#connections, Math.min(...this.#others.values()));
    this.#connections -= moved;
  }
}

/** The connections of those that take clients: one that does not listen yet, is behind or has stopped is no place to go. */
function placesAmong(replicas: readonly ReplicaState[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { id, address, behindSince, stoppedSince, connections } of replicas) {
    const takesClients = address !== undefined && behindSince === undefined && stoppedSince === undefined;
    if (takesClients && connections !== undefined) places.set(id, connections);
  }
  return places;
}
