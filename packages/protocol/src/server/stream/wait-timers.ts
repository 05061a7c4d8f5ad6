import type { ServerEffect } from "../contract/effect.ts";
import type { WaitingType } from "../order/stream-waits.ts";

/** What the timers read of a stream. */
export interface WaitingStream {
  readonly isSettled: boolean;
  waiting(): readonly WaitingType[];
}

/** A running timer: who waits for what, and since which revision. */
interface Timer<S> {
  readonly stream: S;
  readonly waiting: WaitingType;
  readonly since: number;
}

interface RunningWait {
  readonly timer: number;
  readonly ms: number;
  readonly key: string;
}

/** Runs a timer for everything that a stream waits for. */
export class WaitTimers<S extends WaitingStream> {
  readonly #nextTimer: () => number;
  readonly #timers = new Map<number, Timer<S>>();
  readonly #running = new Map<S, readonly RunningWait[]>();

  /** `nextTimer`: returns an unused timer number. */
  constructor(nextTimer: () => number) {
    this.#nextTimer = nextTimer;
  }

  /** Starts timers for new waits of a stream, and cancels those of waits that ended. */
  update(stream: S, revision: number): readonly ServerEffect[] {
    const known = this.#running.get(stream);
    // Who is settled waits for nothing.
    if (known === undefined && stream.isSettled) return none;
    const before = known ?? [];
    const effects: ServerEffect[] = [];
    const after: RunningWait[] = [];
    for (const waiting of stream.waiting()) {
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
    const cancelled = before.filter((one) => !after.includes(one)).map(({ timer }) => this.#cancel(timer));
    this.#keep(stream, after);
    return [...cancelled, ...effects];
  }

  /** Cancels the timers of waits that ended; the next flush determines new waits. */
  cancelEnded(stream: S): readonly ServerEffect[] {
    const before = this.#running.get(stream);
    if (before === undefined) return none;
    const keys = new Set(stream.waiting().map(keyOf));
    const left = before.filter((one) => keys.has(one.key));
    this.#keep(stream, left);
    return before.filter((one) => !left.includes(one)).map(({ timer }) => this.#cancel(timer));
  }

  /** Cancels all timers of a stream. */
  forget(stream: S): readonly ServerEffect[] {
    const running = this.#running.get(stream) ?? [];
    this.#running.delete(stream);
    return running.map(({ timer }) => this.#cancel(timer));
  }

  /** The wait that timed out; undefined: the timer is unknown or was cancelled. */
  fired(timer: number): Timer<S> | undefined {
    const fired = this.#timers.get(timer);
    if (fired === undefined) return undefined;
    this.#timers.delete(timer);
    const { stream } = fired;
    this.#keep(stream, this.#running.get(stream)?.filter((one) => one.timer !== timer) ?? []);
    return fired;
  }

  #keep(stream: S, running: readonly RunningWait[]): void {
    if (running.length > 0) this.#running.set(stream, running);
    else this.#running.delete(stream);
  }

  #cancel(timer: number): ServerEffect {
    this.#timers.delete(timer);
    return { kind: "cancel-timer", timer };
  }
}

const none: readonly ServerEffect[] = [];

function keyOf({ type, what }: WaitingType): string {
  return `${what} ${type.traits.type}`;
}
