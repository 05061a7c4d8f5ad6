import type { Node } from "../node/node.ts";
import type { ClientEffect, ClientReport } from "./effect.ts";
import type { Moment, WatchId } from "./event.ts";
import type { News } from "./news.ts";

/** Something that looks, after all events of a turn, whether it has anything to ask for. */
export interface Settling {
  settle(): void;
}

/**
 * What the parts of a client share: the moment of the turn, the timers, and the effects, which are collected here. Of one event,
 * what is gone is told before what is new, whoever is told (C-CLI-08).
 */
export class Turn {
  /** The client as it describes itself now. */
  node: Node;
  #moment: Moment = { nowMs: 0, chance: 0 };
  #effects: ClientEffect[] = [];
  readonly #news = new NewsQueue();
  readonly #touched = new Set<Settling>();
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

  /** Asks the shell for something. */
  ask(effect: ClientEffect): void {
    this.#effects.push(effect);
  }

  report(report: ClientReport): void {
    this.ask({ kind: "report", report });
  }

  notify(watch: WatchId, news: News): void {
    this.#news.add(watch, news);
  }

  /** It is settled at the end of the turn. */
  touch(one: Settling): void {
    this.#touched.add(one);
  }

  startTimer(ms: number, then: () => void): number {
    const timer = ++this.#lastTimer;
    this.#timers.set(timer, then);
    this.ask({ kind: "start-timer", timer, ms });
    return timer;
  }

  /** Nothing is done for a timer that went off, or for none. */
  cancelTimer(timer: number | undefined): void {
    if (timer !== undefined && this.#timers.delete(timer)) this.ask({ kind: "cancel-timer", timer });
  }

  /** A timer went off. One that was cancelled meanwhile does nothing. */
  fire(timer: number): void {
    const then = this.#timers.get(timer);
    this.#timers.delete(timer);
    then?.();
  }

  /** The end of an event: its news is told. */
  tell(): void {
    this.#news.drainTo(this.#effects);
  }

  /** The end of the turn. */
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
  /** In the order in which the news of one event is told. */
  readonly #byKind: Readonly<Record<News["kind"], ClientEffect[]>> = {
    recovered: [],
    absent: [],
    changed: [],
    confirmed: [],
    failed: [],
    synced: [],
  };

  add(watch: WatchId, news: News): void {
    this.#byKind[news.kind].push({ kind: "notify", watch, news });
  }

  drainTo(effects: ClientEffect[]): void {
    for (const queue of Object.values(this.#byKind)) {
      for (const effect of queue) effects.push(effect);
      queue.length = 0;
    }
  }
}
