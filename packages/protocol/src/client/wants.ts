/** What a server was told that is wanted, and what it has still to be told. */
export class Wants {
  readonly #told = new Set<string>();
  readonly #added = new Set<string>();
  readonly #dropped = new Set<string>();

  /** A server has something to be told. */
  get isDirty(): boolean {
    return this.#added.size > 0 || this.#dropped.size > 0;
  }

  isTold(term: string): boolean {
    return this.#told.has(term);
  }

  /** `again`: it is told once more even if it is known to be wanted (C-DLT-20). */
  add(term: string, again: "again" | "once"): void {
    this.#dropped.delete(term);
    if (again === "again" || !this.#told.has(term)) this.#added.add(term);
  }

  drop(term: string): void {
    this.#added.delete(term);
    if (this.#told.has(term)) this.#dropped.add(term);
  }

  /** These are told, and nothing was before. */
  begin(terms: readonly string[]): void {
    this.#told.clear();
    this.#added.clear();
    this.#dropped.clear();
    for (const term of terms) this.#told.add(term);
  }

  /** Everything is told now. */
  tell(): { readonly added: readonly string[]; readonly dropped: readonly string[] } {
    const added = [...this.#added];
    const dropped = [...this.#dropped];
    for (const term of dropped) this.#told.delete(term);
    for (const term of added) this.#told.add(term);
    this.#added.clear();
    this.#dropped.clear();
    return { added, dropped };
  }

  /** It counts as not told, without a word. */
  forget(term: string): void {
    this.#told.delete(term);
  }
}
