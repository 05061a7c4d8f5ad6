import { type Reference, type Resource, referredNames } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill } from "../../state/difference.ts";
import type { View } from "../../state/view.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { isVacated } from "../cache/shared-changes.ts";
import { type PendingResource, type Uses, unknownUses } from "../cache/shared-selections.ts";
import type { Wait } from "../contract/wait.ts";
import { memo } from "../memory/memo.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { BlockedDependents } from "./blocked-dependents.ts";
import { ClusterTree, type Lack, nothingLacks, vacancyOf } from "./cluster-tree.ts";
import type { OrderMembers } from "./order-members.ts";
import { keyOf } from "./pinned-targets.ts";
import type { WarmingClusters } from "./warming-clusters.ts";

/** Decides whether a client can use Clusters of one type. */
interface Gate {
  readonly type: TypeUrl;
  /**
   * What a Cluster lacks, and each Cluster that an aggregate leads to, before it is used. `isAnew`: it was not used before;
   * undefined: there was no former state.
   */
  readonly lackOf: (name: string, isAnew: boolean | undefined) => Lack;
}

/** What the gates of one client read. */
export interface GatesParts {
  readonly members: OrderMembers;
  readonly warmingClusters: WarmingClusters;
  readonly unready: BlockedDependents;
}

/** What a resource that is about to be sent has to wait for; undefined: nothing. */
export type WaitOf = (upcoming: PendingResource) => Wait | undefined;

/** Decides whether a client can use the Clusters that a resource references. */
export class ClusterGates {
  readonly #parts: GatesParts;

  constructor(parts: GatesParts) {
    this.#parts = parts;
  }

  /**
   * The test for what each resource waits for; undefined if none has to wait. `isReturning`: the client reconnected.
   */
  waitOf(user: TypeStream, current: CurrentView, isReturning: boolean): WaitOf | undefined {
    const { members, warmingClusters, unready } = this.#parts;
    const clusters = [...members.clusters.keys()];
    for (const { current: ofEndpoints } of members.endpoints.values()) warmingClusters.forgetThere(ofEndpoints.view);
    const isKnown = warmingClusters.isEmpty && !warmingClusters.mayBeAny && !this.#mayWarm(isReturning);
    // If the client has every Cluster, only newly used ones need a check.
    const hasAll = isKnown && !clusters.some((type) => type.hasNews(current.view));
    if (hasAll && user.position === undefined && unready.isEmpty) return undefined;
    const gates = clusters.map((type) => this.#gateOf(type, current, isReturning));
    return ({ resource, replaces }) => {
      const before = replaces ?? (unready.awaits(resource) ? unknownUses : undefined);
      if (hasAll && before === undefined) return undefined;
      const routes = user.traits.kind === "srds" && before !== undefined ? newRoutes(resource, before, current) : none;
      for (const { type, lackOf } of gates) {
        const anew = before && current.shared.newUses(resource, before, type);
        for (const name of (hasAll ? anew : undefined) ?? referredNames(resource, type)) {
          const { wait, vacant } = lackOf(name, anew?.has(name));
          if (wait !== undefined || vacant !== undefined) return wait ?? vacant;
        }
        for (const route of routes) {
          for (const name of referredNames(route, type)) {
            const { wait, vacant } = lackOf(name, true);
            if (wait !== undefined || vacant !== undefined) return wait ?? vacant;
          }
        }
      }
      return undefined;
    };
  }

  /**
   * The test for what a Cluster waits for that the client uses, and that gets endpoints under another name, or as an
   * aggregate other members; undefined if none has to wait. A new Cluster does not wait: nothing uses it yet.
   */
  waitOfClusters(clusters: TypeStream, current: CurrentView, isReturning: boolean): WaitOf | undefined {
    if (clusters.canRelist === false || !this.mayHoldBackClusters(clusters, current)) return undefined;
    const { warmingClusters } = this.#parts;
    const { owes } = clusters.traits;
    const areEndpointsHere = this.#hasEndpointsHere(owes, current.view);
    const { type, lackOf } = this.#gateOf(clusters, current, isReturning, true);
    return ({ resource, replaces }) => {
      const { name } = resource;
      if (replaces === undefined || warmingClusters.isNew(name)) return undefined;
      // What the client has of one that is held back is known, also while another of its streams comes back.
      const isKnown = !isReturning || clusters.sentState.heldBack.resources.has(name);
      const mayHoldBack = isKnown && areEndpointsHere && this.#isInUse(resource, clusters);
      if (mayHoldBack && isVacated(resource, replaces, current.view, owes)) return { for: "endpoints", name };
      const anew = current.shared.newUses(resource, replaces, type);
      if (anew.size === 0) return undefined;
      const members = referredNames(resource, type).filter((name) => isServed(clusters, current, name));
      const lacks = members.map((name) => ({ isAnew: anew.has(name), lack: lackOf(name, true) }));
      return (
        lacks.find(({ isAnew, lack }) => isAnew && lack.wait !== undefined)?.lack.wait ??
        vacancyOf(lacks.map(({ lack }) => lack))
      );
    };
  }

  /**
   * Whether Clusters that the client has get other members or endpoints that do not exist yet, or are held back because of
   * that.
   */
  mayHoldBackClusters(clusters: TypeStream, current: CurrentView): boolean {
    const { position, heldBackFrom, traits } = clusters;
    if (position === undefined) return false;
    if (heldBackFrom !== Number.POSITIVE_INFINITY) return true;
    if (isStill(position, current.view, traits.type)) return false;
    return current.regroupedSince(position, traits.type).size > 0 || current.isAnyVacatedSince(position, traits);
  }

  /**
   * Whether the client may get endpoints from this server: it asked for some, or there are some. Those that come from another
   * server never exist here.
   */
  #hasEndpointsHere(owes: readonly TypeUrl[], view: View): boolean {
    return this.#parts.members.hasAskedForEndpoints || owes.some((type) => view.coveredBy(type) > 0);
  }

  /** Whether the client goes on with what it has of a Cluster: not while that warms, and not without endpoints or rejected. */
  #isInUse(cluster: Resource, { deliveries }: TypeStream): boolean {
    const { warmingClusters } = this.#parts;
    const { name } = cluster;
    return !warmingClusters.has(name) && !warmingClusters.isVacant(cluster) && !deliveries.mayRefuse(name);
  }

  /** Names of Clusters with those that aggregates among them lead to. */
  withMembers(names: Iterable<string>): ReadonlySet<string> {
    const found = new Set(names);
    for (const [clusters, { current }] of this.#parts.members.clusters) {
      const { type } = clusters.traits;
      // A set is walked up to what is added meanwhile.
      for (const name of found) {
        const cluster = current.view.holder(type, name);
        for (const member of cluster === undefined ? [] : referredNames(cluster, type)) found.add(member);
      }
    }
    return found;
  }

  /**
   * Whether an older state of a resource references something that is deleted by now and was there when the wait began.
   * The client may go on using a Cluster that it already used and that is not removed yet.
   */
  leadsNowhere({ resource, replaces }: PendingResource, dangling: ReadonlySet<string>, current: CurrentView): boolean {
    return resource.references.some((reference) => {
      if (current.view.leadsTo(reference) || dangling.has(keyOf(reference))) return false;
      const isInUse = replaces?.references.some(({ type, name }) => type === reference.type && name === reference.name);
      return isInUse !== true || !this.#isHeld(reference, current);
    });
  }

  /** Whether a deleted Cluster is still held by the client, and stays until nothing uses it. */
  #isHeld({ type, name }: Reference, current: CurrentView): boolean {
    for (const { traits, position, pendingRemovals } of this.#parts.members.clusters.keys()) {
      if (traits.type !== type || position === undefined || this.#parts.warmingClusters.isNew(name)) continue;
      const held = pendingRemovals.names.get(name);
      if (held === undefined) return current.namesSince(position, type).has(name);
      return held.since > Number.NEGATIVE_INFINITY;
    }
    return false;
  }

  /** `isOfAggregates`: the gate is for aggregate Clusters, which never wait for the new state of one another. */
  #gateOf(clusters: TypeStream, current: CurrentView, isReturning: boolean, isOfAggregates = false): Gate {
    const { position, subscription, pendingRemovals, sentState, traits } = clusters;
    const { type, owes } = traits;
    const { warmingClusters } = this.#parts;
    const untold = position === undefined ? undefined : current.newNamesSince(position, type);
    const isUntold = (name: string): boolean => untold?.has(name) !== false;
    // What a reconnected client holds of a Cluster, or holds although it was deleted, may be without endpoints.
    const changing = isReturning && position !== undefined ? current.namesSince(position, type) : untold;
    // A Cluster that gets another EDS name, or waits for its endpoints, may have been without any under the one before.
    const retargeted = position && current.retargetedSince(position, type);
    const heldBack = sentState.heldBack.resources;
    const isInDoubt = (name: string): boolean =>
      warmingClusters.has(name) ||
      heldBack.has(name) ||
      retargeted?.has(name) === true ||
      changing?.has(name) !== false;
    const ownWait = (name: string, isAnew: boolean | undefined): "cluster" | "endpoints" | "secret" | undefined => {
      const found = current.view.holder(type, name);
      if (found === undefined || !subscription.covers(found)) return undefined;
      const isMissing = isUntold(name) && !pendingRemovals.names.has(name);
      if (warmingClusters.isNew(name) || warmingClusters.mayBeAny || isMissing) return "cluster";
      // Traffic that went there before goes on doing so.
      if (isAnew === false) return undefined;
      if (isInDoubt(name) && !(isOfAggregates && referredNames(found, type).length > 0)) return "cluster";
      const isNewUse = isAnew !== undefined || warmingClusters.isVacant(found);
      if (isNewUse && current.isVacant(found, owes)) return "endpoints";
      if (isAnew !== undefined && this.#lacksSecret(found, current.view)) return "secret";
      const asked = found.references.filter((reference) => owes.includes(reference.type));
      return asked.some((endpoints) => this.#isUngiven(endpoints, isReturning)) ? "cluster" : undefined;
    };
    const lackOfOne = (name: string, isAnew: boolean | undefined): Lack => {
      const wait = ownWait(name, isAnew);
      if (wait === undefined) return nothingLacks;
      return wait === "endpoints" ? { vacant: { for: wait, name } } : { wait: { for: wait, name } };
    };
    const trees = new Map<boolean | undefined, ClusterTree>();
    const membersOf = (name: string): readonly string[] => {
      const found = current.view.holder(type, name);
      return found === undefined
        ? []
        : referredNames(found, type).filter((member) => isServed(clusters, current, member));
    };
    const lackOf: Gate["lackOf"] = (name, isAnew) => {
      if (isAnew === false || membersOf(name).length === 0) return lackOfOne(name, isAnew);
      const makeTree = (): ClusterTree => new ClusterTree({ membersOf, lackOf: (one) => lackOfOne(one, isAnew) });
      return memo(trees, isAnew, makeTree).lackOf(name);
    };
    return { type, lackOf };
  }

  /**
   * Whether the client requested a secret that a Cluster needs and that does not exist: some clients use such a Cluster
   * anyway, and fail.
   */
  #lacksSecret({ references }: Resource, view: View): boolean {
    for (const { traits, subscription } of this.#parts.members.secrets.keys()) {
      const { type } = traits;
      for (const one of references) {
        if (one.type === type && subscription.names.has(one.name) && view.find(type, one.name) === undefined)
          return true;
      }
    }
    return false;
  }

  /** Whether requested endpoints are not sent yet or, on a per-type stream, not ACKed yet. */
  #isUngiven({ type, name }: Reference, isReturning: boolean): boolean {
    for (const [endpoints, { current, isAggregated }] of this.#parts.members.endpoints) {
      const { traits, subscription, deliveries } = endpoints;
      if (traits.type !== type || !(subscription.isWildcard || subscription.names.has(name))) continue;
      if (!endpoints.isSent(name, current)) return true;
      // What reconnected may warm until there are some.
      if (isReturning && !isAggregated && current.view.find(type, name) === undefined) return true;
      return !isAggregated && deliveries.mayBring([name]);
    }
    // Each per-type stream reconnects in its own time.
    return isReturning && this.#isSeparate;
  }

  /** Whether a reconnected client may hold Clusters that still warm, because it was not sent their endpoints. */
  #mayWarm(isReturning: boolean): boolean {
    if (!isReturning) return false;
    if (this.#isSeparate) return true;
    for (const [endpoints, { current }] of this.#parts.members.endpoints)
      if (endpoints.hasNews(current.view)) return true;
    return false;
  }

  /** Whether Clusters have a stream of their own. */
  get #isSeparate(): boolean {
    for (const { isAggregated } of this.#parts.members.clusters.values()) if (!isAggregated) return true;
    return false;
  }
}

const none: readonly Resource[] = [];

/**
 * The routes that a scope names and did not name before. A client uses a changed scope at once, and asks for its routes only
 * then: while they wait for their Clusters it would have none, so the scope waits in their place.
 */
function newRoutes(scope: Resource, before: Uses, { view }: CurrentView): readonly Resource[] {
  return scope.references.flatMap(({ type, name }) => {
    const isNew = !before.references.some((one) => one.type === type && one.name === name);
    return (isNew ? view.find(type, name) : undefined) ?? [];
  });
}

/** Whether there is a Cluster of this name for the client. */
function isServed({ traits, subscription }: TypeStream, { view }: CurrentView, name: string): boolean {
  const found = view.holder(traits.type, name);
  return found !== undefined && subscription.covers(found);
}
