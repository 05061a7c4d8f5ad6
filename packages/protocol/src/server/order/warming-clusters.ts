import type { Segment } from "../../message/body.ts";
import type { Reference, Resource } from "../../resource/resource.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { Delivery } from "../ack/delivery.ts";
import { LazyMap, LazySet } from "../memory/lazy.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { ClusterNeeds } from "./cluster-needs.ts";
import type { OrderedStream } from "./order-members.ts";

/** How many missing endpoints of one client are remembered; beyond that they are not waited for. */
const MOST_NAMES = 10_000;

/**
 * What a Cluster is to the client that is sent it: `new`, it held none of that name; `changed`, it reconnected with another
 * state, which may be without endpoints: on an aggregated stream Envoy subscribes to Clusters only once nothing warms, and
 * what warmed in vain has none (docs/decisions/0130); undefined: it can go on using it.
 */
export type NewsOf = (put: Resource) => "new" | "changed" | undefined;

/** A Cluster that the client cannot use yet, or not any more. */
interface Newcomer {
  readonly news: "new" | "changed";
  readonly cluster: Resource;
  /** Whether the client goes on warming it when it has all that it refers to. */
  readonly warmsOn: TypeTraits["warmsOn"];
  readonly endpoints: Reference | undefined;
  /** What it needs beside endpoints: without it the Cluster never warms. */
  readonly others: readonly Reference[];
  readonly delivery: Delivery;
  /** The number of the newest answer when the client ACKed the Cluster; undefined: not yet. */
  acceptedAt: number | undefined;
  /** Whether the client ACKed its endpoints, or it needs none. On a stream of their own, also the Cluster before that. */
  isGiven: boolean;
}

/** Clusters that one client was sent, and cannot use before it has their endpoints. */
export class WarmingClusters {
  readonly #newcomers = new LazyMap<string, Newcomer>();
  /** New Clusters that were ACKed without endpoints, as there were none: nothing at the client uses them. */
  readonly #vacant = new LazySet<string>();
  /**
   * Endpoints that a reconnected client did not list, by type: its Clusters that reference them are without hosts, and
   * stay so until there are some.
   */
  readonly #lacking = new LazyMap<TypeUrl, Set<string>>();
  /** A response with Clusters to a client that holds an unknown set of them: each may be new. */
  #unknown: Delivery | undefined;
  #owed = new Map<TypeUrl, Set<string>>();
  readonly #needs: Pick<ClusterNeeds, "areLacking">;

  constructor(needs: Pick<ClusterNeeds, "areLacking">) {
    this.#needs = needs;
  }

  get isEmpty(): boolean {
    return this.#newcomers.size + this.#vacant.size + this.#lacking.size === 0;
  }

  /** Whether any Cluster may be warming. */
  get mayBeAny(): boolean {
    return this.#unknown !== undefined;
  }

  has(name: string): boolean {
    return this.#newcomers.has(name);
  }

  /** Whether nothing at the client can be using a Cluster yet. */
  isNew(name: string): boolean {
    return this.#newcomers.get(name)?.news === "new";
  }

  /** Whether a Cluster was new to the client, and was ACKed without endpoints, or came back without those that it needs. */
  isVacant({ name, references }: Resource): boolean {
    if (this.#vacant.has(name)) return true;
    return this.#lacking.size > 0 && references.some((one) => this.#lacking.get(one.type)?.has(one.name) === true);
  }

  /** The names of a type that the other states of Clusters that may be in use refer to: until the client has them, those warm. */
  *awaited(of: TypeUrl): Iterable<string> {
    for (const { news, cluster } of this.#newcomers.values())
      if (news === "changed") for (const { type, name } of cluster.references) if (type === of) yield name;
  }

  /** The name of a Cluster that may be in use and whose other state refers to one of these names of a type. */
  awaiting(of: TypeUrl, names: Pick<ReadonlySet<string>, "has">): string | undefined {
    for (const { news, cluster } of this.#newcomers.values())
      if (news === "changed" && cluster.references.some(({ type, name }) => type === of && names.has(name)))
        return cluster.name;
    return undefined;
  }

  /** A reconnected client did not list these endpoints. */
  lack(type: TypeUrl, names: ReadonlySet<string>): void {
    if (names.size > 0) this.#lacking.set(type, new Set([...names].slice(0, MOST_NAMES)));
  }

  /** Forgets what the client lacked and is there by now. */
  forgetThere(view: View): void {
    for (const [type, names] of this.#lacking) {
      for (const name of names) if (isThere({ type, name }, view)) names.delete(name);
      if (names.size === 0) this.#lacking.delete(type);
    }
  }

  /** Clusters were sent. */
  bring({ traits }: TypeStream, delivery: Delivery, newsOf: NewsOf): void {
    for (const { puts } of delivery.body.segments) {
      for (const put of puts) {
        const news = newsOf(put);
        this.#vacant.delete(put.name);
        if (news === undefined) continue;
        const isNew = news === "new" || this.isNew(put.name);
        this.#newcomers.set(put.name, newcomerOf(put, isNew ? "new" : news, traits, delivery));
      }
    }
  }

  /**
   * Clusters were sent: those that the response deletes are not waited for, and a Cluster that warms with another EDS
   * name begins anew.
   */
  follow({ traits }: TypeStream, delivery: Delivery): void {
    if (this.isEmpty) return;
    const { variant, segments } = delivery.body;
    for (const { puts } of segments) {
      for (const put of puts) {
        const before = this.#newcomers.get(put.name);
        if (before === undefined || before.endpoints?.name === endpointsOf(put, traits)?.name) continue;
        this.#newcomers.set(put.name, newcomerOf(put, before.news, traits, delivery));
      }
    }
    if (variant === "delta") {
      for (const { removed } of segments) this.#forget(removed);
      return;
    }
    const listed = new Set(segments.flatMap(({ puts }) => puts.map(({ name }) => name)));
    this.#forget([...this.#newcomers.keys(), ...this.#vacant].filter((name) => !listed.has(name)));
  }

  /** Clusters were sent to a client that holds an unknown set of them. */
  bringUnknown(delivery: Delivery): void {
    this.#unknown = delivery;
  }

  /**
   * A response was ACKed; `sent` is the number of the newest answer. On an aggregated stream the ACK of Clusters means
   * that nothing warms, so they are in use. On a per-type stream it does not: there, endpoints that were sent after it
   * have to be ACKed (client-behaviours A16, B12), and what else they need, which Envoy requests after that.
   */
  accept({ traits }: TypeStream, stream: OrderedStream, delivery: Delivery, sent: number): void {
    if (delivery === this.#unknown) this.#unknown = undefined;
    if (this.#newcomers.size === 0) return;
    if (traits.kind === "cds") this.#acceptClusters(stream, delivery, sent);
    else if (traits.kind === "eds") this.#acceptEndpoints(traits, stream, delivery);
    if (!stream.isAggregated) this.#forgetReady(traits, delivery, stream.current.view);
  }

  /**
   * Takes the endpoints to resend, by type, since the last call: those of new Clusters that were ACKed on a stream of
   * their own.
   */
  takeOwed(): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
    const owed = this.#owed;
    if (owed.size > 0) this.#owed = new Map();
    return owed;
  }

  /**
   * Counts Clusters whose endpoints were ACKed as in use, with or without their own ACK, unless only that tells when they
   * are.
   */
  countGiven(): void {
    this.#unknown = undefined;
    for (const [name, { isGiven, cluster, warmsOn }] of this.#newcomers)
      if (isGiven && warmsOn?.(cluster.bytes) !== true) this.#newcomers.delete(name);
  }

  /** Stops waiting for these Clusters, and for unknown ones. */
  giveUp(names: Iterable<string>): void {
    this.#unknown = undefined;
    this.#forget(names);
  }

  /** The client does not subscribe to Clusters any more. */
  clear(): void {
    this.#newcomers.clear();
    this.#vacant.clear();
    this.#lacking.clear();
    this.#unknown = undefined;
  }

  #forget(names: Iterable<string>): void {
    for (const name of names) {
      this.#newcomers.delete(name);
      this.#vacant.delete(name);
    }
  }

  #acceptClusters({ isAggregated, current }: OrderedStream, { at, body }: Delivery, sent: number): void {
    // A delta response brings only what is in it, and another one may have been NACKed; a full state brings everything.
    const brought =
      body.variant === "delta" ? new Set(body.segments.flatMap(({ puts }) => puts.map(({ name }) => name))) : undefined;
    for (const [name, newcomer] of this.#newcomers) {
      const { news, endpoints, delivery } = newcomer;
      if (delivery.at > at || newcomer.acceptedAt !== undefined || brought?.has(name) === false) continue;
      if (isAggregated) {
        this.#newcomers.delete(name);
        const isVacant = endpoints !== undefined && !isThere(endpoints, current.view);
        if (news === "new" && isVacant) this.#vacant.add(name);
        continue;
      }
      newcomer.acceptedAt = sent;
      newcomer.isGiven = endpoints === undefined;
      if (endpoints !== undefined) {
        // Endpoints that came earlier on their own stream may have been dropped by the client, so they are resent.
        this.#owed.set(endpoints.type, (this.#owed.get(endpoints.type) ?? new Set()).add(endpoints.name));
      }
    }
  }

  #acceptEndpoints(traits: TypeTraits, { isAggregated, current }: OrderedStream, { at, body }: Delivery): void {
    const given = body.segments.flatMap(({ puts }) => puts.filter((put) => !isPlaceholder(put, traits)));
    const sent = new Set(given.map((put) => put.name));
    for (const newcomer of this.#newcomers.values()) {
      const { endpoints, others, delivery, acceptedAt } = newcomer;
      if (endpoints === undefined || !sent.has(endpoints.name)) continue;
      if (isAggregated) newcomer.isGiven ||= delivery.at < at && others.every((one) => isThere(one, current.view));
      else newcomer.isGiven ||= acceptedAt !== undefined && acceptedAt < at;
    }
  }

  /** Forgets Clusters that were ACKed on a stream of their own, with all that they need: the last of it by this response. */
  #forgetReady({ type, kind }: TypeTraits, { body }: Delivery, view: View): void {
    const told = new Set(body.segments.flatMap(namesIn));
    for (const [name, { acceptedAt, isGiven, endpoints, others, news }] of this.#newcomers) {
      if (acceptedAt === undefined || !isGiven) continue;
      const isTold = (one: Reference | undefined): boolean => one?.type === type && told.has(one.name);
      if (kind !== "cds" && !isTold(endpoints) && !others.some(isTold)) continue;
      if (!this.#needs.areLacking(others, view, news === "changed")) this.#newcomers.delete(name);
    }
  }
}

function newcomerOf(cluster: Resource, news: Newcomer["news"], traits: TypeTraits, delivery: Delivery): Newcomer {
  const endpoints = endpointsOf(cluster, traits);
  const others = cluster.references.filter((reference) => reference !== endpoints);
  const { warmsOn } = traits;
  return { news, cluster, warmsOn, endpoints, others, delivery, acceptedAt: undefined, isGiven: false };
}

function endpointsOf({ references }: Resource, { owes }: TypeTraits): Reference | undefined {
  return references.find(({ type }) => owes.includes(type));
}

function namesIn({ puts, removed, missing }: Segment): readonly string[] {
  return [...puts.map(({ name }) => name), ...removed, ...missing];
}

function isThere({ type, name }: Reference, view: View): boolean {
  return view.find(type, name) !== undefined;
}

/** Whether a resource is the placeholder of its name. */
function isPlaceholder({ name, bytes }: Resource, { placeholder }: TypeTraits): boolean {
  const none = placeholder?.(name);
  return none?.length === bytes.length && none.every((byte, i) => byte === bytes[i]);
}
