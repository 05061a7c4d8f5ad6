import type { ClientTurn } from "./client-turn.ts";

interface Life {
  readonly timer: number;
  readonly firesAtMs: number;
  endsAtMs: number;
}

/**
 * The TTLs of the resources of one type (C-TTL-05), which run with or without a connection (C-TTL-06). A renewal only
 * moves the deadline, and a timer that fires early starts anew, so a heartbeat costs nothing.
 */
export class ExpiryTimers {
  readonly #turn: ClientTurn;
  readonly #expired: (name: string) => void;
  readonly #lives = new Map<string, Life>();

  constructor(turn: ClientTurn, expired: (name: string) => void) {
    this.#turn = turn;
    this.#expired = expired;
  }

  /** Renews the TTL of a resource; without one it never expires. */
  renew(name: string, ttlMs: number | undefined): void {
    if (ttlMs === undefined) {
      this.forget(name);
      return;
    }
    const life = this.#lives.get(name);
    const endsAtMs = this.#turn.nowMs + ttlMs;
    if (life !== undefined && life.firesAtMs <= endsAtMs) {
      life.endsAtMs = endsAtMs;
      return;
    }
    this.forget(name);
    this.#start(name, endsAtMs);
  }

  forget(name: string): void {
    const life = this.#lives.get(name);
    if (life === undefined) return;
    this.#turn.cancelTimer(life.timer);
    this.#lives.delete(name);
  }

  #start(name: string, endsAtMs: number): void {
    const ms = endsAtMs - this.#turn.nowMs;
    const timer = this.#turn.startTimer(ms, () => this.#fired(name));
    this.#lives.set(name, { timer, firesAtMs: endsAtMs, endsAtMs });
  }

  #fired(name: string): void {
    const life = this.#lives.get(name);
    if (life === undefined) return;
    this.#lives.delete(name);
    if (life.endsAtMs > this.#turn.nowMs) this.#start(name, life.endsAtMs);
    else this.#expired(name);
  }
}
