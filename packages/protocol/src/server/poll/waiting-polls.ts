import type { Report, ServerEffect } from "../contract/effect.ts";
import { InvariantError } from "../contract/invariant-error.ts";
import type { PollId } from "../contract/poll.ts";
import type { AccountUsage } from "../memory/account-usage.ts";
import { Fifo } from "../memory/fifo.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import type { Poller, WaitingPoll } from "./poller.ts";

/**
 * The polls without an answer. Each is answered when it is evaluated, unless the client has the present version or was
 * given it a moment ago; then the poll is held until something changes or its time is over (S-RST-10, S-RST-12).
 */
export class WaitingPolls {
  readonly #nextTimer: () => number;
  readonly #clientMemory: Pick<AccountUsage, "forget">;
  readonly #waiting = new Map<PollId, WaitingPoll>();
  readonly #awaiting = new Map<PolledSubscription, Set<WaitingPoll>>();
  readonly #holds = new Map<number, WaitingPoll>();
  readonly #rests = new Map<number, Poller>();
  /** `#touched`: polled subscriptions whose view changed; `#due`: polls to be evaluated. */
  readonly #touched = new Fifo<PolledSubscription>();
  readonly #due = new Fifo<WaitingPoll>();
  /** The pollers of polls that ended since `takeIdle` was called. */
  readonly #idle = new Set<Poller>();

  /** `nextTimer`: returns an unused timer number. `clientMemory`: what counts a poll until it ends. */
  constructor(nextTimer: () => number, clientMemory: Pick<AccountUsage, "forget">) {
    this.#nextTimer = nextTimer;
    this.#clientMemory = clientMemory;
  }

  get isDue(): boolean {
    return !this.#due.isEmpty || !this.#touched.isEmpty;
  }

  /** Adds a poll, to be evaluated in its turn. */
  add(poll: WaitingPoll): void {
    this.#waiting.set(poll.id, poll);
    poll.poller.waiting.add(poll);
    this.#await(poll.poller.polled, poll);
    this.#due.add(poll);
  }

  /** A polled subscription changed. */
  touch(polled: PolledSubscription): void {
    if (this.#awaiting.has(polled)) this.#touched.add(polled);
    else polled.forget();
  }

  /** Whether a polled subscription is queued for evaluation. */
  isTouched(polled: PolledSubscription): boolean {
    return this.#touched.has(polled);
  }

  /** Moves a poller and its waiting polls to another polled subscription. */
  move(poller: Poller, polled: PolledSubscription): void {
    const before = poller.polled;
    poller.polled = polled;
    for (const poll of poller.waiting) {
      this.#stopAwaiting(before, poll);
      this.#await(polled, poll);
      this.#due.add(poll);
    }
  }

  /** No poller has this polled subscription any more. */
  forget(polled: PolledSubscription): void {
    this.#touched.delete(polled);
  }

  /** Ends all waiting polls, each in its turn. */
  dismissAll(): void {
    for (const poll of this.#waiting.values()) this.#endAtTurn(poll, "dismissed");
  }

  /** The client of a poll disconnected. */
  close(id: PollId): readonly ServerEffect[] {
    const poll = this.#waiting.get(id);
    return poll === undefined ? [] : this.end(poll);
  }

  /** Handles a timer; undefined: it is none of these. */
  fired(timer: number): readonly ServerEffect[] | undefined {
    const held = this.#holds.get(timer);
    if (held !== undefined) {
      held.timer = undefined;
      this.#holds.delete(timer);
      this.#endAtTurn(held, "settled");
      return [];
    }
    const rested = this.#rests.get(timer);
    return rested === undefined ? undefined : this.#endRest(timer, rested);
  }

  /**
   * Evaluates one polled subscription or one poll. `place`: places the poller of a poll, which may move the poll or end it.
   *
   * @throws {InvariantError} a bug of the server, with the poll that was evaluated
   */
  next(place: (poller: Poller) => readonly ServerEffect[]): readonly ServerEffect[] {
    const polled = this.#touched.take();
    if (polled !== undefined) {
      this.#look(polled);
      return [];
    }
    const poll = this.#due.take();
    if (poll === undefined) return [];
    try {
      const placed = place(poll.poller);
      if (!this.#waiting.has(poll.id)) return placed;
      // This is the evaluation for which a move made it due.
      this.#due.delete(poll);
      const effects = this.#turn(poll);
      return placed.length === 0 ? effects : [...placed, ...effects];
    } catch (cause) {
      throw new InvariantError(poll.id, cause);
    }
  }

  /** The pollers whose last poll ended since the last call. */
  takeIdle(): readonly Poller[] {
    const idle = [...this.#idle].filter(({ waiting }) => waiting.size === 0);
    this.#idle.clear();
    return idle;
  }

  /** Removes a poll, and cancels its timer. */
  end(poll: WaitingPoll): readonly ServerEffect[] {
    this.#waiting.delete(poll.id);
    this.#clientMemory.forget(poll.id);
    this.#due.delete(poll);
    poll.poller.waiting.delete(poll);
    this.#idle.add(poll.poller);
    this.#stopAwaiting(poll.poller.polled, poll);
    const { timer } = poll;
    if (timer === undefined) return [];
    poll.timer = undefined;
    this.#holds.delete(timer);
    return [{ kind: "cancel-timer", timer }];
  }

  /** Stops the rest of a poller: it may be given the same response again at once. */
  stopRest(poller: Poller, effects: ServerEffect[]): void {
    const { restTimer: timer } = poller;
    if (timer === undefined) return;
    poller.restTimer = undefined;
    this.#rests.delete(timer);
    effects.push({ kind: "cancel-timer", timer });
  }

  #await(polled: PolledSubscription, poll: WaitingPoll): void {
    const polls = this.#awaiting.get(polled) ?? new Set();
    this.#awaiting.set(polled, polls.add(poll));
  }

  #stopAwaiting(polled: PolledSubscription, poll: WaitingPoll): void {
    const polls = this.#awaiting.get(polled);
    polls?.delete(poll);
    if (polls?.size === 0) this.#awaiting.delete(polled);
  }

  #endAtTurn(poll: WaitingPoll, end: "settled" | "dismissed"): void {
    poll.end = end;
    this.#due.add(poll);
  }

  /** Evaluates a polled subscription once for all its polls; an exception surfaces when one of them is evaluated. */
  #look(polled: PolledSubscription): void {
    const version = attempt(() => polled.response().body.version);
    for (const poll of this.#awaiting.get(polled) ?? []) if (poll.besides !== version) this.#due.add(poll);
  }

  #turn(poll: WaitingPoll): readonly ServerEffect[] {
    const { poller, versionInfo } = poll;
    if (poll.end === "dismissed") return this.#leaveUnchanged(poll);
    if (poll.end === "settled") return this.#settle(poll);
    const told = poller.polled.response();
    const { version } = told.body;
    if (version === poll.besides) return [];
    const hasIt = version === versionInfo && !poller.hasRefusedOther(told);
    const mayHave = poll.besides !== undefined || versionInfo === undefined;
    const isRepeat = !mayHave && this.#wasJustGiven(poll);
    if (!hasIt && !isRepeat) return this.#give(poll);
    if (poll.holdMs <= 0) return this.#settle(poll);
    poll.besides = version;
    return this.#hold(poll);
  }

  #wasJustGiven({ poller, isRefusal }: WaitingPoll): boolean {
    const told = poller.polled.response();
    return (poller.restTimer !== undefined && poller.wasGiven(told)) || (isRefusal && poller.hasRefused(told));
  }

  #hold(poll: WaitingPoll): readonly ServerEffect[] {
    if (poll.timer !== undefined) return [];
    poll.timer = this.#nextTimer();
    this.#holds.set(poll.timer, poll);
    return [{ kind: "start-timer", timer: poll.timer, ms: poll.holdMs }];
  }

  /**
   * Ends a poll whose time is over: unchanged if the client has the present version, else a response, perhaps a
   * repeated one.
   */
  #settle(poll: WaitingPoll): readonly ServerEffect[] {
    const told = poll.poller.polled.response();
    const hasIt = told.body.version === poll.versionInfo && !poll.poller.hasRefusedOther(told);
    return hasIt ? this.#leaveUnchanged(poll) : this.#give(poll);
  }

  #leaveUnchanged(poll: WaitingPoll): readonly ServerEffect[] {
    return [...this.end(poll), { kind: "poll-unchanged", poll: poll.id }];
  }

  #give(poll: WaitingPoll): readonly ServerEffect[] {
    const { id, poller, holdMs } = poll;
    const told = poller.polled.response();
    const effects: ServerEffect[] = [...this.end(poll)];
    effects.push({ kind: "answer-poll", poll: id, poller: poller.id, body: told.body });
    report(effects, poller.give(told));
    this.stopRest(poller, effects);
    if (holdMs <= 0) return effects;
    poller.restTimer = this.#nextTimer();
    this.#rests.set(poller.restTimer, poller);
    effects.push({ kind: "start-timer", timer: poller.restTimer, ms: holdMs });
    return effects;
  }

  /** Gives a response again that was kept back only because it was given so recently. */
  #endRest(timer: number, poller: Poller): readonly ServerEffect[] {
    this.#rests.delete(timer);
    poller.restTimer = undefined;
    for (const poll of poller.waiting) {
      if (poll.besides !== undefined && poll.besides !== poll.versionInfo) this.#endAtTurn(poll, "settled");
    }
    return [];
  }
}

/** Calls a function; returns undefined if it throws. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined; // the caller that needs the value gets the exception
  }
}

function report(effects: ServerEffect[], report: Report): void {
  effects.push({ kind: "report", report });
}
