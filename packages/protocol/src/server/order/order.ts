import type { Reference } from "../../resource/resource.ts";
import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { Removable } from "../cache/pending-removals.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import type { Upcoming } from "../cache/shared-selections.ts";
import type { Wait } from "../contract/wait.ts";
import type { HeldBackNames } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { AbsentDependents } from "./absent-dependents.ts";
import { BlockedDependents } from "./blocked-dependents.ts";
import { ClusterGates, type WaitOf } from "./cluster-gates.ts";
import { type OrderedStream, OrderMembers } from "./order-members.ts";
import { PinnedTargets, type TargetJudge } from "./pinned-targets.ts";
import { WarmingClusters } from "./warming-clusters.ts";

/** What a type has to wait for. */
export interface Waits {
  readonly first: Wait;
  /** The resources that wait; of a type that says nothing as long as anything waits, the first of them. */
  readonly names: HeldBackNames;
  /** The others may be told. */
  readonly maySpeak: boolean;
}

/** What an order has to know about types, and about its client. */
export interface OrderOptions {
  /** Whether resources of a type may name Clusters. */
  readonly mayUseClusters: (type: TypeUrl) => boolean;
  readonly isCluster: (type: TypeUrl) => boolean;
  /** Whether the client has a stream, outside this order, that brings it Clusters: then it asks for none here. */
  readonly hasClustersElsewhere: () => boolean;
}

/**
 * Make before break, for one aggregated stream or for the separate streams of one client (requirements ORD):
 * what names a Cluster is sent when the client has the Cluster, and a Cluster that is gone is removed when the client has
 * accepted everything that does not name it any more.
 */
export class Order {
  readonly #members = new OrderMembers();
  readonly #absent = new AbsentDependents(this.#members);
  readonly #warmingClusters = new WarmingClusters();
  readonly #unready: BlockedDependents;
  readonly #gates: ClusterGates;
  /** Waits that took too long: nothing that uses Clusters is waited for up to here, unless it was refused. */
  #overruledTo = -1;
  readonly #targets = new PinnedTargets();
  /** Names that waited long enough, until they are told. */
  readonly #overruled = new Map<TypeStream, Pick<ReadonlySet<string>, "has">>();
  readonly #isCluster: (type: TypeUrl) => boolean;
  readonly #hasClustersElsewhere: () => boolean;
  #sent = 0;
  /** The client came back, and may not have asked yet for all that it uses. */
  #isReturning = false;
  /** The client may be going to ask for Clusters: it came back and may have held some, or nothing is known of it. */
  #mayAskForClusters: "came-back" | "unannounced" | undefined;

  constructor({ mayUseClusters, isCluster, hasClustersElsewhere }: OrderOptions) {
    this.#unready = new BlockedDependents(mayUseClusters);
    this.#gates = new ClusterGates({
      members: this.#members,
      warmingClusters: this.#warmingClusters,
      unready: this.#unready,
    });
    this.#isCluster = isCluster;
    this.#hasClustersElsewhere = hasClustersElsewhere;
  }

  /** A type was asked for on one of the streams. */
  join(type: TypeStream, stream: OrderedStream): void {
    this.#members.join(type, stream);
  }

  /** The stream of that type is closed. */
  leave(type: TypeStream): void {
    this.#members.leave(type);
    this.#unready.leave(type);
    this.#overruled.delete(type);
    this.#targets.forget(type);
    if (this.hasClusters) {
      if (typeKindTable[type.traits.kind].usesClusters) this.#absent.leave(type);
      return;
    }
    this.#warmingClusters.clear();
    this.#overruled.clear();
    // A stream of its own that breaks comes back.
    if (type.traits.kind === "cds" && type.subscription.isWildcard) this.#mayAskForClusters = "came-back";
  }

  /** A client came back with versions of a type. `asksForAll`: it is one that asks for every Cluster. */
  returns(asksForAll: boolean): void {
    this.#isReturning = true;
    if (asksForAll) this.#mayAskForClusters = "came-back";
  }

  /**
   * A client asked for something that only a Listener or a Cluster can have told it of, and for neither of them: it came back,
   * or got them elsewhere.
   */
  meetsUnannounced(asksForAll: boolean): void {
    const isAnnounced = this.hasClusters || [...this.#members.users.keys()].some(({ traits }) => traits.kind === "lds");
    if (asksForAll && !isAnnounced) this.#mayAskForClusters ??= "unannounced";
  }

  /** Why what uses Clusters waits until the client asks for them; undefined: it does not. */
  get awaitsClusters(): "came-back" | "unannounced" | undefined {
    return this.hasClusters || this.#hasClustersElsewhere() ? undefined : this.#mayAskForClusters;
  }

  /** The client had time to ask for Clusters: it has them from elsewhere. Should it ask after all, it is protected from then on. */
  stopAwaitingClusters(): void {
    this.#mayAskForClusters = undefined;
  }

  /** The client came back, and is given time to ask for what it uses. */
  get isReturning(): boolean {
    return this.#isReturning;
  }

  /** The same of the client or of a single one of its streams. */
  get awaitsReturn(): boolean {
    return this.#isReturning || this.#absent.areExpected;
  }

  /** It has asked for what it uses. */
  endReturn(): void {
    this.#isReturning = false;
    this.#absent.clear();
  }

  /** What was sent when the client came back counts as if something had been sent before. */
  get isTakenUp(): boolean {
    if (!this.#isReturning) return false;
    for (const { position, pendingRemovals } of this.#members.clusters.keys())
      if (position !== undefined && pendingRemovals.isEmpty) return false;
    return true;
  }

  /** Clusters were asked for. */
  get hasClusters(): boolean {
    return this.#members.clusters.size > 0;
  }

  /** Something was asked for that may use Clusters. */
  get hasUsers(): boolean {
    return this.#members.users.size > 0;
  }

  /** Counts what is sent on all the streams. */
  count(): number {
    return ++this.#sent;
  }

  /** Clusters were sent. */
  sentClusters(delivery: Delivery): void {
    this.#warmingClusters.forgetGone(delivery);
  }

  /** Clusters were sent that the client had nothing of, while it may have had users of others. */
  brought(clusters: TypeStream, delivery: Delivery, isNew: (name: string) => boolean): void {
    this.#warmingClusters.bring(clusters, delivery, isNew);
  }

  /** Clusters were sent to a client of which nobody knows what it holds. */
  broughtUnknown(delivery: Delivery): void {
    this.#warmingClusters.bringUnknown(delivery);
  }

  /** A user was sent. What it names in turn, routes of a Listener for one, may use Clusters too. */
  used(user: TypeStream, delivery: Delivery): void {
    if (this.hasClusters) this.#unready.send(user, delivery);
  }

  /** A response was accepted. */
  accepted(type: TypeStream, stream: OrderedStream, delivery: Delivery): void {
    this.#warmingClusters.accept(type, stream, delivery, this.#sent);
    this.#unready.accept(type, delivery, stream);
  }

  /** Endpoints that are owed once more, by type, since this was last asked: new Clusters came after them. */
  takeOwed(): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
    return this.#warmingClusters.takeOwed();
  }

  /** What a type that uses Clusters has to wait for before it says all of it; undefined: nothing. Asked once in a turn. */
  waitsOf(user: TypeStream, view: View, responses: SharedResponses): Waits | undefined {
    // Before something newer of it is sent.
    this.#readyTo(responses);
    const overruled = this.#overruled.get(user);
    if (!user.deliveries.isBlocked) this.#overruled.delete(user);
    const waitOf = this.#gateOf(user, view, responses);
    const waiting = new Map<string, Upcoming>();
    let first: Wait | undefined;
    for (const upcoming of waitOf === undefined ? [] : user.upcoming(view, responses)) {
      const wait = overruled?.has(upcoming.resource.name) === true ? undefined : waitOf?.(upcoming);
      if (wait === undefined) continue;
      first ??= wait;
      waiting.set(upcoming.resource.name, upcoming);
      if (!user.canHoldBack && !user.canTellTargets) break;
    }
    if (waitOf === undefined || first === undefined) {
      this.#targets.forget(user);
      return undefined;
    }
    const judge: TargetJudge = {
      view,
      revision: responses.revision,
      waits: (target) => waitOf(target) !== undefined,
      leadsNowhere: (target, dangling) => this.#gates.leadsNowhere(target, dangling, view, responses),
    };
    if (user.canHoldBack) return { first, names: this.#targets.ofEach(user, waiting, judge), maySpeak: true };
    const names = user.canTellTargets
      ? this.#targets.ofWhole(user, waiting, user.upcoming(view, responses), judge)
      : undefined;
    return {
      first,
      names: names ?? new Map([...waiting.keys()].slice(0, 1).map((name) => [name, undefined])),
      maySpeak: names !== undefined,
    };
  }

  #gateOf(user: TypeStream, view: View, responses: SharedResponses): WaitOf | undefined {
    if (!this.#members.users.has(user) || !user.hasNews(view)) return undefined;
    if (this.hasClusters) return this.#gates.waitOf(user, view, responses, this.#isReturning);
    return this.awaitsClusters === undefined ? undefined : this.#unaskedGate(view);
  }

  /** A client that came back may hold less than it reports: it does not ask for Clusters before none warms. */
  #unaskedGate(view: View): WaitOf {
    return ({ resource }) => {
      for (const { type, name } of resource.references) {
        if (this.#isCluster(type) && view.holder(type, name) !== undefined) return { for: "cluster", name };
      }
      return undefined;
    };
  }

  /** What the removal of a Cluster that is gone since a revision waits for. */
  removalWaitOf(since: number, responses: SharedResponses): Wait | undefined {
    if (this.awaitsReturn) return { for: "return" };
    for (const [user, { view }] of this.#members.users) {
      if (this.#settledTo(user, view, responses) >= since) continue;
      return { for: "users", type: user.traits.type, isRefused: user.deliveries.refusedFrom < since };
    }
    if (this.#readyTo(responses) >= since) return undefined;
    const type = this.#unready.awaitedType;
    return type === undefined ? undefined : { for: "users", type, isRefused: false };
  }

  /** Which Clusters that are gone may be removed. */
  removable(responses: SharedResponses): Removable {
    let to = this.awaitsReturn ? -1 : responses.revision;
    if (this.#members.users.size === 0) return { to, namedTo: to, goesAtOnce: undefined };
    for (const [user, { view }] of this.#members.users) to = Math.min(to, this.#settledTo(user, view, responses));
    to = Math.min(to, Math.max(this.#overruledTo, this.#readyTo(responses)));
    return {
      to,
      namedTo: Math.min(to, this.#overruledTo),
      goesAtOnce: this.#warmingClusters.isEmpty ? undefined : (name) => this.#warmingClusters.has(name),
    };
  }

  /**
   * What a user has waited for since that revision is not going to come. Returns whether anything has waited for so long: what is
   * told time and again, if not as it is now, has not.
   */
  overruleUser(user: TypeStream, since: number, view: View, responses: SharedResponses): boolean {
    const names = user.canTellTargets ? this.#targets.waitingSince(user, since) : everyName;
    if (names === undefined) return false;
    this.#overruled.set(user, names);
    const upcoming = [...user.upcoming(view, responses)].filter(({ resource }) => names.has(resource.name));
    this.#warmingClusters.giveUp(upcoming.flatMap(({ resource }) => resource.references.map(({ name }) => name)));
    return true;
  }

  /** A client that withholds the ACK of Clusters until nothing warms is not waited for where endpoints were accepted. */
  countGiven(): void {
    this.#warmingClusters.countGiven();
  }

  /** Removals waited long enough for clients that say nothing. */
  overruleRemovals(to: number): void {
    this.#overruledTo = Math.max(this.#overruledTo, to);
  }

  /** The revision before the oldest user that names what the client has not asked for, or has not accepted yet. */
  #readyTo(responses: SharedResponses): number {
    return this.#unready.readyTo((reference) => this.#isSettled(reference, responses));
  }

  #isSettled({ type, name }: Reference, responses: SharedResponses): boolean {
    for (const [user, { view }] of this.#members.users) {
      if (user.traits.type !== type || !(user.subscription.isWildcard || user.subscription.names.has(name))) continue;
      if (view.find(type, name) === undefined) return true;
      if (this.#settledTo(user, view, responses) === responses.revision) return true;
      const { deliveries } = user;
      const isRefused = deliveries.refusedFrom !== Number.POSITIVE_INFINITY;
      return !isRefused && user.isSent(name, view, responses) && !deliveries.mayBring([name]);
    }
    return false;
  }

  /** Everything of a user up to this revision is sent and accepted, or was waited for in vain. */
  #settledTo(user: TypeStream, view: View, responses: SharedResponses): number {
    const { deliveries, position } = user;
    // What is asked for or lies in another view may be of any age; it is the order of changes that counts here.
    const behind = Math.min(position?.revision ?? -1, user.heldBackFrom, responses.revision - 1);
    const told = user.hasNews(view) ? behind : responses.revision;
    const answered = Math.max(this.#overruledTo, Math.min(told, deliveries.answeredTo));
    return Math.min(answered, deliveries.refusedFrom);
  }
}

const everyName = { has: () => true };
