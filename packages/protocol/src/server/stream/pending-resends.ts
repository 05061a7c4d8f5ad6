import type { Dialect } from "../../dialect/dialect.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";

/** What a turn owes, by type: names that other streams of the client are to answer too. */
export type ResendNames = Map<TypeUrl, Set<string>>;

/**
 * What answers of one type owe in another: who is sent a changed Cluster needs its endpoints once more (S-WRM-08). What is
 * asked for here follows in the same turn; a client that comes back may ask for it later.
 */
export class PendingResends {
  readonly #dialect: Dialect;
  /** Types of which the client came back with versions that it holds. */
  readonly #resumed = new Set<TypeUrl>();
  /** What answers to such a client owe in types that it has not asked for yet. */
  readonly #beforehand: ResendNames = new Map();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** The client came back with versions of a type. */
  resume(type: TypeUrl): void {
    this.#resumed.add(type);
  }

  isResumed({ traits }: TypeStream): boolean {
    return this.#resumed.has(traits.type);
  }

  /** What was owed of a type before it was asked for. */
  takeBeforehand(type: TypeUrl): Iterable<string> {
    const names = this.#beforehand.get(type) ?? [];
    this.#beforehand.delete(type);
    return names;
  }

  /**
   * Has the types of this stream answer what news owe, and adds it to what the turn owes. `isShared`: other streams of the
   * client may have asked for it.
   */
  collect(
    type: TypeStream,
    news: PendingResponse["news"],
    { types, isShared, owed }: { types: ReadonlyMap<TypeUrl, TypeStream>; isShared: boolean; owed: ResendNames },
  ): void {
    const { kind, owes } = type.traits;
    if (owes.length === 0 || (kind === "cds" && !this.#dialect.resendEdsOnClusterChange)) return;
    const isResumed = this.isResumed(type);
    for (const owedType of owes) {
      const here = types.get(owedType);
      // A first sync of many streams must not look at everything where that can lead to nothing.
      if (!isResumed && here?.position === undefined && !isShared) continue;
      const names = owed.get(owedType) ?? new Set();
      for (const reference of news.flat().flatMap((resource) => resource.references)) {
        if (reference.type === owedType) names.add(reference.name);
      }
      here?.resend(names);
      if (here === undefined && isResumed) this.#oweBeforehand(owedType, names);
      owed.set(owedType, names);
    }
  }

  #oweBeforehand(type: TypeUrl, names: ReadonlySet<string>): void {
    const known = this.#beforehand.get(type) ?? new Set();
    for (const name of names) known.add(name);
    if (known.size > 0) this.#beforehand.set(type, known);
  }
}
