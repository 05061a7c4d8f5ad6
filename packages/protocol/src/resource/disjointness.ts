import { type Constraints, constrainedKeys, singleConstraints } from "./constraints.ts";

/** How many assignments of values to keys are tried before a set is given up as too complicated. */
const MAX_STEPS = 100_000;

/** Whether there are parameters of which two sets of constraints hold. */
export type Overlap = "disjoint" | "overlapping" | "too-complicated";

/**
 * Decides by trying, key by key, every value that either of them speaks of, one that neither does, and none: no other
 * parameters could tell them apart. What is decided already is not looked at further.
 */
export function overlapOf(a: Constraints, b: Constraints): Overlap {
  const both: Constraints = { kind: "all", of: [a, b] };
  const choices = new Map<string, (string | undefined | null)[]>();
  for (const key of constrainedKeys(both)) choices.set(key, [undefined, null]);
  for (const single of singleConstraints(both)) {
    const values = choices.get(single.key);
    if (single.kind === "value" && values?.includes(single.value) === false) values.push(single.value);
  }
  return new Trial(both, [...choices]).find();
}

/** A value; null: one that nothing speaks of; undefined: the parameter is not there. */
type Choice = string | null | undefined;

class Trial {
  readonly #constraints: Constraints;
  readonly #choices: readonly (readonly [key: string, choices: readonly Choice[]])[];
  readonly #chosen = new Map<string, Choice>();
  #steps = 0;

  constructor(constraints: Constraints, choices: readonly (readonly [key: string, choices: readonly Choice[]])[]) {
    this.#constraints = constraints;
    this.#choices = choices;
  }

  find(): Overlap {
    const found = this.#try(0);
    if (found) return "overlapping";
    return this.#steps > MAX_STEPS ? "too-complicated" : "disjoint";
  }

  #try(depth: number): boolean {
    if (++this.#steps > MAX_STEPS) return false;
    const verdict = this.#judge(this.#constraints);
    if (verdict !== undefined) return verdict;
    const next = this.#choices[depth];
    if (next === undefined) return false;
    const [key, choices] = next;
    for (const choice of choices) {
      this.#chosen.set(key, choice);
      if (this.#try(depth + 1)) return true;
    }
    this.#chosen.delete(key);
    return false;
  }

  /** Undefined as long as what was chosen does not decide it. */
  #judge(constraints: Constraints): boolean | undefined {
    switch (constraints.kind) {
      case "value":
      case "exists": {
        if (!this.#chosen.has(constraints.key)) return undefined;
        const chosen = this.#chosen.get(constraints.key);
        return constraints.kind === "exists" ? chosen !== undefined : chosen === constraints.value;
      }
      case "not": {
        const inner = this.#judge(constraints.of);
        return inner === undefined ? undefined : !inner;
      }
      case "any":
      case "all": {
        const decisive = constraints.kind === "any";
        let isOpen = false;
        for (const one of constraints.of) {
          const verdict = this.#judge(one);
          if (verdict === decisive) return decisive;
          isOpen ||= verdict === undefined;
        }
        return isOpen ? undefined : !decisive;
      }
    }
  }
}
