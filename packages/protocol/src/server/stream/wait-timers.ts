import type { ServerEffect } from "../contract/effect.ts";
import type { WaitingType } from "../order/stream-waits.ts";
import type { Stream } from "./stream.ts";

/** A running timer: who waits for what, and since which revision. */
interface Timer {
  readonly stream: Stream;
  readonly waiting: WaitingType;
  readonly since: number;
}

interface RunningWait {
  readonly timer: number;
  readonly ms: number;
  readonly key: string;
}

/** Runs a timer for everything that a stream waits for. */
export class WaitTimers {
  readonly #nextTimer: () => number;
  readonly #timers = new Map<number, Timer>();
  readonly #running = new Map<Stream, readonly RunningWait[]>();

  /** `nextTimer`: returns an unused timer number. */
  constructor(nextTimer: () => number) {
    this.#nextTimer = nextTimer;
  }

  /** Starts timers for new waits of a stream, and cancels those of waits that ended. */
  update(stream: Stream, revision: number): readonly ServerEffect[] {
    const known = this.#running.get(stream);
    // Who is settled waits for nothing.
    if (known === undefined && stream.isSettled) return none;
    const all = stream.waiting();
    if (known === undefined && all.length === 0) return none;
    const before = known ?? [];
    const effects: ServerEffect[] = [];
    const after: RunningWait[] = [];
    for (const waiting of all) {
      const { limitMs: ms } = waiting;
      const key = keyOf(waiting);
      // A wait with another limit is another wait, with a timer of its own.
      const running = before.find((one) => one.key === key && one.ms === ms);
      if (running !== undefined) {
        after.push(running);
        continue;
      }
      const timer = this.#nextTimer();
      this.#timers.set(timer, { stream, waiting, since: revision });
      after.push({ timer, ms, key });
      effects.push({ kind: "start-timer", timer, ms });
    }
    const cancelled = before.filter((one) => !after.includes(one)).flatMap(({ timer }) => this.#cancel(timer));
    if (after.length > 0) this.#running.set(stream, after);
    else if (before.length > 0) this.#running.delete(stream);
    return cancelled.length === 0 ? effects : [...cancelled, ...effects];
  }

  /** Cancels the timers of waits that ended; the next flush determines new waits. */
  cancelEnded(stream: Stream): readonly ServerEffect[] {
    const before = this.#running.get(stream);
    if (before === undefined) return none;
    const keys = new Set(stream.waiting().map(keyOf));
    const left = before.filter((one) => keys.has(one.key));
    if (left.length === before.length) return none;
    if (left.length > 0) this.#running.set(stream, left);
    else this.#running.delete(stream);
    return before.filter((one) => !left.includes(one)).flatMap(({ timer }) => this.#cancel(timer));
  }

  /** Cancels all timers of a stream. */
  forget(stream: Stream): readonly ServerEffect[] {
    const running = this.#running.get(stream) ?? [];
    this.#running.delete(stream);
    return running.flatMap(({ timer }) => this.#cancel(timer));
  }

  /** The wait that timed out; undefined: the timer is unknown or was cancelled. */
  fired(timer: number): Timer | undefined {
    const fired = this.#timers.get(timer);
    if (fired === undefined) return undefined;
    this.#timers.delete(timer);
    const left = (this.#running.get(fired.stream) ?? []).filter((one) => one.timer !== timer);
    if (left.length > 0) this.#running.set(fired.stream, left);
    else this.#running.delete(fired.stream);
    return fired;
  }

  #cancel(timer: number): readonly ServerEffect[] {
    return this.#timers.delete(timer) ? [{ kind: "cancel-timer", timer }] : [];
  }
}

const none: readonly ServerEffect[] = [];

function keyOf({ type, what }: WaitingType): string {
  return `${what} ${type.traits.type}`;
}
