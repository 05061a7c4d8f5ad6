import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { Removable } from "../cache/pending-removals.ts";
import { type PendingResource, unknownUses } from "../cache/shared-selections.ts";
import type { Wait } from "../contract/wait.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { HeldBackNames } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { AbsenceBounds } from "../type/untold-absences.ts";
import { AbsenceGate } from "./absence-gate.ts";
import { AbsentDependents } from "./absent-dependents.ts";
import { AddressPairs } from "./address-pairs.ts";
import { BlockedDependents } from "./blocked-dependents.ts";
import { ClusterGates, type WaitOf } from "./cluster-gates.ts";
import { ClusterNeeds } from "./cluster-needs.ts";
import type { ClusterSource } from "./cluster-sources.ts";
import { waitForKnownScopes } from "./known-scopes.ts";
import { waitForNewVersions } from "./new-versions.ts";
import { type OrderedStream, OrderMembers } from "./order-members.ts";
import { PinnedTargets, type TargetJudge } from "./pinned-targets.ts";
import { RemovalGate, type Removed } from "./removal-gate.ts";
import { Takeovers } from "./takeovers.ts";
import { type NewsOf, WarmingClusters } from "./warming-clusters.ts";

/** What a type has to wait for. */
export interface Waits {
  readonly first: Wait;
  /** The resources that wait; only the first, for a type that sends nothing while anything waits. */
  readonly names: HeldBackNames;
  /** Whether the other resources of the type may be sent. */
  readonly maySpeak: boolean;
}

/** What an order needs to know about types and about its client. */
export interface OrderOptions {
  /**
   * Whether the client goes on with the former version of what references a resource of this type until it has that
   * resource.
   */
  readonly areAwaited: (type: TypeUrl) => boolean;
  readonly isCluster: (type: TypeUrl) => boolean;
  /** Whether the client gets Clusters on a stream outside this order; then it requests none here. */
  readonly hasClustersElsewhere: () => boolean;
  readonly clusterSource: ClusterSource;
}

/**
 * Make-before-break for one aggregated stream, or for the separate streams of one client (requirements ORD): a resource
 * that references a Cluster is sent after the Cluster, and a deleted Cluster is removed after the client has ACKed
 * every resource that no longer references it.
 */
export class Order {
  readonly #members = new OrderMembers();
  readonly #absent = new AbsentDependents(this.#members, () => this.#removals.usesNewestListeners);
  readonly #warmingClusters: WarmingClusters;
  readonly #unready: BlockedDependents;
  readonly #gates: ClusterGates;
  readonly #removals: RemovalGate;
  readonly #absences: AbsenceGate;
  readonly #targets = new PinnedTargets();
  /** Names whose wait timed out, until they are sent. */
  readonly #overruled = new LazyMap<TypeStream, Pick<ReadonlySet<string>, "has">>();
  readonly #isCluster: (type: TypeUrl) => boolean;
  readonly #hasClustersElsewhere: () => boolean;
  readonly #clusterSource: ClusterSource;
  #sent = 0;
  /** The client reconnected, and may not have subscribed yet to everything that it uses. */
  #isReturning = false;
  /**
   * Why the client may subscribe to Clusters soon: it reconnected and may have held some, or nothing suggests that it
   * did.
   */
  #mayAskForClusters: "came-back" | "unannounced" | undefined;

  constructor({ areAwaited, isCluster, hasClustersElsewhere, clusterSource }: OrderOptions) {
    const members = this.#members;
    const warmingClusters = new WarmingClusters(new ClusterNeeds(members, areAwaited));
    const unready = new BlockedDependents(areAwaited);
    this.#warmingClusters = warmingClusters;
    this.#unready = unready;
    this.#gates = new ClusterGates({ members, warmingClusters, unready });
    // No spreads: each client has these (docs/decisions/0162).
    this.#removals = new RemovalGate({ members, warmingClusters, unready, client: this });
    this.#absences = new AbsenceGate({ members, warmingClusters, unready, clusterSource, client: this });
    this.#isCluster = isCluster;
    this.#hasClustersElsewhere = hasClustersElsewhere;
    this.#clusterSource = clusterSource;
  }

  /** A stream subscribed to a type. */
  join(type: TypeStream, stream: OrderedStream): void {
    this.#members.join(type, stream);
    if (this.#members.clusters.has(type)) this.#clusterSource.subscribe();
  }

  /** The stream of this type closed. */
  leave(type: TypeStream): void {
    if (this.#members.clusters.has(type)) this.#clusterSource.unsubscribe();
    this.#members.leave(type);
    this.#unready.leave(type);
    this.#removals.leave(type);
    this.#overruled.delete(type);
    this.#targets.forget(type);
    if (this.hasClusters) {
      if (typeKindTable[type.traits.kind].usesClusters) this.#absent.leave(type);
      return;
    }
    this.#warmingClusters.clear();
    this.#overruled.clear();
    // A client reconnects a per-type stream that broke.
    if (type.traits.kind === "cds" && type.subscription.isWildcard) this.returns(true);
  }

  /** A client reconnected with versions of a type. `asksForAll`: clients of this kind subscribe to all Clusters. */
  returns(asksForAll: boolean): void {
    this.#isReturning = true;
    if (asksForAll) this.#awaitClusters("came-back");
  }

  /**
   * A client subscribed to something that it can only know from a Listener or a Cluster, but to neither of these: it
   * reconnected, or got them elsewhere.
   */
  meetsUnannounced(asksForAll: boolean): void {
    const isAnnounced = this.hasClusters || [...this.#members.users.keys()].some(({ traits }) => traits.kind === "lds");
    if (!asksForAll || isAnnounced || this.#mayAskForClusters !== undefined) return;
    this.#awaitClusters(this.#clusterSource.isKnownHere ? "came-back" : "unannounced");
  }

  /**
   * A client subscribed to endpoints while nothing is subscribed to Clusters: if theirs are from here, it reconnected.
   * `holdsSome`: it listed versions.
   */
  meetsEndpoints(asksForAll: boolean, holdsSome: boolean): void {
    const { isKnownHere, isElsewhere } = this.#clusterSource;
    if (!asksForAll || this.hasClusters || isElsewhere || !(holdsSome || isKnownHere)) return;
    this.#isReturning = true;
    this.#awaitClusters("came-back");
  }

  /** A reconnected client subscribed to endpoints on an aggregated stream, and did not list these. */
  lacksEndpoints(type: TypeUrl, names: ReadonlySet<string>): void {
    this.#warmingClusters.lack(type, names);
  }

  /** On an aggregated stream the short wait costs little, and protects a client that was noted by mistake. */
  #awaitClusters(why: "came-back" | "unannounced"): void {
    const { isElsewhere, isAggregated } = this.#clusterSource;
    if (!isElsewhere) this.#mayAskForClusters = why;
    else if (isAggregated) this.#mayAskForClusters = "unannounced";
  }

  /** Why users of Clusters wait until the client subscribes to Clusters; undefined: they do not. */
  get awaitsClusters(): "came-back" | "unannounced" | undefined {
    return this.hasClusters || this.#hasClustersElsewhere() ? undefined : this.#mayAskForClusters;
  }

  /**
   * The client had time to subscribe to Clusters, so it gets them elsewhere. If it subscribes after all, it is
   * protected from then on.
   */
  stopAwaitingClusters(): void {
    this.#mayAskForClusters = undefined;
    this.#clusterSource.noteElsewhere();
  }

  /** Whether the client reconnected, and still has time to subscribe to what it uses. */
  get isReturning(): boolean {
    return this.#isReturning;
  }

  /** Whether the client, or a single one of its streams, has time left to reconnect and subscribe. */
  get awaitsReturn(): boolean {
    return this.#isReturning || this.#absent.areExpected;
  }

  /** The client has subscribed to what it uses, or its time is over. */
  endReturn(): void {
    this.#isReturning = false;
    this.#absent.clear();
  }

  /**
   * Whether the first responses to a reconnected client count as changes of what it holds: it was sent no Clusters yet,
   * or removals are pending.
   */
  get isTakenUp(): boolean {
    if (!this.#isReturning) return false;
    for (const { position, pendingRemovals } of this.#members.clusters.keys())
      if (position !== undefined && pendingRemovals.isEmpty) return false;
    return true;
  }

  /** Whether Clusters are subscribed to. */
  get hasClusters(): boolean {
    return this.#members.clusters.size > 0;
  }

  /** Whether a type is subscribed to that may reference Clusters. */
  get hasUsers(): boolean {
    return this.#members.users.size > 0;
  }

  /** Whether the order keeps nothing that a flush without anything to send would end or drop. */
  get isAtRest(): boolean {
    return (
      this.#unready.isEmpty &&
      this.#removals.isAtRest &&
      this.#absent.isEmpty &&
      this.#targets.isEmpty &&
      this.#overruled.size === 0
    );
  }

  /** Numbers the next answer, over all streams of the order. */
  count(): number {
    return ++this.#sent;
  }

  /** Clusters were sent. */
  sentClusters(clusters: TypeStream, delivery: Delivery): void {
    this.#warmingClusters.follow(clusters, delivery);
  }

  /** Clusters were sent, among them aggregates with other members than before. */
  regrouped(clusters: TypeStream, delivery: Delivery): void {
    this.#removals.regroup(clusters, delivery);
  }

  /** Clusters were sent of which the client cannot use some yet, while it may hold users of other Clusters. */
  brought(clusters: TypeStream, delivery: Delivery, newsOf: NewsOf): void {
    this.#warmingClusters.bring(clusters, delivery, newsOf);
  }

  /** Clusters were sent to a client that holds an unknown set of them. */
  broughtUnknown(delivery: Delivery): void {
    this.#warmingClusters.bringUnknown(delivery);
  }

  /**
   * A user of Clusters was sent. What it references in turn, such as the routes of a Listener, may use Clusters too. The
   * stream of the Clusters may be the one that is away. `isNew`: whether the client had none of that name.
   */
  used(user: TypeStream, delivery: Delivery, isNew: (name: string) => boolean): void {
    if (this.hasClusters || this.#mayAskForClusters !== undefined) this.#unready.send(user, delivery, isNew);
  }

  /** A response was ACKed. */
  accepted(type: TypeStream, stream: OrderedStream, delivery: Delivery): void {
    // In State of the World a new client gets its routes without a wait.
    const isNew = !this.#isReturning && this.#mayAskForClusters === undefined;
    const isUse = stream.asksForAllClusters && this.#members.users.has(type);
    if (isNew && isUse && !this.hasClusters) this.#clusterSource.noteElsewhere();
    this.#warmingClusters.accept(type, stream, delivery, this.#sent);
    this.#unready.accept(type, delivery, stream);
    this.#removals.accept(type, delivery);
  }

  /**
   * Takes the endpoints to resend, by type, since the last call: those of new Clusters that were ACKed on a stream of
   * their own.
   */
  takeOwed(): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
    return this.#warmingClusters.takeOwed();
  }

  /**
   * What a type that uses Clusters, as aggregate Clusters do, has to wait for; undefined: nothing. Called at most once per
   * flush.
   */
  waitsOf(user: TypeStream, current: CurrentView): Waits | undefined {
    // The usual flush of Clusters: an order at rest has nothing to read or drop, and few Clusters wait.
    if (this.isAtRest && this.#members.clusters.has(user) && !this.#gates.mayHoldBackClusters(user, current))
      return undefined;
    // Before newer versions of it are sent.
    this.#removals.readyTo();
    this.#removals.note(user, current);
    const overruled = this.#overruled.get(user);
    if (overruled !== undefined && !user.deliveries.isBlocked) this.#overruled.delete(user);
    const waitOf = this.#gateOf(user, current);
    if (waitOf === undefined) {
      this.#targets.forget(user);
      return undefined;
    }
    const waiting = new Map<string, PendingResource>();
    const takeovers = user.traits.terms && new Takeovers(current.view);
    const addresses = user.traits.addressesIn && new AddressPairs(user.traits);
    let first: Wait | undefined;
    let listed: ReadonlySet<string> | undefined;
    for (const pending of this.#pendingOf(user, current)) {
      addresses?.add(pending);
      const wait = overruled?.has(pending.resource.name) === true ? undefined : waitOf(pending);
      if (wait === undefined) {
        takeovers?.add(pending);
        continue;
      }
      listed ??= user.listedIn?.(current.view);
      if (listed?.has(pending.resource.name) === true) continue;
      first ??= wait;
      waiting.set(pending.resource.name, pending);
      if (!user.canHoldBack && !user.canTellTargets) break;
    }
    if (first === undefined) {
      this.#targets.forget(user);
      return undefined;
    }
    takeovers?.holdBack(waiting);
    const judge: TargetJudge = {
      current,
      waits: (target) => waitOf(target) !== undefined,
      leadsNowhere: (target, dangling) => this.#gates.leadsNowhere(target, dangling, current),
    };
    if (user.canHoldBack) {
      const held = this.#targets.ofEach(user, waiting, judge);
      return { first, names: addresses?.holdTogether(held) ?? held, maySpeak: true };
    }
    const names = user.canTellTargets
      ? this.#targets.ofWhole(user, waiting, this.#pendingOf(user, current), judge)
      : undefined;
    return {
      first,
      names: names ?? new Map([...waiting.keys()].slice(0, 1).map((name) => [name, undefined])),
      maySpeak: names !== undefined,
    };
  }

  /** What is about to be sent. As long as something is to be removed, what is new may take its place. */
  *#pendingOf(user: TypeStream, current: CurrentView): Iterable<PendingResource> {
    const areClusters = this.#members.clusters.has(user);
    let isReplacement: boolean | undefined;
    for (const pending of user.pendingResources(current)) {
      const isNew = pending.replaces === undefined && !areClusters;
      if (isNew) isReplacement ??= user.removesAny(current);
      yield isNew && isReplacement === true ? { ...pending, replaces: unknownUses } : pending;
    }
  }

  #gateOf(user: TypeStream, current: CurrentView): WaitOf | undefined {
    if (this.#members.clusters.has(user)) return this.#gates.waitOfClusters(user, current, this.#isReturning);
    if (!this.#members.users.has(user) || !user.hasNews(current.view)) return undefined;
    if (this.hasClusters) return this.#afterNewVersions(user, this.#gates.waitOf(user, current, this.#isReturning));
    return this.awaitsClusters === undefined ? undefined : this.#unaskedGate(current.view);
  }

  /** A Listener also waits for what it names. */
  #afterNewVersions(user: TypeStream, waitOf: WaitOf | undefined): WaitOf | undefined {
    if (user.traits.kind !== "lds") return waitOf;
    const waitForNew = waitForNewVersions(this.#members, this.#isCluster);
    const waitForScopes = waitForKnownScopes(this.#members, this.#isCluster);
    if (waitForNew === undefined && waitForScopes === undefined) return waitOf;
    return (pending) => waitOf?.(pending) ?? waitForNew?.(pending.resource) ?? waitForScopes?.(pending.resource);
  }

  /** A reconnected client may hold less than it lists, and subscribes to Clusters only once none of them warms. */
  #unaskedGate(view: View): WaitOf {
    return ({ resource }) => {
      for (const { type, name } of resource.references) {
        if (this.#isCluster(type) && view.holder(type, name) !== undefined) return { for: "cluster", name };
      }
      return undefined;
    };
  }

  /** Which deleted Clusters, or endpoints, may be removed at the newest revision. */
  removable(revision: number, removed: Removed): Removable {
    return this.#removals.removable(revision, removed);
  }

  /** What the removal of something deleted at this revision waits for. */
  removalWaitOf(since: number, removed: Removed): Wait | undefined {
    return this.#removals.waitOf(since, removed);
  }

  /** Which absences of names of a type may be told. */
  absencesOf(type: TypeStream): AbsenceBounds {
    return this.#absences.boundsOf(type);
  }

  /** What untold absences of a type wait for. */
  absenceWaitOf(type: TypeStream): Wait | undefined {
    return this.#absences.waitOf(type);
  }

  /**
   * The wait of a user since this revision timed out: lets its names through. Returns false if nothing waited that
   * long; names of which an earlier state was sent meanwhile did not.
   */
  overruleUser(user: TypeStream, since: number, current: CurrentView): boolean {
    const names = user.canTellTargets ? this.#targets.waitingSince(user, since) : everyName;
    if (names === undefined) return false;
    this.#overruled.set(user, names);
    const pending = [...user.pendingResources(current)].filter(({ resource }) => names.has(resource.name));
    const used = pending.flatMap(({ resource }) => resource.references.map(({ name }) => name));
    this.#warmingClusters.giveUp(this.#gates.withMembers(used));
    return true;
  }

  /**
   * Stops waiting for the ACK of Clusters whose endpoints were ACKed: some clients withhold that ACK until no Cluster
   * warms.
   */
  countGiven(): void {
    this.#warmingClusters.countGiven();
  }

  /** The wait of removals timed out: clients without an ACK are not waited for up to this revision. */
  overruleRemovals(to: number): void {
    this.#removals.overrule(to);
  }

  /** The wait of absences timed out: up to this revision they are told. */
  overruleAbsences(to: number): void {
    this.#absences.overrule(to);
  }
}

const everyName = { has: () => true };
