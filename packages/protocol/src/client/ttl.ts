import type { Turn } from "./turn.ts";

interface Life {
  readonly timer: number;
  readonly firesAtMs: number;
  endsAtMs: number;
}

/**
 * How long resources of one type may be used without hearing of them again (C-TTL-05). Runs whether there is a connection or not (C-TTL-06). A timer
 * that goes off early because the life was prolonged is started anew, so a heartbeat costs nothing.
 */
export class Ttls {
  readonly #turn: Turn;
  readonly #expired: (name: string) => void;
  readonly #lives = new Map<string, Life>();

  constructor(turn: Turn, expired: (name: string) => void) {
    this.#turn = turn;
    this.#expired = expired;
  }

  /** It was heard of; without a ttl it lives for ever. */
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
