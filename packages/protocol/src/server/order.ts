import { type Reference, type Resource, referredNames } from "../resource/resource.ts";
import { type TypeTraits, usesClusters } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { View } from "../state/view.ts";
import type { Delivery } from "./delivery.ts";
import type { Removable } from "./held-over.ts";
import { type Present, type Upcoming, unknownUses } from "./present.ts";
import type { TypeStream } from "./type-stream.ts";
import type { Wait } from "./wait.ts";

/** A stream, as far as the order of things on it and its siblings goes. */
export interface OrderedStream {
  readonly view: View;
  readonly isAggregated: boolean;
}

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

/** A user that the client cannot use before it has what the user names. */
interface UnreadyUser {
  readonly names: readonly Reference[];
  readonly user: TypeStream;
  readonly delivery: Delivery;
  /** What the client goes on using is of this revision. */
  readonly from: number;
}

/** What a type has to wait for. */
export interface Waits {
  readonly first: Wait;
  /** The resources that wait; of a type that cannot hold back single ones, the first of them. */
  readonly names: ReadonlySet<string>;
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
  readonly #clusters = new Map<TypeStream, OrderedStream>();
  readonly #users = new Map<TypeStream, OrderedStream>();
  readonly #endpoints = new Map<TypeStream, OrderedStream>();
  readonly #secrets = new Set<TypeStream>();
  readonly #newcomers = new Map<string, Newcomer>();
  /** Waits that took too long: nothing that uses Clusters is waited for up to here, unless it was refused. */
  #overruledTo = -1;
  /** Users that waited long enough, until they have spoken. */
  readonly #overruled = new Set<TypeStream>();
  /** Users that were sent, by type and name, of which the client goes on using what was before until it has what they name. */
  readonly #unready = new Map<string, UnreadyUser>();
  readonly #mayUseClusters: (type: TypeUrl) => boolean;
  readonly #isCluster: (type: TypeUrl) => boolean;
  readonly #hasClustersElsewhere: () => boolean;
  #owed = new Map<TypeUrl, Set<string>>();
  #sent = 0;
  /** The client came back, and may not have asked yet for all that it uses. */
  #isReturning = false;
  /** The client came back, and is going to ask for Clusters. */
  #awaitsClusters = false;
  /** Clusters for a client of which nobody knows what it holds: any may be new to it. */
  #unknown: Delivery | undefined;

  constructor({ mayUseClusters, isCluster, hasClustersElsewhere }: OrderOptions) {
    this.#mayUseClusters = mayUseClusters;
    this.#isCluster = isCluster;
    this.#hasClustersElsewhere = hasClustersElsewhere;
  }

  /** A type was asked for on one of the streams. */
  join(type: TypeStream, stream: OrderedStream): void {
    if (type.traits.kind === "cds") this.#clusters.set(type, stream);
    else if (type.traits.kind === "eds") this.#endpoints.set(type, stream);
    else if (type.traits.kind === "sds") this.#secrets.add(type);
    else if (usesClusters(type.traits.kind)) this.#users.set(type, stream);
  }

  /** The stream of that type is closed. */
  leave(type: TypeStream): void {
    this.#clusters.delete(type);
    this.#endpoints.delete(type);
    this.#secrets.delete(type);
    this.#users.delete(type);
    for (const [key, { user }] of this.#unready) if (user === type) this.#unready.delete(key);
    this.#overruled.delete(type);
    if (this.#clusters.size > 0) return;
    this.#newcomers.clear();
    this.#unknown = undefined;
  }

  /** A client came back with versions of a type. `asksForAll`: it is one that asks for every Cluster. */
  returns(asksForAll: boolean): void {
    this.#isReturning = true;
    this.#awaitsClusters ||= asksForAll;
  }

  /**
   * A client asked for something that only a Listener or a Cluster can have told it of, and for neither of them: it came back,
   * or got them elsewhere.
   */
  meetsUnannounced(asksForAll: boolean): void {
    const isAnnounced = this.#clusters.size > 0 || [...this.#users.keys()].some(({ traits }) => traits.kind === "lds");
    this.#awaitsClusters ||= asksForAll && !isAnnounced;
  }

  /** It was given time to ask for what it uses. */
  get isReturning(): boolean {
    return this.#isReturning;
  }

  /** It has asked for what it uses. */
  endReturn(): void {
    this.#isReturning = false;
  }

  /** What was sent when the client came back counts as if something had been sent before. */
  get isTakenUp(): boolean {
    if (!this.#isReturning) return false;
    for (const { position, heldOver } of this.#clusters.keys())
      if (position !== undefined && heldOver.isEmpty) return false;
    return true;
  }

  /** Clusters were asked for. */
  get hasClusters(): boolean {
    return this.#clusters.size > 0;
  }

  /** Something was asked for that may use Clusters. */
  get hasUsers(): boolean {
    return this.#users.size > 0;
  }

  /** Counts what is sent on all the streams. */
  count(): number {
    return ++this.#sent;
  }

  /** Clusters were sent that the client had nothing of, while it may have had users of others. */
  brought(clusters: TypeStream, delivery: Delivery, isNew: (name: string) => boolean): void {
    for (const { puts } of delivery.body.segments) {
      for (const { name, references } of puts) {
        if (!isNew(name)) continue;
        const owed = references.find((reference) => clusters.traits.owes.includes(reference.type));
        const others = references.filter((reference) => reference !== owed);
        this.#newcomers.set(name, { endpoints: owed, others, delivery, acceptedAt: undefined, isGiven: false });
      }
    }
  }

  /** Clusters were sent to a client of which nobody knows what it holds. */
  broughtUnknown(delivery: Delivery): void {
    this.#unknown = delivery;
  }

  /** A user was sent. What it names in turn, routes of a Listener for one, may use Clusters too. */
  used(user: TypeStream, delivery: Delivery): void {
    if (this.#clusters.size === 0) return;
    const { type, variant, segments } = delivery.body;
    const follow = (key: string, names: readonly Reference[]): void => {
      // Until this is accepted, the client goes on with what was before the one that it replaces.
      const before = this.#unready.get(key);
      if (names.length === 0 && before === undefined) return;
      this.#unready.set(key, { names, user, delivery, from: before?.from ?? delivery.from ?? -1 });
    };
    const listed = new Set<string>();
    for (const { puts, removed } of segments) {
      for (const name of removed) follow(`${type} ${name}`, []);
      for (const { name, references } of puts) {
        listed.add(`${type} ${name}`);
        follow(
          `${type} ${name}`,
          references.filter((one) => this.#mayUseClusters(one.type)),
        );
      }
    }
    if (variant === "delta" || !user.traits.isFullState) return;
    for (const key of this.#unready.keys()) if (key.startsWith(`${type} `) && !listed.has(key)) follow(key, []);
  }

  /**
   * A response was accepted. Clusters with it are in use where the ACK means that nothing warms, which on a stream of their
   * own it does not: there the endpoints that came after them have to be accepted (client-behaviours A16, B12).
   */
  accepted(type: TypeStream, stream: OrderedStream, delivery: Delivery): void {
    if (delivery === this.#unknown) this.#unknown = undefined;
    if (this.#newcomers.size === 0) return;
    if (type.traits.kind === "cds") this.#acceptClusters(stream, delivery);
    else if (type.traits.kind === "eds") this.#acceptEndpoints(type, stream, delivery);
  }

  /** Endpoints that are owed once more, by type, since this was last asked: new Clusters came after them. */
  takeOwed(): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
    const owed = this.#owed;
    if (owed.size > 0) this.#owed = new Map();
    return owed;
  }

  #acceptClusters({ isAggregated }: OrderedStream, { at, body }: Delivery): void {
    // In delta each response brings what is in it, and another one may have been refused; a full state brings everything.
    const brought =
      body.variant === "delta" ? new Set(body.segments.flatMap(({ puts }) => puts.map(nameOf))) : undefined;
    for (const [name, newcomer] of this.#newcomers) {
      const { endpoints, delivery } = newcomer;
      if (delivery.at > at || newcomer.acceptedAt !== undefined || brought?.has(name) === false) continue;
      if (isAggregated || endpoints === undefined) this.#newcomers.delete(name);
      else {
        // What came before it on a stream of its own the client may have had no use for.
        newcomer.acceptedAt = this.#sent;
        this.#owed.set(endpoints.type, (this.#owed.get(endpoints.type) ?? new Set()).add(endpoints.name));
      }
    }
  }

  #acceptEndpoints({ traits }: TypeStream, { isAggregated, view }: OrderedStream, { at, body }: Delivery): void {
    const given = body.segments.flatMap(({ puts }) => puts.filter((put) => !isPlaceholder(put, traits)));
    const told = new Set(given.map((put) => put.name));
    for (const [name, newcomer] of this.#newcomers) {
      const { endpoints, others, delivery, acceptedAt } = newcomer;
      if (endpoints === undefined || !told.has(endpoints.name)) continue;
      if (isAggregated) newcomer.isGiven ||= delivery.at < at && others.every((one) => isThere(one, view));
      else if (acceptedAt !== undefined && acceptedAt < at) this.#newcomers.delete(name);
    }
  }

  /**
   * What a type that uses Clusters has to wait for before it says all of it; undefined: nothing. Asked once in a turn: a type
   * that waited long enough is let through once.
   */
  waitsOf(user: TypeStream, view: View, present: Present): Waits | undefined {
    if (this.#clusters.size === 0 && (!this.#awaitsClusters || this.#hasClustersElsewhere())) return undefined;
    if (!this.#users.has(user) || !user.hasNews(view)) return undefined;
    if (this.#overruled.delete(user)) return undefined;
    const waitOf = this.#clusters.size === 0 ? this.#unaskedGate(view) : this.#gate(user, view, present);
    if (waitOf === undefined) return undefined;
    let first: Wait | undefined;
    const names = new Set<string>();
    for (const upcoming of user.upcoming(view, present)) {
      const wait = waitOf(upcoming);
      if (wait === undefined) continue;
      first ??= wait;
      names.add(upcoming.resource.name);
      if (!user.canHoldBack) break;
    }
    return first === undefined ? undefined : { first, names };
  }

  /** What each upcoming resource waits for; undefined if none can wait for anything. */
  #gate(user: TypeStream, view: View, present: Present): ((upcoming: Upcoming) => Wait | undefined) | undefined {
    const clusters = [...this.#clusters.keys()];
    const isKnown = this.#newcomers.size === 0 && this.#unknown === undefined && !this.#mayWarm;
    // Where the client has every Cluster, only what is used from now on has to be looked at.
    const hasAll = isKnown && !clusters.some((type) => type.hasNews(view));
    if (hasAll && user.position === undefined && this.#unready.size === 0) return undefined;
    const gates = clusters.map((type) => this.#gateOf(type, view, present));
    return ({ resource, replaces }) => {
      const before = replaces ?? (this.#isAwaited(resource) ? unknownUses : undefined);
      if (hasAll && before === undefined) return undefined;
      for (const { type, waitFor } of gates) {
        const anew = before && present.newUses(resource, before, type);
        for (const name of (hasAll ? anew : undefined) ?? referredNames(resource, type)) {
          const wait = waitFor(name, anew);
          if (wait !== undefined) return { for: wait, name };
        }
      }
      return undefined;
    };
  }

  /** A client that came back may hold less than it reports: it does not ask for Clusters before none warms. */
  #unaskedGate(view: View): (upcoming: Upcoming) => Wait | undefined {
    return ({ resource }) => {
      for (const { type, name } of resource.references) {
        if (this.#isCluster(type) && view.holder(type, name) !== undefined) return { for: "cluster", name };
      }
      return undefined;
    };
  }

  /** What the removal of a Cluster that is gone since a revision waits for. */
  removalWaitOf(since: number, present: Present): Wait | undefined {
    if (this.#isReturning) return { for: "return" };
    for (const [user, { view }] of this.#users) {
      if (this.#settledTo(user, view, present) >= since) continue;
      return { for: "users", type: user.traits.type, isRefused: user.deliveries.refusedFrom < since };
    }
    if (this.#readyTo(present) >= since) return undefined;
    const [unready] = this.#unready.values();
    if (unready === undefined) return undefined;
    return { for: "users", type: unready.names[0]?.type ?? unready.user.traits.type, isRefused: false };
  }

  /** Which Clusters that are gone may be removed. */
  removable(present: Present): Removable {
    let to = this.#isReturning ? -1 : present.revision;
    if (this.#users.size === 0) return { to, namedTo: to, goesAtOnce: undefined };
    for (const [user, { view }] of this.#users) to = Math.min(to, this.#settledTo(user, view, present));
    to = Math.min(to, Math.max(this.#overruledTo, this.#readyTo(present)));
    return {
      to,
      namedTo: Math.min(to, this.#overruledTo),
      goesAtOnce: this.#newcomers.size === 0 ? undefined : (name) => this.#newcomers.has(name),
    };
  }

  /** A user waited long enough: what it waits for is not going to come. */
  overruleUser(user: TypeStream, view: View, present: Present): void {
    this.#overruled.add(user);
    this.#awaitsClusters = false;
    this.#unknown = undefined;
    for (const { resource } of user.upcoming(view, present)) {
      for (const { name } of resource.references) this.#newcomers.delete(name);
    }
  }

  /** A client that withholds the ACK of Clusters until nothing warms is not waited for where endpoints were accepted. */
  countGiven(): void {
    this.#unknown = undefined;
    for (const [name, { isGiven }] of this.#newcomers) if (isGiven) this.#newcomers.delete(name);
  }

  /** Removals waited long enough for clients that say nothing. */
  overruleRemovals(to: number): void {
    this.#overruledTo = Math.max(this.#overruledTo, to);
  }

  #gateOf(clusters: TypeStream, view: View, present: Present): Gate {
    const { position, subscription, heldOver, traits } = clusters;
    const { type, owes } = traits;
    const newcomers = position === undefined ? undefined : present.newcomers(position, view, type);
    const isUntold = (name: string): boolean =>
      newcomers === undefined || (newcomers.has(name) && !heldOver.names.has(name));
    const waitFor: Gate["waitFor"] = (name, anew) => {
      const found = view.holder(type, name);
      if (found === undefined || !subscription.covers(found)) return undefined;
      if (this.#newcomers.has(name) || this.#unknown !== undefined || isUntold(name)) return "cluster";
      // What sent its traffic there before goes on doing so.
      if (anew?.has(name) === false) return undefined;
      if (anew !== undefined && present.isVacant(found, view, owes)) return "endpoints";
      if (anew !== undefined && this.#lacksSecret(found, view)) return "secret";
      const asked = found.references.filter((reference) => owes.includes(reference.type));
      return asked.some((endpoints) => this.#isUngiven(endpoints, present)) ? "cluster" : undefined;
    };
    return { type, waitFor };
  }

  /** The client asked for a secret that a Cluster needs, and there is none: some clients go on without it, to no good. */
  #lacksSecret({ references }: Resource, view: View): boolean {
    for (const { traits, subscription } of this.#secrets) {
      const { type } = traits;
      for (const one of references) {
        if (one.type === type && subscription.names.has(one.name) && view.find(type, one.name) === undefined)
          return true;
      }
    }
    return false;
  }

  /** Endpoints that were asked for, and are not sent yet or, on a stream of their own, not accepted yet. */
  #isUngiven({ type, name }: Reference, present: Present): boolean {
    for (const [endpoints, { view, isAggregated }] of this.#endpoints) {
      const { traits, subscription, deliveries } = endpoints;
      if (traits.type !== type || !(subscription.isWildcard || subscription.names.has(name))) continue;
      if (!endpoints.isTold(name, view, present)) return true;
      if (!isAggregated && deliveries.mayBring([name])) return true;
      return false;
    }
    // Each stream of its own comes back in its own time.
    return this.#isSeparatelyReturning;
  }

  /** A client that came back may hold Clusters that it cannot use yet: of some it was not given the endpoints. */
  get #mayWarm(): boolean {
    if (!this.#isReturning) return false;
    if (this.#isSeparatelyReturning) return true;
    for (const [endpoints, { view }] of this.#endpoints) if (endpoints.hasNews(view)) return true;
    return false;
  }

  get #isSeparatelyReturning(): boolean {
    if (!this.#isReturning) return false;
    for (const { isAggregated } of this.#clusters.values()) if (!isAggregated) return true;
    return false;
  }

  /** Whether it takes the place of something, though nobody knows of what. */
  #isAwaited({ type, name }: Resource): boolean {
    for (const { names } of this.#unready.values()) {
      if (names.some((one) => one.type === type && one.name === name)) return true;
    }
    return false;
  }

  /** The revision before the oldest user that names what the client has not asked for, or has not accepted yet. */
  #readyTo(present: Present): number {
    let to = Number.POSITIVE_INFINITY;
    for (const [key, { names, user, delivery, from }] of this.#unready) {
      // Before the client has it, it has not given up what it asked for until now.
      const isHad = !user.deliveries.pending.includes(delivery);
      if (isHad && names.every((one) => this.#isSettled(one, present))) this.#unready.delete(key);
      else to = Math.min(to, from);
    }
    return to;
  }

  #isSettled({ type, name }: Reference, present: Present): boolean {
    for (const [user, { view }] of this.#users) {
      if (user.traits.type !== type || !(user.subscription.isWildcard || user.subscription.names.has(name))) continue;
      if (view.find(type, name) === undefined) return true;
      return this.#settledTo(user, view, present) === present.revision;
    }
    return false;
  }

  /** Everything of a user up to this revision is sent and accepted, or was waited for in vain. */
  #settledTo(user: TypeStream, view: View, present: Present): number {
    const { deliveries, position } = user;
    // What is asked for or lies in another view may be of any age; it is the order of changes that counts here.
    const behind = Math.min(position?.revision ?? -1, user.heldBackFrom, present.revision - 1);
    const told = user.hasNews(view) ? behind : present.revision;
    const answered = Math.max(this.#overruledTo, Math.min(told, deliveries.answeredTo));
    return Math.min(answered, deliveries.refusedFrom);
  }
}

function isThere({ type, name }: Reference, view: View): boolean {
  return view.find(type, name) !== undefined;
}

function nameOf({ name }: Resource): string {
  return name;
}

/** Whether a resource says that there is none. */
function isPlaceholder({ name, bytes }: Resource, { placeholder }: TypeTraits): boolean {
  const none = placeholder?.(name);
  return none?.length === bytes.length && none.every((byte, i) => byte === bytes[i]);
}

/** What stands between a client and the use of Clusters of one type. */
interface Gate {
  readonly type: TypeUrl;
  /** What has to come before a Cluster is used; `anew`: what was not used before, undefined where nothing was. */
  readonly waitFor: (
    name: string,
    anew: ReadonlySet<string> | undefined,
  ) => "cluster" | "endpoints" | "secret" | undefined;
}
