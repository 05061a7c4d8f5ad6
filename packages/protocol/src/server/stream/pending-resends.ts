import type { Dialect } from "../../dialect/dialect.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { LazyMap, LazySet } from "../memory/lazy.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";

const none: readonly string[] = [];
const nothing: ReadonlyMap<TypeUrl, ReadonlySet<string>> = new Map();

type ResendNames = Map<TypeUrl, Set<string>>;

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
  #owed: ResendNames | undefined;

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
  takeBeforehand(type: TypeUrl): Iterable<string> {
    if (this.#beforehand.size === 0) return none;
    const names = this.#beforehand.get(type) ?? none;
    this.#beforehand.delete(type);
    return names;
  }

  /** Takes the names to be resent on other streams of the client, by type, since the last call. */
  takeOwed(): ReadonlyMap<TypeUrl, ReadonlySet<string>> {
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
      this.#owed ??= new Map();
      const names = this.#owed.get(owedType) ?? new Set();
      for (const resources of news) {
        for (const { references } of resources)
          for (const reference of references) if (reference.type === owedType) names.add(reference.name);
      }
      here?.resend(names);
      if (here === undefined && isResumed) this.#oweBeforehand(owedType, names);
      this.#owed.set(owedType, names);
    }
  }

  #oweBeforehand(type: TypeUrl, names: ReadonlySet<string>): void {
    const known = this.#beforehand.get(type) ?? new Set();
    for (const name of names) known.add(name);
    this.#beforehand.set(type, known);
  }
}
