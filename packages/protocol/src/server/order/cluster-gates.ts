import { type Reference, type Resource, referredNames } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { SharedResponses } from "../cache/shared-responses.ts";
import { type Upcoming, unknownUses } from "../cache/shared-selections.ts";
import type { Wait } from "../contract/wait.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { BlockedDependents } from "./blocked-dependents.ts";
import type { OrderMembers } from "./order-members.ts";
import { keyOf } from "./pinned-targets.ts";
import type { WarmingClusters } from "./warming-clusters.ts";

/** What stands between a client and the use of Clusters of one type. */
interface Gate {
  readonly type: TypeUrl;
  /** What has to come before a Cluster is used; `anew`: what was not used before, undefined where nothing was. */
  readonly waitFor: (
    name: string,
    anew: ReadonlySet<string> | undefined,
  ) => "cluster" | "endpoints" | "secret" | undefined;
}

/** What the gates of one client look at. */
export interface GatesParts {
  readonly members: OrderMembers;
  readonly warmingClusters: WarmingClusters;
  readonly unready: BlockedDependents;
}

/** What an upcoming resource has to wait for; undefined: nothing. */
export type WaitOf = (upcoming: Upcoming) => Wait | undefined;

/** Finds out whether a client can use the Clusters that something names. */
export class ClusterGates {
  readonly #parts: GatesParts;

  constructor(parts: GatesParts) {
    this.#parts = parts;
  }

  /** What each upcoming resource waits for; undefined if none can wait for anything. `isReturning`: the client came back. */
  waitOf(user: TypeStream, view: View, responses: SharedResponses, isReturning: boolean): WaitOf | undefined {
    const { members, warmingClusters, unready } = this.#parts;
    const clusters = [...members.clusters.keys()];
    const isKnown = warmingClusters.isEmpty && !warmingClusters.mayBeAny && !this.#mayWarm(isReturning);
    // Where the client has every Cluster, only what is used from now on has to be looked at.
    const hasAll = isKnown && !clusters.some((type) => type.hasNews(view));
    if (hasAll && user.position === undefined && unready.isEmpty) return undefined;
    const gates = clusters.map((type) => this.#gateOf(type, view, responses, isReturning));
    return ({ resource, replaces }) => {
      const before = replaces ?? (unready.awaits(resource) ? unknownUses : undefined);
      if (hasAll && before === undefined) return undefined;
      for (const { type, waitFor } of gates) {
        const anew = before && responses.newUses(resource, before, type);
        for (const name of (hasAll ? anew : undefined) ?? referredNames(resource, type)) {
          const wait = waitFor(name, anew);
          if (wait !== undefined) return { for: wait, name };
        }
      }
      return undefined;
    };
  }

  /**
   * Whether something that is not the newest refers to what is gone by now, and was not dangling from the beginning. A Cluster
   * that the client was using, and that is not removed yet, it may go on using.
   */
  leadsNowhere(
    { resource, replaces }: Upcoming,
    dangling: ReadonlySet<string>,
    view: View,
    responses: SharedResponses,
  ): boolean {
    return resource.references.some((reference) => {
      if (view.find(reference.type, reference.name) !== undefined || dangling.has(keyOf(reference))) return false;
      const isInUse = replaces?.references.some(({ type, name }) => type === reference.type && name === reference.name);
      return isInUse !== true || !this.#isHeld(reference, view, responses);
    });
  }

  /** A Cluster that is gone is not removed from the client yet, and will not be before everything that uses it is. */
  #isHeld({ type, name }: Reference, view: View, responses: SharedResponses): boolean {
    for (const { traits, position, pendingRemovals } of this.#parts.members.clusters.keys()) {
      if (traits.type !== type || position === undefined || this.#parts.warmingClusters.has(name)) continue;
      const held = pendingRemovals.names.get(name);
      if (held === undefined) return responses.changes.names(position, view, type).has(name);
      return held.since > Number.NEGATIVE_INFINITY;
    }
    return false;
  }

  #gateOf(clusters: TypeStream, view: View, responses: SharedResponses, isReturning: boolean): Gate {
    const { position, subscription, pendingRemovals, traits } = clusters;
    const { type, owes } = traits;
    const { warmingClusters } = this.#parts;
    const untold = position === undefined ? undefined : responses.changes.newcomers(position, view, type);
    const isUntold = (name: string): boolean =>
      untold === undefined || (untold.has(name) && !pendingRemovals.names.has(name));
    const waitFor: Gate["waitFor"] = (name, anew) => {
      const found = view.holder(type, name);
      if (found === undefined || !subscription.covers(found)) return undefined;
      if (warmingClusters.has(name) || warmingClusters.mayBeAny || isUntold(name)) return "cluster";
      // What sent its traffic there before goes on doing so.
      if (anew?.has(name) === false) return undefined;
      if (anew !== undefined && responses.isVacant(found, view, owes)) return "endpoints";
      if (anew !== undefined && this.#lacksSecret(found, view)) return "secret";
      const asked = found.references.filter((reference) => owes.includes(reference.type));
      return asked.some((endpoints) => this.#isUngiven(endpoints, responses, isReturning)) ? "cluster" : undefined;
    };
    return { type, waitFor };
  }

  /** The client asked for a secret that a Cluster needs, and there is none: some clients go on without it, to no good. */
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

  /** Endpoints that were asked for, and are not sent yet or, on a stream of their own, not accepted yet. */
  #isUngiven({ type, name }: Reference, responses: SharedResponses, isReturning: boolean): boolean {
    for (const [endpoints, { view, isAggregated }] of this.#parts.members.endpoints) {
      const { traits, subscription, deliveries } = endpoints;
      if (traits.type !== type || !(subscription.isWildcard || subscription.names.has(name))) continue;
      if (!endpoints.isSent(name, view, responses)) return true;
      return !isAggregated && deliveries.mayBring([name]);
    }
    // Each stream of its own comes back in its own time.
    return isReturning && this.#isSeparate;
  }

  /** A client that came back may hold Clusters that it cannot use yet: of some it was not given the endpoints. */
  #mayWarm(isReturning: boolean): boolean {
    if (!isReturning) return false;
    if (this.#isSeparate) return true;
    for (const [endpoints, { view }] of this.#parts.members.endpoints) if (endpoints.hasNews(view)) return true;
    return false;
  }

  /** Clusters come on a stream of their own. */
  get #isSeparate(): boolean {
    for (const { isAggregated } of this.#parts.members.clusters.values()) if (!isAggregated) return true;
    return false;
  }
}
