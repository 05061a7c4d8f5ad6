import type { TermRules } from "../../resource/term-rules.ts";

const nobody: ReadonlySet<string> = new Set();

/** The terms of a subscription by group, to find those that a broad name or alias matches without a scan. */
export class GroupedTerms {
  readonly #rules: TermRules;
  readonly #groups = new Map<string, Set<string>>();

  constructor(rules: TermRules, terms: Iterable<string>) {
    this.#rules = rules;
    for (const term of terms) this.add(term);
  }

  add(term: string): void {
    for (const group of this.#rules.groupsOf(term)) {
      const terms = this.#groups.get(group);
      if (terms === undefined) this.#groups.set(group, new Set([term]));
      else terms.add(term);
    }
  }

  delete(term: string): void {
    for (const group of this.#rules.groupsOf(term)) {
      const terms = this.#groups.get(group);
      if (terms?.delete(term) === true && terms.size === 0) this.#groups.delete(group);
    }
  }

  /** The terms that a broad name or alias matches. */
  *matching(alias: string): Iterable<string> {
    for (const term of this.#groups.get(this.#rules.groupOf(alias)) ?? nobody)
      if (this.#rules.matches(alias, term)) yield term;
  }
}
