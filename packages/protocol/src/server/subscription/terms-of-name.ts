import { type Constraints, casesOf, matches, type Parameters, valuesOf } from "../../resource/constraints.ts";

/** So few terms are looked at one by one. */
const FEW = 8;

/** The terms by some keys of their parameters. */
interface TermsByValues {
  readonly keys: readonly string[];
  readonly terms: Map<string, Set<string>>;
}

/** The terms of one name, each with other parameters. */
export class TermsOfName {
  readonly #terms = new Map<string, Parameters>();
  /** Made when constraints first mention the keys. */
  readonly #byKeys = new Map<string, TermsByValues>();

  get size(): number {
    return this.#terms.size;
  }

  get parameters(): Iterable<Parameters> {
    return this.#terms.values();
  }

  has(term: string): boolean {
    return this.#terms.has(term);
  }

  keys(): Iterable<string> {
    return this.#terms.keys();
  }

  add(term: string, parameters: Parameters): void {
    this.#terms.set(term, parameters);
    for (const index of this.#byKeys.values()) put(index, term, parameters);
  }

  delete(term: string): boolean {
    const parameters = this.#terms.get(term);
    if (parameters === undefined) return false;
    for (const { keys, terms } of this.#byKeys.values()) {
      const values = valuesOf(keys, parameters);
      const same = terms.get(values);
      same?.delete(term);
      if (same?.size === 0) terms.delete(values);
    }
    return this.#terms.delete(term);
  }

  /** Whether the parameters of a term meet the constraints. */
  anyMeets(constraints: Constraints): boolean {
    return this.meeting(constraints)[Symbol.iterator]().next().done !== true;
  }

  /** Yields the terms whose parameters meet the constraints, some perhaps more than once. */
  *meeting(constraints: Constraints): Iterable<string> {
    const cases = this.#terms.size <= FEW ? undefined : casesOf(constraints);
    if (cases === undefined) {
      for (const [term, parameters] of this.#terms) if (matches(constraints, parameters)) yield term;
      return;
    }
    for (const one of cases) {
      const { keys, terms } = this.#indexFor(one);
      yield* terms.get(valuesOf(keys, one)) ?? [];
    }
  }

  #indexFor(values: Parameters): TermsByValues {
    const keys = [...values.keys()].sort();
    const id = JSON.stringify(keys);
    const known = this.#byKeys.get(id);
    if (known !== undefined) return known;
    const made: TermsByValues = { keys, terms: new Map() };
    for (const [term, parameters] of this.#terms) put(made, term, parameters);
    this.#byKeys.set(id, made);
    return made;
  }
}

function put({ keys, terms }: TermsByValues, term: string, parameters: Parameters): void {
  const values = valuesOf(keys, parameters);
  const same = terms.get(values);
  if (same === undefined) terms.set(values, new Set([term]));
  else same.add(term);
}
