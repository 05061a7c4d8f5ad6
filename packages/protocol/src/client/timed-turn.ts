type TimerEffect =
  | { readonly kind: "start-timer"; readonly timer: number; readonly ms: number }
  | { readonly kind: "cancel-timer"; readonly timer: number };

/** The effects and timers of a turn: one event, and all that follows from it at once. */
export class TimedTurn<Effect> {
  #effects: (Effect | TimerEffect)[] = [];
  readonly #timers = new Map<number, () => void>();
  #lastTimer = 0;

  /** The number of running timers. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Adds an effect. */
  ask(effect: Effect | TimerEffect): void {
    this.#effects.push(effect);
  }

  startTimer(ms: number, then: () => void): number {
    const timer = ++this.#lastTimer;
    this.#timers.set(timer, then);
    this.ask({ kind: "start-timer", timer, ms });
    return timer;
  }

  /** Cancels a timer; does nothing if it fired already or is undefined. */
  cancelTimer(timer: number | undefined): void {
    if (timer !== undefined && this.#timers.delete(timer)) this.ask({ kind: "cancel-timer", timer });
  }

  /** Runs a timer that fired, unless it was cancelled meanwhile. */
  fire(timer: number): void {
    const then = this.#timers.get(timer);
    this.#timers.delete(timer);
    then?.();
  }

  /** Returns the collected effects, and starts anew. */
  takeEffects(): readonly (Effect | TimerEffect)[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
