import { type Dialect, forKind, isWildcardType } from "../../dialect/dialect.ts";
import type { DeltaRequest, DiscoveryRequest } from "../../message/request.ts";
import type { Resource } from "../../resource/resource.ts";
import { canonicalName } from "../../resource/resource-name.ts";
import { type TypeKind, typeKindTable } from "../../resource/type-kinds.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Position } from "../../state/difference.ts";
import { isRetargeted } from "../../state/journal.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { CurrentView } from "../cache/current-view.ts";
import type { PendingRemovals } from "../cache/pending-removals.ts";
import { mayUseOwnType, type Uses } from "../cache/shared-selections.ts";
import type { StreamOpened } from "../contract/event.ts";
import type { HeldBackResource } from "../type/readonly-sent-state.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";
import type { Order } from "./order.ts";

/** What a client held of a type before it was sent something. */
export interface StateBeforeSend {
  readonly position: Position | undefined;
  readonly pendingRemovals: PendingRemovals;
  /** What was held back from it, by name. */
  readonly wasHeldBack: ReadonlyMap<string, HeldBackResource>;
}

/** Reports the requests and responses of one stream to its order. */
export class StreamOrder {
  readonly #order: Order;
  readonly #opened: Pick<StreamOpened, "variant" | "onlyType">;
  readonly #dialect: Dialect;

  constructor(order: Order, opened: Pick<StreamOpened, "variant" | "onlyType">, dialect: Dialect) {
    this.#order = order;
    this.#opened = opened;
    this.#dialect = dialect;
  }

  /** Whether clients of this kind subscribe to all Clusters, rather than by name. */
  get asksForAllClusters(): boolean {
    return isWildcardType(this.#dialect, "cds", this.#opened.variant);
  }

  /** Whether a kind takes part in make-before-break. */
  takesPart(kind: TypeKind): boolean {
    const { makeBeforeBreak } = this.#dialect;
    return forKind(makeBeforeBreak, "cds") && forKind(makeBeforeBreak, kind);
  }

  /**
   * Handles the first request of a type: a client that was connected before, here or elsewhere, may hold resources that
   * the order has to protect.
   */
  meet(request: DiscoveryRequest, { kind, type }: TypeTraits): void {
    if (!this.takesPart("cds")) return;
    const asksForAll = this.asksForAllClusters;
    if (kind === "eds") {
      if (request.kind === "delta") this.#meetEndpoints(request, type);
      // In State of the World, the versions of other types say so on an aggregated stream.
      else if (this.#opened.onlyType !== undefined) this.#order.meetsEndpoints(asksForAll, bringsVersions(request));
      return;
    }
    if (kind !== "cds" && !typeKindTable[kind].usesClusters) return;
    if (bringsVersions(request)) this.#order.returns(asksForAll);
    // In State of the World, a reconnecting client sends the version of every type that it ever held.
    else if (request.kind === "delta" && kind !== "lds") this.#order.meetsUnannounced(asksForAll);
  }

  #meetEndpoints(request: DeltaRequest, type: TypeUrl): void {
    this.#order.meetsEndpoints(this.asksForAllClusters, bringsVersions(request));
    // A stream of its own may list nothing although the client has endpoints (client-behaviours A16).
    if (this.#opened.onlyType !== undefined || !this.#order.isReturning) return;
    const { subscribe, initialVersions } = request;
    const lacking = new Set(subscribe.map(canonicalName));
    for (const [name] of initialVersions) lacking.delete(canonicalName(name));
    this.#order.lacksEndpoints(type, lacking);
  }

  /** Reports a response that was sent. Returns whether the client is unprotected, because what it holds is unknown. */
  sent(
    type: TypeStream,
    delivery: Delivery,
    answer: PendingResponse,
    before: StateBeforeSend,
    current: CurrentView,
  ): boolean {
    if (type.deferredRemovals?.areClusters !== true) {
      // A client that asks for scopes for the first time may have Listeners that it used before without them.
      const isChange = before.position !== undefined || this.#order.isTakenUp || type.traits.kind === "srds";
      if (isChange && typeKindTable[type.traits.kind].usesClusters)
        this.#order.used(type, delivery, newsOf(type, before, current));
      return false;
    }
    this.#order.sentClusters(type, delivery);
    if (this.#regroups(type.traits.type, before, current)) this.#order.regrouped(type, delivery);
    const newcomers = answer.newToClient ?? this.#newcomers(type, before.position, current);
    if (newcomers === "unknown") {
      // On a per-type stream the ACK of Clusters does not mean that they are in use, so waiting for it would not help.
      if (this.#opened.onlyType === undefined) this.#order.broughtUnknown(delivery);
      return true;
    }
    const changed = this.#changed(type, answer, before, current);
    if (newcomers === undefined || (newcomers.size === 0 && changed === undefined)) return false;
    const { names: pendingRemovals } = before.pendingRemovals;
    this.#order.brought(type, delivery, (put) => {
      if (!newcomers.has(put.name)) return changed?.(put) === true ? "changed" : undefined;
      return pendingRemovals.has(put.name) ? "changed" : "new";
    });
    return false;
  }

  /** Whether a response may have changed the members of an aggregate Cluster. */
  #regroups(type: TypeUrl, { position, wasHeldBack }: StateBeforeSend, current: CurrentView): boolean {
    if (position === undefined) return false;
    for (const { replaces } of wasHeldBack.values()) if (mayUseOwnType(replaces, type)) return true;
    return current.regroupedSince(position, type).size > 0;
  }

  /**
   * Which Clusters a client holds in another state than the one that is sent, so that new traffic has to wait for it:
   * all that changed, if it reconnected on an aggregated stream, and else those that got another EDS name. Undefined:
   * none.
   */
  #changed(
    { traits: { type }, sentState }: TypeStream,
    { newToClient, changedForClient }: PendingResponse,
    { position: from, wasHeldBack }: StateBeforeSend,
    current: CurrentView,
  ): ((put: Resource) => boolean) | undefined {
    const { resources: nowHeldBack } = sentState.heldBack;
    const before = ({ name }: Resource): Uses | undefined => (wasHeldBack.get(name) ?? nowHeldBack.get(name))?.replaces;
    const isReturn = newToClient !== undefined || this.#order.isReturning;
    if (!isReturn) {
      const retargeted = from && current.retargetedSince(from, type);
      if (wasHeldBack.size === 0 && (retargeted === undefined || retargeted.size === 0)) return undefined;
      return (put) => {
        const uses = before(put);
        return uses === undefined ? retargeted?.has(put.name) === true : isRetargeted(uses, put);
      };
    }
    const changed = changedForClient ?? (from && current.namesSince(from, type));
    return (put) => changed?.has(put.name) !== false || isRetargeted(before(put), put);
  }

  #newcomers(type: TypeStream, from: Position | undefined, current: CurrentView): ReadonlySet<string> | undefined {
    const isOfUse = from !== undefined && (this.#order.hasUsers || this.#order.isReturning);
    return isOfUse ? current.newNamesSince(from, type.traits.type) : undefined;
  }
}

/** Which names of a type the client had nothing of before. */
function newsOf(
  { traits }: TypeStream,
  { position }: StateBeforeSend,
  current: CurrentView,
): (name: string) => boolean {
  let names: ReadonlySet<string> | undefined;
  return (name) => {
    names ??= position === undefined ? none : current.newNamesSince(position, traits.type);
    return names.has(name);
  };
}

const none: ReadonlySet<string> = new Set();

function bringsVersions(request: DiscoveryRequest): boolean {
  return request.kind === "delta" ? request.initialVersions.size > 0 : request.versionInfo !== undefined;
}
