import { isTypeDenied } from "../../access/access-policy.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import type { SotwRequest } from "../../message/request.ts";
import { type Status, statusCode } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import { termsOf } from "../../resource/resource-name.ts";
import { opaqueTraits, type TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import { type Admission, type Placed, type RejectedStream, typeDenied } from "../admission.ts";
import type { Report, ServerEffect } from "../contract/effect.ts";
import type { PlacedStream, StreamState } from "../contract/inspect.ts";
import type { PollEvent, PollId, PollReceived } from "../contract/poll.ts";
import type { Eviction, PassedLimit, PollerLimits } from "../contract/stream-limits.ts";
import type { AccountUsage } from "../memory/account-usage.ts";
import { keptVersion } from "../memory/kept-version.ts";
import { bytesOfNode } from "../memory/node-cost.ts";
import { isUnplaced, PendingPlacements } from "../memory/pending-placements.ts";
import type { ProgressMember } from "../progress/member.ts";
import type { Progress } from "../progress/progress.ts";
import type { ChangedNames } from "../subscription/changed-names.ts";
import type { PolledSubscription } from "./polled-subscription.ts";
import { PolledViews, type PolledViewsOptions } from "./polled-view.ts";
import { Poller } from "./poller.ts";
import { PollerMemory } from "./poller-memory.ts";
import { WaitingPolls } from "./waiting-polls.ts";

export interface PollsOptions extends PolledViewsOptions, PollerLimits {
  readonly traits: (type: TypeUrl) => TypeTraits | undefined;
  readonly admission: Admission;
  readonly maxSubscriptionsPerStream?: number | undefined;
  /** Returns an unused timer number. */
  readonly nextTimer: () => number;
  readonly progress: Progress;
  /** The memory of what streams and polls say of themselves. */
  readonly clientMemory: AccountUsage;
}

/**
 * Polls: REST requests that are complete in themselves (S-RST-14). A change marks the polled subscriptions of its
 * views; polls are evaluated in turn with the flushes of streams.
 */
export class Polls {
  readonly #options: PollsOptions;
  readonly #views: PolledViews;
  readonly #pollers: PollerMemory;
  readonly #waiting: WaitingPolls;
  readonly #placements = new PendingPlacements<Poller>();

  constructor(options: PollsOptions) {
    const { nextTimer, clientMemory } = options;
    this.#options = options;
    this.#views = new PolledViews(options);
    this.#pollers = new PollerMemory(nextTimer, options);
    this.#waiting = new WaitingPolls(nextTimer, clientMemory);
  }

  get isDue(): boolean {
    return this.#waiting.isDue;
  }

  /** What the remembered pollers without a poll cost, in bytes. */
  get rememberedBytes(): number {
    return this.#pollers.bytes;
  }

  /** Every recent poller with the layers that it has, or is about to have. */
  *placed(): Iterable<PlacedStream> {
    for (const poller of this.#pollers) {
      if (!isUnplaced(poller)) yield poller.placed;
      else {
        const placed = this.#options.admission.place(poller.node, poller.peer, "rest");
        yield "refused" in placed ? poller.placed : { ...poller.placed, layers: placed.layers };
      }
    }
  }

  /** Describes all remembered pollers, each as a stream of one type. */
  *describe(): Iterable<StreamState> {
    for (const poller of this.#pollers) yield poller.describe();
  }

  /** Describes one remembered poller. */
  describePoller(id: PollId): StreamState | undefined {
    for (const poller of this.#pollers) if (poller.id === id) return poller.describe();
    return undefined;
  }

  /** The pollers that say what they have: a poll without a version is no client that stays. */
  *members(): Iterable<ProgressMember> {
    for (const poller of this.#pollers) if (poller.answers) yield poller;
  }

  on(event: PollEvent): readonly ServerEffect[] {
    return this.#withRest(this.#on(event));
  }

  #on(event: PollEvent): readonly ServerEffect[] {
    switch (event.kind) {
      case "poll-received":
        return this.#receive(event);
      case "poll-closed":
        return this.#waiting.close(event.poll);
      case "polls-dismissed":
        this.#waiting.dismissAll();
        return [];
      default:
        return event satisfies never;
    }
  }

  /** Marks what a transaction at this revision changed in these views. */
  touch(views: Iterable<View>, names: ChangedNames, revision: number): void {
    for (const view of views) {
      for (const polled of this.#views.changed(view)) {
        const isConcerned = names.concern(names.in(view, polled.traits.type), polled.subscription);
        if (isConcerned || this.#waiting.isTouched(polled)) this.#waiting.touch(polled);
        else polled.passOver(revision);
      }
    }
  }

  /** Pollers are to be mapped to layers again. `before`: the newest revision that they may have until then. */
  unplace(isConcerned: (node: Node) => boolean, before: number): void {
    for (const poller of this.#pollers) if (isConcerned(poller.node)) this.#placements.add(poller, before);
  }

  /** The number of pollers that are not placed. */
  get unplaced(): number {
    return this.#placements.size;
  }

  /** Places the next poller; its waiting polls go on waiting there. */
  placeNext(effects: ServerEffect[]): void {
    const poller = this.#placements.next();
    if (poller !== undefined) effects.push(...this.#withRest(this.#placeAhead(poller)));
  }

  readonly #placeAhead = (poller: Poller): readonly ServerEffect[] => {
    if (!isUnplaced(poller)) return none;
    const effects: ServerEffect[] = [];
    this.#placements.take(poller);
    this.#move(poller, effects);
    return effects;
  };

  /** Handles a timer; undefined: it is none of these. */
  fired(timer: number): readonly ServerEffect[] | undefined {
    return this.#waiting.fired(timer) ?? this.#pollers.fired(timer, this.#forget);
  }

  /**
   * Evaluates one polled subscription or one poll.
   *
   * @throws {InvariantError} a bug of the server, with the poll that was evaluated
   */
  next(): readonly ServerEffect[] {
    return this.#withRest(this.#waiting.next(this.#placeAhead));
  }

  /** Effects, and what follows for the pollers whose last poll ended by them. */
  #withRest(effects: readonly ServerEffect[]): readonly ServerEffect[] {
    const idle = this.#waiting.takeIdle();
    return idle.length === 0
      ? effects
      : [...effects, ...idle.flatMap((poller) => this.#pollers.rest(poller, this.#forget))];
  }

  #receive(event: PollReceived): readonly ServerEffect[] {
    const { poll: id, peer, holdMs, apiVersion, request: asGiven } = event;
    const { node, choices, dialect } = this.#options.admission.identify(asGiven.node, peer, event.listener);
    const refusal = this.#refusalOf(event, dialect);
    if (refusal !== undefined) return [{ kind: "refuse-poll", poll: id, status: refusal }];
    const { type } = event;
    const placed = this.#place(node, peer, type);
    if ("refused" in placed) return refusePoll({ poll: id, node, peer }, placed);
    const polled = this.#views.polled(placed, {
      traits: this.#options.traits(type) ?? opaqueTraits(type),
      names: dialect.ignoreHints ? [] : termsOf(asGiven.names, dialect.prefixGlob),
      // Messages of API version 2 have no field for errors.
      resourceErrors: apiVersion === "v2" ? "off" : dialect.resourceErrors,
    });
    const excess = this.#options.clientMemory.set(id, peer, bytesOfNode(node) + polled.bytes);
    if (excess !== undefined) return this.#refuseBeyond(id, excess, polled);
    const effects: ServerEffect[] = [];
    const poller = this.#pollerFor(event, { node, choices, polled }, effects);
    const request = withKeptVersion(asGiven, [polled.current.view.printedVersion(type), poller.givenVersion]);
    // First, so that it ends, and its poller is remembered no longer than others, if what follows fails.
    this.#waiting.add({
      id,
      poller,
      versionInfo: request.versionInfo,
      isRefusal: request.error !== undefined,
      holdMs: dialect.restLongPoll ? holdMs : 0,
      besides: undefined,
      timer: undefined,
      end: undefined,
    });
    const { as, reports } = poller.classify(request, () => polled.response());
    report(effects, { kind: "request-classified", stream: poller.id, node, type, as });
    for (const each of reports) report(effects, each);
    if (poller.answers) {
      this.#options.progress.found(node);
      this.#options.progress.note(poller);
    }
    return effects;
  }

  /** What a poller sees, or why it gets no answer. */
  #place(node: Node, peer: Peer, type: TypeUrl): Placed | DeniedPoll {
    const placed = this.#options.admission.place(node, peer, "rest");
    if ("refused" in placed) return { ...placed, type: undefined };
    if (!isTypeDenied(placed.grant, placed.layers, type)) return placed;
    return { refused: typeDenied(type), denied: "its access does not cover the type", type };
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
    { node, choices, polled }: Pick<Poller, "node" | "choices" | "polled">,
    effects: ServerEffect[],
  ): Poller {
    const key = this.#pollers.keyOf(node, peer, polled);
    const known = this.#pollers.seen(key);
    if (known === undefined) {
      const poller = new Poller(poll, key, {
        node,
        peer,
        apiVersion,
        choices,
        polled,
      });
      polled.pollers++;
      const { type } = polled.traits;
      report(effects, { kind: "poller-met", stream: poll, node, peer, type });
      report(effects, { kind: "node-connected", stream: poll, node, layers: polled.layers });
      this.#pollers.add(poller);
      return poller;
    }
    known.comesAgain({ peer, node, apiVersion, choices });
    this.#placements.take(known);
    if (known.polled !== polled) this.#moveTo(known, polled, effects);
    return known;
  }

  readonly #forget = (poller: Poller, evicted?: Eviction): readonly ServerEffect[] => {
    const effects: ServerEffect[] = [];
    if (poller.answers) this.#options.progress.left(poller, poller.reached, poller.polled.current.revision);
    this.#placements.take(poller);
    this.#waiting.stopRest(poller, effects);
    this.#leave(poller.polled);
    report(effects, {
      kind: "poller-forgotten",
      stream: poller.id,
      node: poller.node,
      type: poller.polled.traits.type,
      evicted,
    });
    return effects;
  };

  /** Refuses a poll that exceeds a limit before it has a poller. */
  #refuseBeyond(poll: PollId, { limit, message }: PassedLimit, polled: PolledSubscription): readonly ServerEffect[] {
    this.#options.clientMemory.forget(poll);
    if (polled.pollers === 0) this.#views.drop(polled);
    return [{ kind: "refuse-poll", poll, status: { code: statusCode.RESOURCE_EXHAUSTED, message }, limit }];
  }

  #leave(polled: PolledSubscription): void {
    polled.pollers--;
    if (polled.pollers > 0) return;
    this.#waiting.forget(polled);
    this.#views.drop(polled);
  }

  #move(poller: Poller, effects: ServerEffect[]): void {
    const { node, peer, polled: before } = poller;
    const placed = this.#place(node, peer, before.traits.type);
    if ("refused" in placed) {
      for (const poll of [...poller.waiting])
        effects.push(...this.#waiting.end(poll), ...refusePoll({ poll: poll.id, node, peer }, placed));
      this.#note(poller);
      return;
    }
    const polled = this.#views.polledLike(before, placed);
    if (polled === before) this.#note(poller);
    else this.#moveTo(poller, polled, effects);
  }

  #note(poller: Poller): void {
    if (poller.answers) this.#options.progress.note(poller);
  }

  #moveTo(poller: Poller, polled: PolledSubscription, effects: ServerEffect[]): void {
    const before = poller.polled;
    polled.pollers++;
    this.#waiting.move(poller, polled);
    this.#leave(before);
    this.#note(poller);
    report(effects, { kind: "node-moved", stream: poller.id, node: poller.node, layers: polled.layers });
    effects.push(...this.#pollers.moved(poller, this.#forget));
  }
}

const none: readonly ServerEffect[] = [];

/** Why a poll gets no answer. `type`: the type that it may not have; undefined: it may not be its node. */
interface DeniedPoll extends RejectedStream {
  readonly type: TypeUrl | undefined;
}

/** A request whose version takes no more memory than one that was told: it may contain one of these. */
function withKeptVersion(request: SotwRequest, told: readonly (string | undefined)[]): SotwRequest {
  const versionInfo = keptVersion(request.versionInfo, told);
  return versionInfo === request.versionInfo ? request : { ...request, versionInfo };
}

function refusePoll(
  { poll, node, peer }: { readonly poll: PollId; readonly node: Node; readonly peer: Peer },
  { refused, denied, type }: DeniedPoll,
): readonly ServerEffect[] {
  const refusal = { kind: "refuse-poll", poll, status: refused } as const;
  if (denied === undefined) return [refusal];
  return [
    {
      kind: "report",
      report: { kind: "access-denied", entryPoint: "rest", stream: poll, node, peer, type, reason: denied },
    },
    refusal,
  ];
}

function report(effects: ServerEffect[], report: Report): void {
  effects.push({ kind: "report", report });
}
