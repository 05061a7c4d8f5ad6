import type { Node } from "../node/node.ts";
import type { ClientEffect, ClientReport } from "./effect.ts";
import type { Moment, WatchId } from "./event.ts";
import type { WatchEvent } from "./watch-event.ts";

/** Something that updates its streams and requests once all events of a turn are handled. */
export interface TurnEndListener {
  settle(): void;
}

/**
 * What the parts of a client share: time, timers and collected effects. Of one event, all absences are notified before
 * changes, whichever watch they go to (C-CLI-08).
 */
export class ClientTurn {
  /** The client's current node. */
  node: Node;
  #moment: Moment = { nowMs: 0, chance: 0 };
  #effects: ClientEffect[] = [];
  readonly #news = new NewsQueue();
  readonly #touched = new Set<TurnEndListener>();
  readonly #timers = new Map<number, () => void>();
  #lastTimer = 0;

  constructor(node: Node) {
    this.node = node;
  }

  get nowMs(): number {
    return this.#moment.nowMs;
  }

  get chance(): number {
    return this.#moment.chance;
  }

  begin(moment: Moment): void {
    this.#moment = moment;
  }

  /** Adds an effect. */
  ask(effect: ClientEffect): void {
    this.#effects.push(effect);
  }

  report(report: ClientReport): void {
    this.ask({ kind: "report", report });
  }

  notify(watch: WatchId, news: WatchEvent): void {
    this.#news.add(watch, news);
  }

  /** Settles it at the end of the turn. */
  touch(one: TurnEndListener): void {
    this.#touched.add(one);
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

  /** Moves the notifications of one event to the effects. */
  tell(): void {
    this.#news.drainTo(this.#effects);
  }

  /** Ends the turn and returns its effects. */
  end(): readonly ClientEffect[] {
    for (const one of this.#touched) one.settle();
    this.#touched.clear();
    this.tell();
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}

class NewsQueue {
  /** In the order in which the notifications of one event are sent. */
  readonly #byKind: Readonly<Record<WatchEvent["kind"], ClientEffect[]>> = {
    recovered: [],
    absent: [],
    changed: [],
    confirmed: [],
    failed: [],
    synced: [],
  };

  add(watch: WatchId, news: WatchEvent): void {
    this.#byKind[news.kind].push({ kind: "notify", watch, news });
  }

  drainTo(effects: ClientEffect[]): void {
    for (const queue of Object.values(this.#byKind)) {
      for (const effect of queue) effects.push(effect);
      queue.length = 0;
    }
  }
}
