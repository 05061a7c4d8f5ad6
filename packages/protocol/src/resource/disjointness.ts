import { type Constraints, constrainedKeys, singleConstraints } from "./constraints.ts";

/** How many assignments are tried before the result is `too-complicated`. */
const MAX_STEPS = 100_000;

/** Whether a client can meet two sets of constraints at once. */
export type Overlap = "disjoint" | "overlapping" | "too-complicated";

/**
 * Decides whether two sets of constraints overlap. For each key, it tries every value that either set mentions, one
 * that neither mentions, and absence: no other parameters could tell the sets apart. Stops a branch as soon as it is
 * decided.
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

/** A value; null: a value that no constraint mentions; undefined: the parameter is absent. */
type TrialValue = string | null | undefined;

class Trial {
  readonly #constraints: Constraints;
  readonly #choices: readonly (readonly [key: string, choices: readonly TrialValue[]])[];
  readonly #chosen = new Map<string, TrialValue>();
  #steps = 0;

  constructor(constraints: Constraints, choices: readonly (readonly [key: string, choices: readonly TrialValue[]])[]) {
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

  /** Undefined while the chosen values do not decide the result. */
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
