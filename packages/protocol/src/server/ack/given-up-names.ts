import { LazyMap } from "../memory/lazy.ts";
import { countOf, type NameList } from "../subscription/names.ts";

/**
 * Counts the names that a client gave up while responses still refer to them, each until the last of these responses is
 * settled. Snapshots of a subscription share their names, so only those that were given up take memory of their own.
 */
export class GivenUpNames {
  /** How many names were given up, by the newest response that may refer to them. */
  readonly #until = new LazyMap<number, number>();
  #counted = 0;

  /** How many names they count for. */
  get counted(): number {
    return this.#counted;
  }

  /** The client gave up names. `kept`: those that responses refer to, the newest of them being number `at`. */
  add(names: Iterable<string>, kept: readonly Pick<NameList, "has">[], at: number): void {
    let counted = 0;
    for (const name of names) if (kept.some((one) => one.has(name))) counted += countOf(name);
    if (counted === 0) return;
    this.#counted += counted;
    this.#until.set(at, (this.#until.get(at) ?? 0) + counted);
  }

  /** The oldest response that refers to any names is number `oldest`; infinite: none does. */
  release(oldest: number): void {
    if (this.#counted === 0) return;
    for (const [at, counted] of this.#until) {
      if (at >= oldest) continue;
      this.#until.delete(at);
      this.#counted -= counted;
    }
  }
}
