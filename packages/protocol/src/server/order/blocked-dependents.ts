import type { Reference, Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Delivery } from "../ack/delivery.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderedStream } from "./order-members.ts";

/** How many versions of one user are looked at: of those between, it is not noticed that the client uses them. */
const VERSIONS_KEPT = 8;

/** A version of a user that the client cannot use before it has what the user names. */
interface UnreadyVersion {
  readonly names: readonly Reference[];
  readonly delivery: Delivery;
  /** What the client goes on using until then is of this revision. */
  readonly from: number;
  isAccepted: boolean;
  /** Of what it names, this was accepted since. */
  readonly had: Set<Reference>;
}

/** A user that was sent and cannot be used yet, each version since the one that the client goes on using. */
interface UnreadyUser {
  readonly user: TypeStream;
  readonly versions: UnreadyVersion[];
}

/**
 * Users of Clusters that were sent, a Listener for one, of which the client goes on using what was before until it has what
 * they name: routes, for one, which may use Clusters too.
 */
export class BlockedDependents {
  /** By type and name. */
  readonly #unready = new Map<string, UnreadyUser>();
  readonly #mayUseClusters: (type: TypeUrl) => boolean;

  /** `mayUseClusters`: whether resources of a type may name Clusters. */
  constructor(mayUseClusters: (type: TypeUrl) => boolean) {
    this.#mayUseClusters = mayUseClusters;
  }

  get isEmpty(): boolean {
    return this.#unready.size === 0;
  }

  /** A type that something of the oldest waits for; undefined if none is unready. */
  get awaitedType(): TypeUrl | undefined {
    const [oldest] = this.#unready.values();
    return oldest && (oldest.versions[0]?.names[0]?.type ?? oldest.user.traits.type);
  }

  /** Users were sent. */
  send(user: TypeStream, delivery: Delivery): void {
    const { type, variant, segments } = delivery.body;
    const listed = new Set<string>();
    for (const { puts, removed } of segments) {
      for (const name of removed) this.#follow(`${type} ${name}`, [], user, delivery);
      for (const { name, references } of puts) {
        const key = `${type} ${name}`;
        listed.add(key);
        const names = references.filter((one) => this.#mayUseClusters(one.type));
        this.#follow(key, names, user, delivery);
      }
    }
    if (variant === "delta" || !user.traits.isFullState) return;
    for (const key of this.#unready.keys()) {
      if (key.startsWith(`${type} `) && !listed.has(key)) this.#follow(key, [], user, delivery);
    }
  }

  /**
   * A response was accepted. A version of a user is ready with what it brought if it was the newest when that arrived: the client
   * goes on to a newer one without it.
   */
  accept({ traits: { type } }: TypeStream, accepted: Delivery, { isAggregated }: OrderedStream): void {
    if (this.#unready.size === 0 || !this.#mayUseClusters(type)) return;
    const brought = new Set(accepted.body.segments.flatMap(({ puts }) => puts.map(({ name }) => name)));
    for (const { versions } of this.#unready.values()) {
      for (const [i, version] of versions.entries()) {
        version.isAccepted ||= version.delivery === accepted;
        const newer = versions[i + 1];
        // One stream keeps the order in which things were sent.
        const wasNewest = newer === undefined || (isAggregated && accepted.at < newer.delivery.at);
        if (!wasNewest || version.delivery.at >= accepted.at) continue;
        for (const one of version.names) if (one.type === type && brought.has(one.name)) version.had.add(one);
      }
    }
  }

  /** The stream of that type is closed. */
  leave(type: TypeStream): void {
    for (const [key, { user }] of this.#unready) if (user === type) this.#unready.delete(key);
  }

  /** Whether a resource takes the place of something, though nobody knows of what. */
  awaits({ type, name }: Resource): boolean {
    for (const { versions } of this.#unready.values()) {
      if (versions.some(({ names }) => names.some((one) => one.type === type && one.name === name))) return true;
    }
    return false;
  }

  /** The revision before the oldest that names what the client has not asked for, or has not accepted yet. Infinite: none. */
  readyTo(isSettled: (reference: Reference) => boolean): number {
    let to = Number.POSITIVE_INFINITY;
    for (const [key, { user, versions }] of this.#unready) {
      let left: UnreadyVersion[] = [];
      for (const version of versions) {
        const { names, delivery, isAccepted, had } = version;
        const isNewest = version === versions.at(-1);
        // Before the client has it, it has not given up what it asked for until now. What it refused it does not use at all.
        if (isAccepted && names.every((one) => had.has(one) || (isNewest && isSettled(one)))) left = [];
        else if (isAccepted || user.deliveries.pending.includes(delivery)) left.push(version);
      }
      const [oldest] = left;
      if (oldest === undefined) this.#unready.delete(key);
      else {
        this.#unready.set(key, { user, versions: left });
        to = Math.min(to, oldest.from);
      }
    }
    return to;
  }

  /** Until this is accepted, the client goes on with what was before the one that it replaces. */
  #follow(key: string, names: readonly Reference[], user: TypeStream, delivery: Delivery): void {
    const before = this.#unready.get(key);
    if (names.length === 0 && before === undefined) return;
    const versions = before?.versions ?? [];
    if (versions.length === VERSIONS_KEPT) versions.splice(-1);
    versions.push({ names, delivery, from: delivery.from ?? -1, isAccepted: false, had: new Set() });
    this.#unready.set(key, { user, versions });
  }
}
