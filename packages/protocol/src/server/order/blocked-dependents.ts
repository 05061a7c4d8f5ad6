import type { Reference, Resource } from "../../resource/resource.ts";
import { WILDCARD } from "../../resource/resource-name.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Delivery } from "../ack/delivery.ts";
import { LazyMap } from "../memory/lazy.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderedStream } from "./order-members.ts";
import { keyOf } from "./pinned-targets.ts";

/** How many versions of one dependent are tracked; that the client uses one in between goes unnoticed. */
const VERSIONS_KEPT = 8;

/** A version of a dependent that the client cannot use before it has what the version references. */
interface UnreadyVersion {
  readonly names: readonly Reference[];
  readonly delivery: Delivery;
  /** The revision of the version that the client uses until then. */
  readonly from: number;
  /** The client uses no former version. */
  readonly isFirst: boolean;
  isAccepted: boolean;
  /** References that were ACKed since. */
  readonly had: Set<Reference>;
}

/** Whether the client has what a version refers to. `isFirst`: it uses no former version. */
export type IsSettled = (reference: Reference, isFirst: boolean) => boolean;

/** A dependent that was sent and cannot be used yet: its versions since the one that the client uses. */
interface UnreadyUser {
  readonly user: TypeStream;
  readonly name: string;
  readonly versions: UnreadyVersion[];
}

/**
 * Dependents that were sent, such as a Listener, while the client goes on using their former version until it has what
 * they reference, such as routes, which may use Clusters too.
 */
export class BlockedDependents {
  /** By type and name. */
  readonly #unready = new LazyMap<string, UnreadyUser>();
  /** Whether a dependent goes on with its former version until the client has the resources of a type that it references. */
  readonly areAwaited: (type: TypeUrl) => boolean;
  /** The references of all versions; undefined: not collected since they changed. */
  #awaited: ReadonlySet<string> | undefined;

  constructor(areAwaited: (type: TypeUrl) => boolean) {
    this.areAwaited = areAwaited;
  }

  get isEmpty(): boolean {
    return this.#unready.size === 0;
  }

  /** A type that the oldest entry waits for; undefined: nothing is blocked. */
  get awaitedType(): TypeUrl | undefined {
    const [oldest] = this.#unready.values();
    return oldest && (oldest.versions[0]?.names[0]?.type ?? oldest.user.traits.type);
  }

  /** Dependents were sent. `isNew`: whether the client had none of that name. */
  send(user: TypeStream, delivery: Delivery, isNew: (name: string) => boolean): void {
    const { type, variant, segments } = delivery.body;
    const listed = new Set<string>();
    for (const { puts, removed } of segments) {
      for (const name of removed) this.#follow(name, { names: [], delivery, isFirst: false }, user);
      for (const { name, references } of puts) {
        const key = `${type} ${name}`;
        listed.add(key);
        const names = references.filter((one) => this.areAwaited(one.type));
        if (names.length > 0 || this.#unready.has(key))
          this.#follow(name, { names, delivery, isFirst: isNew(name) }, user);
      }
    }
    if (variant === "delta" || !user.traits.isFullState) return;
    for (const [key, { name }] of this.#unready) {
      if (key.startsWith(`${type} `) && !listed.has(key))
        this.#follow(name, { names: [], delivery, isFirst: false }, user);
    }
  }

  /**
   * A response was ACKed. It makes a version ready if the version was the newest when the response arrived: otherwise
   * the client goes on to a newer version without it.
   */
  accept({ traits: { type } }: TypeStream, accepted: Delivery, { isAggregated }: OrderedStream): void {
    if (this.#unready.size === 0 || !this.areAwaited(type)) return;
    const brought = new Set(accepted.body.segments.flatMap(({ puts }) => puts.map(({ name }) => name)));
    for (const { versions } of this.#unready.values()) {
      for (const [i, version] of versions.entries()) {
        version.isAccepted ||= version.delivery === accepted;
        const newer = versions[i + 1];
        // On one stream the order of sending is kept.
        const wasNewest = newer === undefined || (isAggregated && accepted.at < newer.delivery.at);
        if (!wasNewest || version.delivery.at >= accepted.at) continue;
        for (const one of version.names) if (one.type === type && brought.has(one.name)) version.had.add(one);
      }
    }
  }

  /** The stream of this type closed. */
  leave(type: TypeStream): void {
    for (const [key, { user }] of this.#unready) if (user === type) this.#change(key, undefined);
  }

  /** Whether a dependent waits for this resource, so that it replaces something unknown. */
  awaits(resource: Resource): boolean {
    if (this.#unready.size === 0) return false;
    // A flush asks for each of its resources, and nothing changes meanwhile.
    this.#awaited ??= this.#collectAwaited();
    const isAwaited = (name: string): boolean | undefined => this.#awaited?.has(keyOf({ type: resource.type, name }));
    return isAwaited(resource.name) === true || isAwaited(WILDCARD) === true;
  }

  /** The names of a type that versions refer to which are going to replace one in use. */
  *awaitedByReplacements(of: TypeUrl): Iterable<string> {
    for (const { versions } of this.#unready.values())
      for (const { isFirst, names } of versions)
        if (!isFirst) for (const { type, name } of names) if (type === of) yield name;
  }

  #collectAwaited(): ReadonlySet<string> {
    const awaited = new Set<string>();
    for (const { versions } of this.#unready.values())
      for (const { names } of versions) for (const one of names) awaited.add(keyOf(one));
    return awaited;
  }

  /**
   * The revision before the oldest version with a reference that the client has not requested or not ACKed yet.
   * Infinite: none. What is deleted itself, and waits for the others to be removed, does not count, and the client gave up
   * what it is not subscribed to any more.
   */
  readyTo(isSettled: IsSettled): number {
    let to = Number.POSITIVE_INFINITY;
    for (const [key, { user, name, versions }] of this.#unready) {
      if (user.pendingRemovals.names.has(name)) continue;
      const { subscription } = user;
      if (!subscription.isWildcard && !subscription.isNamed(name)) {
        this.#change(key, undefined);
        continue;
      }
      let left: UnreadyVersion[] = [];
      for (const version of versions) {
        const { names, delivery, isAccepted, isFirst, had } = version;
        const isNewest = version === versions.at(-1);
        // Until the client has the version, it still uses what it requested before. A version that it NACKed it does
        // not use at all.
        if (isAccepted && names.every((one) => had.has(one) || (isNewest && isSettled(one, isFirst)))) left = [];
        else if (isAccepted || user.deliveries.pending.includes(delivery)) left.push(version);
      }
      const [oldest] = left;
      if (left.length < versions.length) this.#change(key, oldest && { user, name, versions: left });
      if (oldest !== undefined) to = Math.min(to, oldest.from);
    }
    return to;
  }

  /** Adds a version; until it is ACKed and ready, the client uses an earlier one. */
  #follow(name: string, sent: Pick<UnreadyVersion, "names" | "delivery" | "isFirst">, user: TypeStream): void {
    const key = `${user.traits.type} ${name}`;
    const before = this.#unready.get(key);
    if (sent.names.length === 0 && before === undefined) return;
    const versions = before?.versions ?? [];
    if (versions.length === VERSIONS_KEPT) versions.splice(-1);
    // What leads to others than Listeners may be new, too: until then the client uses whatever came before that.
    const from = (user.traits.kind === "lds" ? sent.delivery.from : undefined) ?? -1;
    versions.push({ ...sent, from, isAccepted: false, had: new Set() });
    this.#change(key, { user, name, versions });
  }

  #change(key: string, to: UnreadyUser | undefined): void {
    if (to === undefined) this.#unready.delete(key);
    else this.#unready.set(key, to);
    this.#awaited = undefined;
  }
}
