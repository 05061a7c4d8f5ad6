import type { Node } from "../node/node.ts";
import type { ClientEffect, ClientReport } from "./effect.ts";
import type { Moment, WatchId } from "./event.ts";
import { TimedTurn } from "./timed-turn.ts";
import type { WatchEvent } from "./watch-event.ts";

/** Something that updates its streams and requests once all events of a turn are handled. */
export interface TurnEndListener {
  settle(): void;
}

/**
 * What the parts of a client share: the node, time, timers and collected effects. Of one event, all absences are notified before
 * changes, whichever watch they go to (C-CLI-08).
 */
export class ClientTurn extends TimedTurn<ClientEffect> {
  /** The client's current node. */
  node: Node;
  #moment: Moment = { nowMs: 0, chance: 0 };
  readonly #news = new NewsQueue();
  readonly #touched = new Set<TurnEndListener>();

  constructor(node: Node) {
    super();
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

  /** Moves the notifications of one event to the effects. */
  tell(): void {
    this.#news.drainTo((effect) => this.ask(effect));
  }

  /** Ends the turn and returns its effects. */
  end(): readonly ClientEffect[] {
    for (const one of this.#touched) one.settle();
    this.#touched.clear();
    this.tell();
    return this.takeEffects();
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

  drainTo(take: (effect: ClientEffect) => void): void {
    for (const queue of Object.values(this.#byKind)) {
      for (const effect of queue) take(effect);
      queue.length = 0;
    }
  }
}
