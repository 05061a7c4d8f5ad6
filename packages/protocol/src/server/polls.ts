import type { Choices, NamedChoice } from "../dialect/choice.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { dialectFor } from "../dialect/presets.ts";
import { type Status, statusCode } from "../message/status.ts";
import { anonymousNode, type Node } from "../node/node.ts";
import type { Peer, Placement } from "../node/placement.ts";
import { termsOf } from "../resource/resource-name.ts";
import { opaqueTraits, type TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { View } from "../state/view.ts";
import type { PlaneEffect } from "./effect.ts";
import type { StreamState } from "./inspect.ts";
import { InvariantError } from "./invariant-error.ts";
import type { PollEvent, PollId, PollReceived } from "./poll.ts";
import type { PollTopic } from "./poll-topic.ts";
import { PolledViews, type PolledViewsOptions } from "./polled-view.ts";
import { Poller, type WaitingPoll } from "./poller.ts";
import { PollerMemory } from "./poller-memory.ts";

export interface PollsOptions extends PolledViewsOptions {
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  /** What was chosen for a client, by whom. */
  readonly choices: (node: Node, peer: Peer, listener: NamedChoice | undefined) => Choices;
  readonly maxSubscriptionsPerStream?: number | undefined;
  readonly nextTimer: () => number;
}

/**
 * Polls: requests that are whole in themselves (S-RST-14). Each is answered with everything it asks for, unless that is what it
 * has; then, and when it was given just that a moment ago, it is held until something changes or its time is over (S-RST-10,
 * S-RST-12). A change marks the topics of its views; polls get their turns with the streams.
 */
export class Polls {
  readonly #options: PollsOptions;
  readonly #views: PolledViews;
  readonly #pollers: PollerMemory;
  readonly #waiting = new Map<PollId, WaitingPoll>();
  readonly #awaiting = new Map<PollTopic, Set<WaitingPoll>>();
  readonly #holds = new Map<number, WaitingPoll>();
  readonly #rests = new Map<number, Poller>();
  /** Topics in whose views something changed, and polls to be looked at. */
  readonly #touched = new Set<PollTopic>();
  readonly #due = new Set<WaitingPoll>();
  #placement: Placement;

  constructor(options: PollsOptions, placement: Placement) {
    this.#options = options;
    this.#placement = placement;
    this.#views = new PolledViews(options);
    this.#pollers = new PollerMemory(options.nextTimer);
  }

  get isDue(): boolean {
    return this.#due.size > 0 || this.#touched.size > 0;
  }

  /** Everybody who is remembered, as a stream of one type. */
  *describe(): Iterable<StreamState> {
    for (const poller of this.#pollers) yield poller.describe();
  }

  on(event: PollEvent): readonly PlaneEffect[] {
    switch (event.kind) {
      case "poll-received":
        return this.#receive(event);
      case "poll-closed":
        return this.#close(event.poll);
      case "polls-dismissed":
        for (const poll of this.#waiting.values()) {
          this.#endAtTurn(poll, "dismissed");
        }
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Something changed in these views. */
  touch(views: Iterable<View>): void {
    for (const view of views) {
      for (const topic of this.#views.changed(view)) {
        if (this.#awaiting.has(topic)) this.#touched.add(topic);
        else topic.forget();
      }
    }
  }

  /** Whoever waits is placed anew, and goes on waiting there. */
  place(placement: Placement): readonly PlaneEffect[] {
    this.#placement = placement;
    const effects: PlaneEffect[] = [];
    for (const poller of new Set([...this.#waiting.values()].map((poll) => poll.poller))) this.#move(poller, effects);
    return effects;
  }

  /** Undefined if the timer is not one of these. */
  fired(timer: number): readonly PlaneEffect[] | undefined {
    const held = this.#holds.get(timer);
    if (held !== undefined) {
      held.timer = undefined;
      this.#holds.delete(timer);
      this.#endAtTurn(held, "settled");
      return [];
    }
    const rested = this.#rests.get(timer);
    if (rested !== undefined) return this.#endRest(timer, rested);
    return this.#pollers.fired(timer, (poller) => this.#forget(poller));
  }

  /**
   * The turn of one topic or one poll.
   *
   * @throws {InvariantError} a bug of ours, with the poll whose turn it was
   */
  next(): readonly PlaneEffect[] {
    for (const topic of this.#touched) {
      this.#touched.delete(topic);
      this.#look(topic);
      return [];
    }
    for (const poll of this.#due) {
      this.#due.delete(poll);
      try {
        return this.#turn(poll);
      } catch (cause) {
        throw new InvariantError(poll.id, cause);
      }
    }
    return [];
  }

  #receive(event: PollReceived): readonly PlaneEffect[] {
    const { poll: id, request, peer, holdMs, apiVersion } = event;
    const node = request.node ?? anonymousNode;
    const choices = this.#options.choices(node, peer, event.listener);
    const dialect = dialectFor(node, choices);
    const refusal = this.#refusalOf(event, dialect);
    if (refusal !== undefined) return [{ kind: "refuse-poll", poll: id, status: refusal }];
    const layers = this.#placement(node, peer);
    if ("refused" in layers) return [refused(id, layers.refused)];
    const { type } = event;
    const topic = this.#views.topic(layers, {
      traits: this.#options.traits(type) ?? opaqueTraits(type),
      names: dialect.ignoreHints ? [] : termsOf(request.names, dialect.prefixGlob),
      // The messages of version 2 have no field for them.
      resourceErrors: apiVersion === "v2" ? "off" : dialect.resourceErrors,
    });
    const effects: PlaneEffect[] = [];
    const poller = this.#pollerFor(event, { node, choices, topic }, effects);
    const { as, reports } = poller.understand(request, () => topic.told(this.#options.present));
    report(effects, { kind: "request-understood", stream: poller.id, node, type, as });
    for (const each of reports) report(effects, each);
    const poll: WaitingPoll = {
      id,
      poller,
      versionInfo: request.versionInfo,
      isRefusal: request.error !== undefined,
      holdMs: dialect.restLongPoll ? holdMs : 0,
      besides: undefined,
      timer: undefined,
      end: undefined,
    };
    this.#waiting.set(id, poll);
    poller.waiting.add(poll);
    this.#await(topic, poll);
    this.#due.add(poll);
    return effects;
  }

  #refusalOf({ request }: PollReceived, { requireNode }: Dialect): Status | undefined {
    if (request.node === undefined && requireNode) {
      return { code: statusCode.INVALID_ARGUMENT, message: "a poll needs a node" };
    }
    const most = this.#options.maxSubscriptionsPerStream;
    if (most === undefined || request.names.length <= most) return undefined;
    const message = `asks for ${request.names.length} names; at most ${most} in one poll are served`;
    return { code: statusCode.RESOURCE_EXHAUSTED, message };
  }

  #pollerFor(
    { poll, peer, apiVersion }: PollReceived,
    { node, choices, topic }: Pick<Poller, "node" | "choices" | "topic">,
    effects: PlaneEffect[],
  ): Poller {
    const key = this.#pollers.keyOf(node, peer, topic);
    const known = this.#pollers.seen(key);
    if (known === undefined) {
      const poller = new Poller(poll, key, { node, peer, apiVersion, choices, topic });
      topic.pollers++;
      const { type } = topic.traits;
      report(effects, { kind: "poller-met", stream: poll, node, peer, type });
      report(effects, { kind: "node-identified", stream: poll, node, layers: topic.layers });
      effects.push(...this.#pollers.add(poller, (oldest) => this.#forget(oldest)));
      return poller;
    }
    known.node = node;
    known.choices = choices;
    known.apiVersion = apiVersion;
    if (known.topic !== topic) this.#moveTo(known, topic, effects);
    return known;
  }

  #forget(poller: Poller): readonly PlaneEffect[] {
    const effects: PlaneEffect[] = [];
    this.#stopRest(poller, effects);
    this.#leave(poller.topic);
    report(effects, { kind: "poller-forgotten", stream: poller.id, node: poller.node, type: poller.topic.traits.type });
    return effects;
  }

  #leave(topic: PollTopic): void {
    topic.pollers--;
    if (topic.pollers > 0) return;
    this.#touched.delete(topic);
    this.#views.drop(topic);
  }

  #move(poller: Poller, effects: PlaneEffect[]): void {
    const layers = this.#placement(poller.node, poller.peer);
    if ("refused" in layers) {
      for (const poll of [...poller.waiting]) effects.push(...this.#end(poll), refused(poll.id, layers.refused));
      return;
    }
    const topic = this.#views.topicLike(poller.topic, layers);
    if (topic !== poller.topic) this.#moveTo(poller, topic, effects);
  }

  #moveTo(poller: Poller, topic: PollTopic, effects: PlaneEffect[]): void {
    const before = poller.topic;
    poller.topic = topic;
    topic.pollers++;
    for (const poll of poller.waiting) {
      this.#stopAwaiting(before, poll);
      this.#await(topic, poll);
      this.#due.add(poll);
    }
    this.#leave(before);
    report(effects, { kind: "node-moved", stream: poller.id, node: poller.node, layers: topic.layers });
  }

  #await(topic: PollTopic, poll: WaitingPoll): void {
    const polls = this.#awaiting.get(topic) ?? new Set();
    this.#awaiting.set(topic, polls.add(poll));
  }

  #stopAwaiting(topic: PollTopic, poll: WaitingPoll): void {
    const polls = this.#awaiting.get(topic);
    polls?.delete(poll);
    if (polls?.size === 0) this.#awaiting.delete(topic);
  }

  #endAtTurn(poll: WaitingPoll, end: "settled" | "dismissed"): void {
    poll.end = end;
    this.#due.add(poll);
  }

  /** Looks once for all who wait with the topic; it is not here that a mistake is noticed. */
  #look(topic: PollTopic): void {
    const version = attempt(() => topic.told(this.#options.present).body.version);
    for (const poll of this.#awaiting.get(topic) ?? []) if (poll.besides !== version) this.#due.add(poll);
  }

  #turn(poll: WaitingPoll): readonly PlaneEffect[] {
    const { poller, versionInfo } = poll;
    if (poll.end === "dismissed") return this.#leaveUnchanged(poll);
    if (poll.end === "settled") return this.#settle(poll);
    const told = poller.topic.told(this.#options.present);
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
    const told = poller.topic.told(this.#options.present);
    return (poller.restTimer !== undefined && poller.wasGiven(told)) || (isRefusal && poller.hasRefused(told));
  }

  #hold(poll: WaitingPoll): readonly PlaneEffect[] {
    if (poll.timer !== undefined) return [];
    poll.timer = this.#options.nextTimer();
    this.#holds.set(poll.timer, poll);
    return [{ kind: "start-timer", timer: poll.timer, ms: poll.holdMs }];
  }

  /** Its time is over: it has what there is, or is given it, perhaps once more. */
  #settle(poll: WaitingPoll): readonly PlaneEffect[] {
    const told = poll.poller.topic.told(this.#options.present);
    const hasIt = told.body.version === poll.versionInfo && !poll.poller.hasRefusedOther(told);
    return hasIt ? this.#leaveUnchanged(poll) : this.#give(poll);
  }

  #leaveUnchanged(poll: WaitingPoll): readonly PlaneEffect[] {
    return [...this.#end(poll), { kind: "poll-unchanged", poll: poll.id }];
  }

  #give(poll: WaitingPoll): readonly PlaneEffect[] {
    const { id, poller, holdMs } = poll;
    const told = poller.topic.told(this.#options.present);
    const effects: PlaneEffect[] = [...this.#end(poll)];
    effects.push({ kind: "answer-poll", poll: id, poller: poller.id, body: told.body });
    report(effects, poller.give(told));
    this.#stopRest(poller, effects);
    if (holdMs <= 0) return effects;
    poller.restTimer = this.#options.nextTimer();
    this.#rests.set(poller.restTimer, poller);
    effects.push({ kind: "start-timer", timer: poller.restTimer, ms: holdMs });
    return effects;
  }

  /** What was kept back only because it was given so recently is given once more. */
  #endRest(timer: number, poller: Poller): readonly PlaneEffect[] {
    this.#rests.delete(timer);
    poller.restTimer = undefined;
    for (const poll of poller.waiting) {
      if (poll.besides !== undefined && poll.besides !== poll.versionInfo) this.#endAtTurn(poll, "settled");
    }
    return [];
  }

  #stopRest(poller: Poller, effects: PlaneEffect[]): void {
    const { restTimer: timer } = poller;
    if (timer === undefined) return;
    poller.restTimer = undefined;
    this.#rests.delete(timer);
    effects.push({ kind: "cancel-timer", timer });
  }

  #close(id: PollId): readonly PlaneEffect[] {
    const poll = this.#waiting.get(id);
    return poll === undefined ? [] : this.#end(poll);
  }

  /** Nobody waits for it any more. */
  #end(poll: WaitingPoll): readonly PlaneEffect[] {
    this.#waiting.delete(poll.id);
    this.#due.delete(poll);
    poll.poller.waiting.delete(poll);
    this.#stopAwaiting(poll.poller.topic, poll);
    const { timer } = poll;
    if (timer === undefined) return [];
    poll.timer = undefined;
    this.#holds.delete(timer);
    return [{ kind: "cancel-timer", timer }];
  }
}

/** Undefined where it throws. */
function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined; // whoever needs it meets it again
  }
}

function refused(poll: PollId, message: string): PlaneEffect {
  return { kind: "refuse-poll", poll, status: { code: statusCode.PERMISSION_DENIED, message } };
}

function report(effects: PlaneEffect[], report: Extract<PlaneEffect, { readonly kind: "report" }>["report"]): void {
  effects.push({ kind: "report", report });
}
