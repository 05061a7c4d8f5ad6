import type { Reference, Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderedStream } from "./order-members.ts";

/** A new Cluster that the client cannot use yet. */
interface Newcomer {
  readonly endpoints: Reference | undefined;
  /** What it waits for beside endpoints: without them it never warms. */
  readonly others: readonly Reference[];
  readonly delivery: Delivery;
  /** How much had been sent when the client accepted the Cluster; undefined: it did not yet. */
  acceptedAt: number | undefined;
  /** The client accepted its endpoints. */
  isGiven: boolean;
}

/** Clusters that one client was sent, was without before, and cannot use yet. */
export class WarmingClusters {
  readonly #newcomers = new Map<string, Newcomer>();
  /** Clusters for a client of which nobody knows what it holds: any may be new to it. */
  #unknown: Delivery | undefined;
  #owed = new Map<TypeUrl, Set<string>>();

  get isEmpty(): boolean {
    return this.#newcomers.size === 0;
  }

  /** Any Cluster may be one. */
  get mayBeAny(): boolean {
    return this.#unknown !== undefined;
  }

  has(name: string): boolean {
    return this.#newcomers.has(name);
  }

  /** Clusters were sent, some of which the client had nothing of. */
  bring({ traits }: TypeStream, delivery: Delivery, isNew: (name: string) => boolean): void {
    for (const { puts } of delivery.body.segments) {
      for (const { name, references } of puts) {
        if (!isNew(name)) continue;
        const owed = references.find((reference) => traits.owes.includes(reference.type));
        const others = references.filter((reference) => reference !== owed);
        this.#newcomers.set(name, { endpoints: owed, others, delivery, acceptedAt: undefined, isGiven: false });
      }
    }
  }

  /** Clusters were sent: those that are gone with it are not waited for. */
  forgetGone({ body: { variant, segments } }: Delivery): void {
    if (this.#newcomers.size === 0) return;
    if (variant === "delta") {
      for (const { removed } of segments) for (const name of removed) this.#newcomers.delete(name);
      return;
    }
    const listed = new Set(segments.flatMap(({ puts }) => puts.map(({ name }) => name)));
    for (const name of this.#newcomers.keys()) if (!listed.has(name)) this.#newcomers.delete(name);
  }

  /** Clusters were sent to a client of which nobody knows what it holds. */
  bringUnknown(delivery: Delivery): void {
    this.#unknown = delivery;
  }

  /**
   * A response was accepted when so much had been sent. Clusters with it are in use where the ACK means that nothing warms,
   * which on a stream of their own it does not: there the endpoints that came after them have to be accepted
   * (client-behaviours A16, B12).
   */
  accept({ traits }: TypeStream, stream: OrderedStream, delivery: Delivery, sent: number): void {
    if (delivery === this.#unknown) this.#unknown = undefined;
    if (this.#newcomers.size === 0) return;
    if (traits.kind === "cds") this.#acceptClusters(stream, delivery, sent);
    else if (traits.kind === "eds") this.#acceptEndpoints(traits, stream, delivery);
  }

  /** Endpoints that are owed once more, by type, since this was last asked: new Clusters came after them. */
  takeOwed(): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
    const owed = this.#owed;
    if (owed.size > 0) this.#owed = new Map();
    return owed;
  }

  /** Whose endpoints were accepted is in use, whether or not the client accepts the Cluster itself. */
  countGiven(): void {
    this.#unknown = undefined;
    for (const [name, { isGiven }] of this.#newcomers) if (isGiven) this.#newcomers.delete(name);
  }

  /** Nobody waits any longer for these, nor for what is not known. */
  giveUp(names: Iterable<string>): void {
    this.#unknown = undefined;
    for (const name of names) this.#newcomers.delete(name);
  }

  /** The client does not ask for Clusters any more. */
  clear(): void {
    this.#newcomers.clear();
    this.#unknown = undefined;
  }

  #acceptClusters({ isAggregated }: OrderedStream, { at, body }: Delivery, sent: number): void {
    // In delta each response brings what is in it, and another one may have been refused; a full state brings everything.
    const brought =
      body.variant === "delta" ? new Set(body.segments.flatMap(({ puts }) => puts.map(({ name }) => name))) : undefined;
    for (const [name, newcomer] of this.#newcomers) {
      const { endpoints, delivery } = newcomer;
      if (delivery.at > at || newcomer.acceptedAt !== undefined || brought?.has(name) === false) continue;
      if (isAggregated || endpoints === undefined) this.#newcomers.delete(name);
      else {
        // What came before it on a stream of its own the client may have had no use for.
        newcomer.acceptedAt = sent;
        this.#owed.set(endpoints.type, (this.#owed.get(endpoints.type) ?? new Set()).add(endpoints.name));
      }
    }
  }

  #acceptEndpoints(traits: TypeTraits, { isAggregated, view }: OrderedStream, { at, body }: Delivery): void {
    const given = body.segments.flatMap(({ puts }) => puts.filter((put) => !isPlaceholder(put, traits)));
    const told = new Set(given.map((put) => put.name));
    for (const [name, newcomer] of this.#newcomers) {
      const { endpoints, others, delivery, acceptedAt } = newcomer;
      if (endpoints === undefined || !told.has(endpoints.name)) continue;
      if (isAggregated) newcomer.isGiven ||= delivery.at < at && others.every((one) => isThere(one, view));
      else if (acceptedAt !== undefined && acceptedAt < at) this.#newcomers.delete(name);
    }
  }
}

function isThere({ type, name }: Reference, view: View): boolean {
  return view.find(type, name) !== undefined;
}

/** Whether a resource says that there is none. */
function isPlaceholder({ name, bytes }: Resource, { placeholder }: TypeTraits): boolean {
  const none = placeholder?.(name);
  return none?.length === bytes.length && none.every((byte, i) => byte === bytes[i]);
}
