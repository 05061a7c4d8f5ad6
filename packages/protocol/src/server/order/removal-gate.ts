import type { Reference } from "../../resource/resource.ts";
import { isGlob, WILDCARD } from "../../resource/resource-name.ts";
import type { View } from "../../state/view.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { Removable } from "../cache/pending-removals.ts";
import { mayUseOwnType } from "../cache/shared-selections.ts";
import type { Wait } from "../contract/wait.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { DeferredRemovalState, TypeStream } from "../type/type-stream.ts";
import { AbandonedNames } from "./abandoned-names.ts";
import type { BlockedDependents } from "./blocked-dependents.ts";
import { type OrderMembers, sentTo } from "./order-members.ts";
import type { WarmingClusters } from "./warming-clusters.ts";

/** What is removed: Clusters, or their endpoints. */
export type Removed = Pick<DeferredRemovalState, "areClusters">;

/** What the removals of one client depend on. */
export interface RemovalParts {
  readonly members: OrderMembers;
  readonly warmingClusters: Pick<WarmingClusters, "isEmpty" | "isNew">;
  readonly unready: Pick<BlockedDependents, "isEmpty" | "areAwaited" | "readyTo" | "awaitedType">;
  /** `awaitsReturn`: the client reconnected, and may not have subscribed yet to everything that it uses. */
  readonly client: { readonly awaitsReturn: boolean };
}

/**
 * Decides when deleted resources may be removed from one client: once it uses nothing of an earlier revision that may
 * reference them (S-ORD-05).
 */
export class RemovalGate {
  readonly #parts: RemovalParts;
  readonly #abandoned = new AbandonedNames();
  /** By the stream of their Clusters, the newest response that changed members of aggregates and is not ACKed yet. */
  readonly #regrouped = new LazyMap<TypeStream, { readonly from: number; readonly at: number }>();
  /** The revision of the last timeout: up to it, users of Clusters are not waited for, unless they were NACKed. */
  #overruledTo = -1;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /** Whether no user of Clusters was deleted while the client goes on using it. */
  get isAtRest(): boolean {
    return this.#abandoned.isEmpty && this.#regrouped.size === 0;
  }

  /** Clusters were sent, among them aggregates with other members than before: those before stay until the ACK. */
  regroup(clusters: TypeStream, { from = -1, at }: Delivery): void {
    const before = this.#regrouped.get(clusters);
    this.#regrouped.set(clusters, { from: Math.min(from, before?.from ?? from), at });
  }

  /** A response was ACKed. */
  accept(type: TypeStream, { at }: Delivery): void {
    const sent = this.#regrouped.get(type);
    if (sent === undefined || at < sent.at || type.deliveries.refusedFrom !== Number.POSITIVE_INFINITY) return;
    this.#regrouped.delete(type);
  }

  /** Notes which users of Clusters are deleted that the last flush held back. Called before the next one. */
  note(user: TypeStream, current: CurrentView): void {
    this.#abandoned.note(user, current);
  }

  /** The stream of this type closed. */
  leave(type: TypeStream): void {
    this.#abandoned.leave(type);
    this.#regrouped.delete(type);
  }

  /** Which deleted Clusters, or endpoints, may be removed at the newest revision. */
  removable(revision: number, { areClusters }: Removed): Removable {
    const { members, warmingClusters, client } = this.#parts;
    let to = client.awaitsReturn ? -1 : revision;
    for (const [clusters, { current }] of members.clusters)
      to = Math.min(to, areClusters ? this.#regroupedTo(clusters, current) : this.#broughtTo(clusters, current));
    if (members.users.size === 0) return { to, namedTo: to, goesAtOnce: undefined };
    for (const [user, { current }] of members.users) {
      to = Math.min(to, this.#movedOnTo(user, current));
      // It uses what waits to be removed until then; if a newer version was held back, with Clusters of an older one.
      if (areClusters && !user.pendingRemovals.isEmpty) to = -1;
    }
    to = Math.min(to, Math.max(this.#overruledTo, this.readyTo()));
    return {
      to,
      namedTo: Math.min(to, this.#overruledTo),
      goesAtOnce: warmingClusters.isEmpty ? undefined : (name) => warmingClusters.isNew(name),
    };
  }

  /** What the removal of something deleted at this revision waits for. */
  waitOf(since: number, { areClusters }: Removed): Wait | undefined {
    const { members, unready, client } = this.#parts;
    if (client.awaitsReturn) return { for: "return" };
    for (const [clusters, { current }] of members.clusters) {
      const to = areClusters ? this.#regroupedTo(clusters, current) : this.#broughtTo(clusters, current);
      if (to >= since) continue;
      const isNacked = areClusters && clusters.deliveries.refusedFrom < since;
      return { for: "users", type: clusters.traits.type, isNacked };
    }
    for (const [user, { current }] of members.users) {
      const isLeft = !areClusters || user.pendingRemovals.isEmpty;
      if (isLeft && this.#movedOnTo(user, current) >= since) continue;
      return { for: "users", type: user.traits.type, isNacked: user.deliveries.refusedFrom < since };
    }
    if (this.readyTo() >= since) return undefined;
    const type = unready.awaitedType;
    return type === undefined ? undefined : { for: "users", type, isNacked: false };
  }

  /** The wait timed out: up to this revision, clients without an ACK are not waited for. */
  overrule(to: number): void {
    this.#overruledTo = Math.max(this.#overruledTo, to);
  }

  /**
   * The revision before the oldest user that references something that the client has not requested or not ACKed yet.
   * Infinite: none.
   */
  readyTo(): number {
    const { unready } = this.#parts;
    if (unready.isEmpty) return Number.POSITIVE_INFINITY;
    return unready.readyTo((reference, isFirst) => this.#isSettled(reference, isFirst));
  }

  /** Whether the client has ACKed the newest Listeners, and what they reference. */
  get usesNewestListeners(): boolean {
    for (const [user, { current }] of this.#parts.members.users)
      if (user.traits.kind === "lds" && this.#settledTo(user, current) < current.revision) return false;
    return this.readyTo() === Number.POSITIVE_INFINITY;
  }

  #isSettled(reference: Reference, isFirst: boolean): boolean {
    const { type, name } = reference;
    for (const [user, { current }] of this.#parts.members.named()) {
      if (user.traits.type !== type || !(user.subscription.isWildcard || user.subscription.names.has(name))) continue;
      // The client goes on with a former version until there is one.
      if (!current.view.leadsTo(reference)) return isFirst;
      const isSettled = this.#settledTo(user, current) === current.revision;
      if (name === WILDCARD || isGlob(name)) return isSettled && this.#membersAreSettled(reference, current.view);
      if (isSettled) return true;
      const { deliveries } = user;
      const isRefused = deliveries.refusedFrom !== Number.POSITIVE_INFINITY;
      return !isRefused && user.isSent(name, current) && !deliveries.mayBring([name]);
    }
    return false;
  }

  /** Whether the client has what each of a collection refers to; it may have unsubscribed from that meanwhile. */
  #membersAreSettled({ type, name }: Reference, view: View): boolean {
    const { unready } = this.#parts;
    const members = name === WILDCARD ? view.members(type) : view.answersTo(type, name);
    for (const { references } of members) {
      for (const reference of references)
        if (unready.areAwaited(reference.type) && !this.#isSettled(reference, false)) return false;
    }
    return true;
  }

  /** The revision up to which the client uses nothing older of a user. */
  #movedOnTo(user: TypeStream, current: CurrentView): number {
    const settledTo = this.#settledTo(user, current);
    if (this.#abandoned.isEmpty) return settledTo;
    const overruledTo = this.#overruledTo;
    const hasListenersOf = (revision: number): boolean => this.#hasListenersOf(revision);
    return Math.min(settledTo, this.#abandoned.usedTo(user, { current, overruledTo, hasListenersOf }));
  }

  /** Whether the client uses the Listeners and scopes of this revision, with all that they name. */
  #hasListenersOf(revision: number): boolean {
    let hasListeners = false;
    for (const [user, { current }] of this.#parts.members.users) {
      const { kind } = user.traits;
      if (kind !== "lds" && kind !== "srds") continue;
      if (this.#settledTo(user, current) < revision) return false;
      hasListeners ||= kind === "lds";
    }
    return hasListeners && this.readyTo() >= revision;
  }

  /** The revision up to which everything of a user is sent and ACKed, or its wait timed out. */
  #settledTo(user: TypeStream, current: CurrentView): number {
    const { deliveries } = user;
    const answered = Math.max(this.#overruledTo, Math.min(sentTo(user, current), deliveries.answeredTo));
    return Math.min(answered, deliveries.refusedFrom);
  }

  /** The revision up to which the client uses no member of an older state of an aggregate Cluster. */
  #regroupedTo(clusters: TypeStream, current: CurrentView): number {
    const { position, sentState, traits } = clusters;
    let to = this.#regrouped.get(clusters)?.from ?? Number.POSITIVE_INFINITY;
    for (const { replaces, from } of sentState.heldBack.resources.values())
      if (mayUseOwnType(replaces, traits.type)) to = Math.min(to, from);
    if (
      position !== undefined &&
      clusters.hasNews(current.view) &&
      current.regroupedSince(position, traits.type).size > 0
    )
      to = Math.min(to, position.revision);
    return Math.max(this.#overruledTo, to);
  }

  /** The same for Clusters, which use endpoints: a response that only removes Clusters does not count. */
  #broughtTo(clusters: TypeStream, current: CurrentView): number {
    const { deliveries } = clusters;
    return Math.max(this.#overruledTo, Math.min(sentTo(clusters, current), deliveries.broughtTo));
  }
}
