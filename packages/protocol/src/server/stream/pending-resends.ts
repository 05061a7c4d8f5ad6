import type { Dialect } from "../../dialect/dialect.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { LazyMap, LazySet } from "../memory/lazy.ts";
import { memo } from "../memory/memo.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";

/** Names to be resent, with their type. */
export type OwedNames = readonly [type: TypeUrl, names: ReadonlySet<string>];

const none: ReadonlySet<string> = new Set();
const nothing: readonly OwedNames[] = [];

/**
 * What an answer of one type makes resent of other types: a client that is sent a changed Cluster needs its endpoints
 * again (S-WRM-08). On the same stream they follow in the same flush; a reconnecting client may subscribe to them
 * later.
 */
export class PendingResends {
  readonly #dialect: Dialect;
  /** Types that the client reconnected with, listing versions. */
  readonly #resumed = new LazySet<TypeUrl>();
  /** Names to be resent to such a client, of types that it has not subscribed to yet. */
  readonly #beforehand = new LazyMap<TypeUrl, Set<string>>();
  /** Names to be resent on other streams of the client; undefined: none, as after most flushes. */
  #owed: OwedNames[] | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** The client reconnected with versions of a type. */
  resume(type: TypeUrl): void {
    this.#resumed.add(type);
  }

  isResumed({ traits }: TypeStream): boolean {
    return this.#resumed.has(traits.type);
  }

  /** Takes the names of a type that were marked before the client subscribed to it. */
  takeBeforehand(type: TypeUrl): ReadonlySet<string> {
    if (this.#beforehand.size === 0) return none;
    const names = this.#beforehand.get(type) ?? none;
    this.#beforehand.delete(type);
    return names;
  }

  /** Takes the names to be resent on other streams of the client since the last call. */
  takeOwed(): readonly OwedNames[] {
    const owed = this.#owed ?? nothing;
    this.#owed = undefined;
    return owed;
  }

  /**
   * Marks what the new resources of a type make resent on this stream, and notes it for others. `isShared`: other
   * streams of the client may subscribe to the dependent types.
   */
  collect(
    type: TypeStream,
    news: PendingResponse["news"],
    { types, isShared }: { types: ReadonlyMap<TypeUrl, TypeStream>; isShared: boolean },
  ): void {
    const { kind, owes } = type.traits;
    if (owes.length === 0 || (kind === "cds" && !this.#dialect.resendEdsOnClusterChange)) return;
    const isResumed = this.isResumed(type);
    for (const owedType of owes) {
      const here = types.get(owedType);
      // The first sync of many streams skips the scan where it cannot find anything.
      if (!isResumed && here?.position === undefined && !isShared) continue;
      for (const resources of news) {
        const names = namesReferenced(resources, owedType);
        if (names.size === 0) continue;
        here?.resend(names);
        if (here === undefined && isResumed) this.#oweBeforehand(owedType, names);
        this.#owed ??= [];
        this.#owed.push([owedType, names]);
      }
    }
  }

  #oweBeforehand(type: TypeUrl, names: ReadonlySet<string>): void {
    const known = this.#beforehand.get(type) ?? new Set();
    for (const name of names) known.add(name);
    this.#beforehand.set(type, known);
  }
}

/** A list with fewer resources is searched for each stream. */
const KEPT_FROM = 16;
const kept = new WeakMap<readonly Resource[], Map<TypeUrl, ReadonlySet<string>>>();

/** The names of a type that resources reference; found once for all streams that are sent the same list. */
function namesReferenced(resources: readonly Resource[], type: TypeUrl): ReadonlySet<string> {
  if (resources.length < KEPT_FROM) return findReferenced(resources, type);
  const byType = kept.get(resources) ?? new Map<TypeUrl, ReadonlySet<string>>();
  kept.set(resources, byType);
  return memo(byType, type, () => findReferenced(resources, type));
}

function findReferenced(resources: readonly Resource[], type: TypeUrl): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { references } of resources)
    for (const reference of references) if (reference.type === type) names.add(reference.name);
  return names;
}
