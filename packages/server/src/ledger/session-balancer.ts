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
  /** So many connections were asked to leave, of so many; the others have these numbers. */
  readonly onMoved: (moved: number, connections: number, others: readonly number[]) => void;
}

/** Lets the connections of a server that has more than others go to them. */
export class SessionBalancer {
  readonly #parts: SessionBalancerParts;
  readonly #balance = new SessionBalance();
  #others: readonly number[] = [];
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
      this.#others = (await replicas.others()).filter(takesClients).flatMap(({ connections }) => connections ?? []);
      this.#connections = (await sessions.count()).connections;
    }
    const isAlone = this.#others.length === 0 || !maySend();
    const due = this.#balance.next({ nowMs, own: this.#connections, others: isAlone ? [] : this.#others });
    if (due === 0) return;
    const moved = await sessions.move(due);
    if (moved > 0) onMoved(moved, this.#connections, this.#others);
    this.#connections -= moved;
  }
}

/** One that does not listen yet, is behind or has stopped is no place to go. */
function takesClients({ address, behindSince, stoppedSince }: ReplicaState): boolean {
  return address !== undefined && behindSince === undefined && stoppedSince === undefined;
}
