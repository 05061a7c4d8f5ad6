import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import type { ChangedNames } from "./changed-names.ts";
import type { NameSets } from "./name-set.ts";
import type { Names } from "./names.ts";
import type { Subscription } from "./subscription.ts";

/** A stream, as far as it matters whom a change concerns. */
export interface Subscriber {
  readonly view: View;
  /** Its subscriptions by type. */
  subscriptions(): Iterable<readonly [TypeUrl, Subscription]>;
}

/** So few streams are asked one by one. */
const FEW = 8;
/** Sets of more names are asked one by one too: to index them would hold up everybody else. */
const INDEXED_NAMES = 20_000;
/** Names that one transaction indexes; the others have their turn with the next. */
const NAMES_A_TIME = 5_000;
/** Names that are indexed at most, some 50 bytes each; what is beyond that is asked one by one. */
const MOST_NAMES = 250_000;

/**
 * Who asks for what: by view and type an index from names to streams, so that a change costs those who ask for what it changed,
 * however many others there are. Streams with something to say or to wait for are concerned by every change of their view.
 */
export class SubscriberIndex<S extends Subscriber> {
  readonly #sets: NameSets;
  readonly #views = new Map<View, AskersOfView<S>>();
  readonly #viewOf = new Map<S, View>();
  readonly #room = { names: MOST_NAMES };

  constructor(sets: NameSets) {
    this.#sets = sets;
  }

  /** A stream has something to say or to wait for. */
  unsettle(stream: S): void {
    this.#enter(stream).unsettled.add(stream);
  }

  /** It was told everything there is, and waits for nothing. */
  settle(stream: S): void {
    const { unsettled, ofType } = this.#enter(stream);
    unsettled.delete(stream);
    for (const [type, subscription] of stream.subscriptions())
      memo(ofType, type, () => new AskersOfType<S>(this.#sets, this.#room)).put(stream, subscription);
  }

  /** It is closed, or in another view from now on. */
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

  /** The streams of a view that a transaction concerns. Some may turn out to have asked for nothing that changed. */
  *concernedBy(view: View, touched: ChangedNames): Iterable<S> {
    const known = this.#views.get(view);
    if (known === undefined) return;
    yield* known.unsettled;
    for (const [type, askers] of known.ofType) yield* askers.concernedBy(view, type, touched);
  }

  #enter(stream: S): AskersOfView<S> {
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

interface AskersOfView<S> {
  streams: number;
  readonly unsettled: Set<S>;
  readonly ofType: Map<TypeUrl, AskersOfType<S>>;
}

/** Streams that ask for the same names. */
interface SubscriberGroup<S> {
  readonly names: Names;
  readonly streams: Set<S>;
}

/** Those who ask for a type in one view. */
class AskersOfType<S> {
  readonly #sets: NameSets;
  /** Subscriptions of streams that are in no group: for everything, for few, or for names that are not indexed yet. */
  readonly #loose = new Map<S, Subscription>();
  readonly #groupOf = new Map<S, SubscriberGroup<S>>();
  readonly #groups = new Map<Names, SubscriberGroup<S>>();
  /** Groups of nobody: they leave the index some at a time too. */
  readonly #abandoned = new Set<SubscriberGroup<S>>();
  readonly #byName = new ManyByName<SubscriberGroup<S>>();
  /** What is left of the index, for all types and views. */
  readonly #room: { names: number };

  constructor(sets: NameSets, room: { names: number }) {
    this.#sets = sets;
    this.#room = room;
  }

  put(stream: S, subscription: Subscription): void {
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

  /** Nobody is left. */
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

  /** Brings streams into the index and takes what is left of others out of it, some at a time. */
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

/** Things by name, of which most names have one. */
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
