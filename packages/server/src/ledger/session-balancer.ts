import type { ReplicaState, Replicas } from "./replicas.ts";
import { SessionBalance } from "./session-balance.ts";
import type { Sessions } from "./sessions.ts";

const EVERY_MS = 1_000;

export interface SessionBalancerParts {
  readonly replicas: Replicas;
  readonly sessions: Pick<Sessions, "move">;
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
  #connections = 0;
  /** The others tell their numbers when this server counts its own, and are asked for then. */
  #isCounted = false;
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

  /** So many connections are open that were not asked to leave. */
  counted(connections: number): void {
    this.#connections = connections;
    this.#isCounted = true;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { replicas, sessions, maySend, onMoved } = this.#parts;
    const nowMs = performance.now();
    if (this.#isCounted) {
      this.#isCounted = false;
      this.#others = placesAmong(await replicas.others());
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
