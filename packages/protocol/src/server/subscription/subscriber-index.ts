import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import type { ChangedNames } from "./changed-names.ts";
import type { NameSets } from "./name-set.ts";
import type { Names } from "./names.ts";
import type { Subscription } from "./subscription.ts";

/** What the index reads of a stream. */
export interface Subscriber {
  readonly view: View;
  /** Its types with their subscriptions. */
  readonly subscribed: readonly SubscribedType[];
}

export interface SubscribedType {
  readonly traits: { readonly type: TypeUrl };
  readonly subscription: Subscription;
}

/** Up to so many streams are checked one by one. */
const FEW = 8;
/** A subscription with more names is checked on its own: indexing it would delay all others. */
const INDEXED_NAMES = 20_000;
/** How many names one transaction indexes; the others follow with later transactions. */
const NAMES_A_TIME = 5_000;
/** The most names in the index, at some 50 bytes each; subscriptions beyond it are checked one by one. */
const MOST_NAMES = 250_000;

/**
 * An index from view, type and name to streams: a change costs only the streams that subscribe to it, however many
 * others there are. Streams with unfinished work are affected by every change of their view.
 */
export class SubscriberIndex<S extends Subscriber> {
  readonly #sets: NameSets;
  readonly #views = new Map<View, SubscribersOfView<S>>();
  readonly #viewOf = new Map<S, View>();
  readonly #room = { names: MOST_NAMES };

  constructor(sets: NameSets) {
    this.#sets = sets;
  }

  /** The stream has something to send or to wait for. */
  unsettle(stream: S): void {
    this.#enter(stream).unsettled.add(stream);
  }

  /** The stream was sent everything, and waits for nothing. */
  settle(stream: S): void {
    const { unsettled, ofType } = this.#enter(stream);
    unsettled.delete(stream);
    for (const { traits, subscription } of stream.subscribed)
      memo(ofType, traits.type, () => new AskersOfType<S>(this.#sets, this.#room)).put(stream, subscription);
  }

  /** Removes a stream that is closed or has moved to another view. */
  forget(stream: S): void {
    const view = this.#viewOf.get(stream);
    const known = view && this.#views.get(view);
    if (view === undefined || known === undefined) return;
    this.#viewOf.delete(stream);
    known.unsettled.delete(stream);
    for (const type of known.ofType.values()) type.forget(stream);
    if (--known.streams > 0) return;
    for (const type of known.ofType.values()) type.clear();
    this.#views.delete(view);
  }

  /**
   * The streams of a view that a transaction may affect; some may turn out not to subscribe to anything that changed.
   */
  *concernedBy(view: View, touched: ChangedNames): Iterable<S> {
    const known = this.#views.get(view);
    if (known === undefined) return;
    yield* known.unsettled;
    for (const [type, askers] of known.ofType) yield* askers.concernedBy(view, type, touched);
  }

  #enter(stream: S): SubscribersOfView<S> {
    const { view } = stream;
    const isKnown = this.#viewOf.get(stream) === view;
    if (!isKnown) this.forget(stream);
    const found = memo(this.#views, view, () => ({ unsettled: new Set<S>(), ofType: new Map(), streams: 0 }));
    if (isKnown) return found;
    this.#viewOf.set(stream, view);
    found.streams++;
    return found;
  }
}

interface SubscribersOfView<S> {
  streams: number;
  readonly unsettled: Set<S>;
  readonly ofType: Map<TypeUrl, AskersOfType<S>>;
}

/** Streams with equal sets of names. */
interface SubscriberGroup<S> {
  readonly names: Names;
  readonly streams: Set<S>;
}

/** The subscribers of one type in one view. */
class AskersOfType<S> {
  readonly #sets: NameSets;
  /** Subscriptions in no group: wildcards and the like, very large sets, and names that are not indexed yet. */
  readonly #loose = new Map<S, Subscription>();
  readonly #groupOf = new Map<S, SubscriberGroup<S>>();
  readonly #groups = new Map<Names, SubscriberGroup<S>>();
  /** Groups without streams; they leave the index in steps too. */
  readonly #abandoned = new Set<SubscriberGroup<S>>();
  readonly #byName = new ManyByName<SubscriberGroup<S>>();
  /** How many more names the index may take, over all types and views. */
  readonly #room: { names: number };

  constructor(sets: NameSets, room: { names: number }) {
    this.#sets = sets;
    this.#room = room;
  }

  put(stream: S, subscription: Subscription): void {
    // Nearly always it was settled before, and asks for the same.
    if (this.#loose.get(stream) === subscription) return;
    const group = this.#groupOf.get(stream);
    if (group !== undefined && group.names === subscription.names && !subscription.asksBroadly) return;
    this.forget(stream);
    this.#loose.set(stream, subscription);
  }

  forget(stream: S): void {
    this.#loose.delete(stream);
    const group = this.#groupOf.get(stream);
    if (group === undefined) return;
    this.#groupOf.delete(stream);
    group.streams.delete(stream);
    if (group.streams.size === 0) this.#abandoned.add(group);
  }

  /** Drops everything: no stream is left. */
  clear(): void {
    for (const { names } of this.#groups.values()) this.#room.names += names.size;
    this.#groups.clear();
    this.#abandoned.clear();
    this.#byName.clear();
  }

  *concernedBy(view: View, type: TypeUrl, touched: ChangedNames): Iterable<S> {
    const changed = touched.in(view, type);
    if (changed.length === 0) return;
    this.#index();
    for (const [stream, subscription] of this.#loose) if (touched.concern(changed, subscription)) yield stream;
    if (this.#groups.size === 0) return;
    for (const { names } of changed) for (const { streams } of this.#groupsThatAskFor(names, touched)) yield* streams;
  }

  *#groupsThatAskFor(names: ReadonlySet<string>, touched: ChangedNames): Iterable<SubscriberGroup<S>> {
    if (names.size <= this.#byName.size) {
      for (const name of names) yield* this.#byName.of(name);
    } else {
      for (const group of this.#groups.values()) if (touched.isAnyAmong(names, group.names)) yield group;
    }
  }

  /** Adds streams to the index and removes abandoned groups, in steps. */
  #index(): void {
    if (this.#loose.size <= FEW && this.#groups.size === 0) return;
    let left = NAMES_A_TIME;
    for (const group of this.#abandoned) {
      this.#abandoned.delete(group);
      if (group.streams.size > 0) continue;
      this.#close(group);
      left -= group.names.size;
      if (left <= 0) return;
    }
    for (const [stream, subscription] of this.#loose) {
      if (subscription.asksBroadly || subscription.names.size > INDEXED_NAMES) continue;
      const names = subscription.sharedNames(this.#sets);
      if (names === undefined) continue;
      const known = this.#groups.get(names);
      if (known === undefined && names.size > this.#room.names) continue;
      const group = known ?? this.#open(names);
      group.streams.add(stream);
      this.#loose.delete(stream);
      this.#groupOf.set(stream, group);
      if (known === undefined) left -= names.size;
      if (left <= 0) return;
    }
  }

  #close(group: SubscriberGroup<S>): void {
    this.#groups.delete(group.names);
    this.#room.names += group.names.size;
    for (const name of group.names) this.#byName.delete(name, group);
  }

  #open(names: Names): SubscriberGroup<S> {
    const group = { names, streams: new Set<S>() };
    this.#groups.set(names, group);
    this.#room.names -= names.size;
    for (const name of names) this.#byName.add(name, group);
    return group;
  }
}

/** A multimap that stores most names, which have one value, without a set. */
class ManyByName<T extends object> {
  readonly #things = new Map<string, T | Set<T>>();

  get size(): number {
    return this.#things.size;
  }

  of(name: string): Iterable<T> {
    const known = this.#things.get(name);
    if (known === undefined) return [];
    return known instanceof Set ? known : [known];
  }

  add(name: string, thing: T): void {
    const known = this.#things.get(name);
    if (known === undefined) this.#things.set(name, thing);
    else if (known instanceof Set) known.add(thing);
    else this.#things.set(name, new Set([known, thing]));
  }

  clear(): void {
    this.#things.clear();
  }

  delete(name: string, thing: T): void {
    const known = this.#things.get(name);
    if (known instanceof Set && known.size > 1) known.delete(thing);
    else this.#things.delete(name);
  }
}
