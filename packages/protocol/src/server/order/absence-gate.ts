import { referredNames } from "../../resource/resource.ts";
import { typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { isStill } from "../../state/difference.ts";
import type { Wait } from "../contract/wait.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { AbsenceBounds } from "../type/untold-absences.ts";
import type { BlockedDependents } from "./blocked-dependents.ts";
import type { ClusterSource } from "./cluster-sources.ts";
import { type OrderedStream, type OrderMembers, sentTo } from "./order-members.ts";
import type { WarmingClusters } from "./warming-clusters.ts";

/** What the absences of one client depend on. */
export interface AbsenceParts {
  readonly members: OrderMembers;
  readonly warmingClusters: Pick<WarmingClusters, "awaited" | "awaiting">;
  readonly unready: Pick<BlockedDependents, "awaitedByReplacements">;
  readonly clusterSource: Pick<ClusterSource, "isAggregated">;
  readonly client: {
    /** Whether the client reconnected, and still has time to subscribe to what it uses. */
    readonly isReturning: boolean;
    /** Why the client may subscribe to Clusters soon; undefined: it did, or is not expected to. */
    readonly awaitsClusters: "came-back" | "unannounced" | undefined;
  };
}

/**
 * Decides which absences may be told to one client: that of a name which only a Cluster of an earlier state refers to
 * would end the warming of that Cluster (S-ORD-01), and that of a secret the warming of a Listener, which would then take
 * the place of its former version without a certificate.
 */
export class AbsenceGate {
  readonly #parts: AbsenceParts;
  /** The revision of the last timeout of an absence. */
  #overruledTo = -1;

  constructor(parts: AbsenceParts) {
    this.#parts = parts;
  }

  /** Which absences of names of a type may be told. */
  boundsOf(type: TypeStream): AbsenceBounds {
    const mayHaveWarmed = this.#mayHaveWarmed(type);
    const mayBeAny = mayHaveWarmed || this.#mayAnyWarm(type);
    // There may be as many of these as names that are asked about.
    let unmet: ReadonlySet<string> | undefined;
    const isMet = (name: string): boolean => {
      unmet ??= this.#unmetNames(type);
      return !unmet.has(name);
    };
    const isAwaited = (name: string): boolean => mayHaveWarmed || !isMet(name);
    const isUnmet = (name: string): boolean => mayBeAny || !isMet(name);
    return { to: this.#ownersHadTo(type), overruledTo: this.#overruledTo, isUnmet, isAwaited };
  }

  /** What untold absences of a type wait for. */
  waitOf(type: TypeStream): Wait | undefined {
    if (type.untoldAbsences.isEmpty) return undefined;
    if (this.#awaitsOwnersOf(type)) return { for: "return" };
    const owners = [...this.#ownersOf(type)].map(([{ traits }]) => traits);
    const listeners = owners.find(({ kind }) => kind === "lds");
    if (listeners !== undefined && this.#isForListeners(type)) return waitFor(listeners);
    return this.#clusterWaitOf(type) ?? waitFor(owners[0]);
  }

  /** The wait for what a Cluster in use is about to take, whether or not the client ACKed the Cluster. */
  #clusterWaitOf({ traits: { type, kind }, untoldAbsences }: TypeStream): Wait | undefined {
    if (kind !== "eds" && kind !== "sds") return undefined;
    const name = this.#parts.warmingClusters.awaiting(type, untoldAbsences);
    return name === undefined ? undefined : { for: kind === "eds" ? "endpoints" : "secret", name };
  }

  /** The wait timed out: up to this revision absences are told. */
  overrule(to: number): void {
    this.#overruledTo = Math.max(this.#overruledTo, to);
  }

  /** The names that replacements of what is in use refer to. */
  #unmetNames(type: TypeStream): ReadonlySet<string> {
    const { warmingClusters } = this.#parts;
    const { type: url } = type.traits;
    return new Set([
      ...warmingClusters.awaited(url),
      ...this.#referredByHeldBack(url),
      ...this.#awaitedByListeners(type),
    ]);
  }

  /** The names that Clusters refer to which are held back. */
  *#referredByHeldBack(type: TypeUrl): Iterable<string> {
    for (const [{ traits, sentState }, { current }] of this.#parts.members.clusters) {
      for (const name of sentState.heldBack.resources.keys()) {
        const cluster = current.view.holder(traits.type, name);
        if (cluster !== undefined) yield* referredNames(cluster, type);
      }
    }
  }

  #awaitedByListeners({ traits: { type, kind } }: TypeStream): Iterable<string> {
    return kind === "sds" ? this.#parts.unready.awaitedByReplacements(type) : [];
  }

  /** Whether an absence is not told yet because Listeners wait for the resource. */
  #isForListeners(type: TypeStream): boolean {
    for (const name of this.#awaitedByListeners(type)) if (type.untoldAbsences.has(name)) return true;
    return false;
  }

  /** Whether the client reconnected, and any Cluster that refers to resources of this type may have warmed before. */
  #mayHaveWarmed(type: TypeStream): boolean {
    const { clusterSource, client } = this.#parts;
    if (!typeKindTable[type.traits.kind].usedBy.includes("cds")) return false;
    // Each per-type stream reconnects in its own time.
    return (client.isReturning && !clusterSource.isAggregated) || this.#awaitsOwnersOf(type);
  }

  /** Whether any Cluster may warm that refers to resources of this type, because the client may have any state of it. */
  #mayAnyWarm(type: TypeStream): boolean {
    const { members } = this.#parts;
    if (!typeKindTable[type.traits.kind].usedBy.includes("cds")) return false;
    for (const [clusters, stream] of members.clusters)
      if (isUnderWay(clusters, stream) || hasUnsent(clusters, stream)) return true;
    return false;
  }

  /** The revision up to which the client has what refers to resources of this type; undefined: it is of no single one. */
  #ownersHadTo(type: TypeStream): number | undefined {
    if (this.#awaitsOwnersOf(type)) return undefined;
    let to = Number.POSITIVE_INFINITY;
    for (const [owner, stream] of this.#ownersOf(type)) {
      if (isUnderWay(owner, stream) || !owner.pendingRemovals.isEmpty) return undefined;
      to = Math.min(to, sentTo(owner, stream.current));
    }
    return to;
  }

  /** Whether a reconnected client may hold Clusters that refer to resources of this type, and has yet to subscribe to them. */
  #awaitsOwnersOf({ traits: { kind } }: TypeStream): boolean {
    const { clusterSource, client } = this.#parts;
    if (!typeKindTable[kind].usedBy.includes("cds") || client.awaitsClusters !== "came-back") return false;
    // On an aggregated stream Envoy subscribes to Clusters only once none warms.
    return client.isReturning || clusterSource.isAggregated;
  }

  /** The types in the order that refer to resources of this type. */
  *#ownersOf({ traits: { kind } }: TypeStream): Iterable<readonly [TypeStream, OrderedStream]> {
    const { usedBy } = typeKindTable[kind];
    const { members } = this.#parts;
    for (const owners of [members.clusters, members.users])
      for (const member of owners) if (usedBy.includes(member[0].traits.kind)) yield member;
  }
}

function waitFor(owner: TypeTraits | undefined): Wait | undefined {
  return owner && { for: "users", type: owner.type, isNacked: false };
}

/** On an aggregated stream what was sent comes before what is sent now; elsewhere it has to be ACKed. */
function isUnderWay({ deliveries }: TypeStream, { isAggregated }: OrderedStream): boolean {
  return !isAggregated && deliveries.answeredTo !== Number.POSITIVE_INFINITY;
}

/** Whether anything is to be sent that is not held back. */
function hasUnsent(clusters: TypeStream, { current: { view } }: OrderedStream): boolean {
  if (!clusters.hasNews(view)) return false;
  const { position, traits, sentState } = clusters;
  const { heldBack, sentOutOfOrder, pendingNames } = sentState;
  const isOnlyHeldBack = pendingNames.size === 0 && sentOutOfOrder.size === heldBack.resources.size;
  return position === undefined || !isOnlyHeldBack || !isStill(position, view, traits.type);
}
