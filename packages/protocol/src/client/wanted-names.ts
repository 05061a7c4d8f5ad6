/** The subscriptions that a server was sent, and the pending changes. */
export class WantedNames {
  readonly #told = new Set<string>();
  readonly #added = new Set<string>();
  readonly #dropped = new Set<string>();

  /** Whether there is a pending change. */
  get isDirty(): boolean {
    return this.#added.size > 0 || this.#dropped.size > 0;
  }

  isTold(term: string): boolean {
    return this.#told.has(term);
  }

  /** Adds a subscription. `again`: send it even if the server has it already (C-DLT-20). */
  add(term: string, again: "again" | "once"): void {
    this.#dropped.delete(term);
    if (again === "again" || !this.#told.has(term)) this.#added.add(term);
  }

  drop(term: string): void {
    this.#added.delete(term);
    if (this.#told.has(term)) this.#dropped.add(term);
  }

  /** Resets the state to these subscriptions, sent as the first of a stream. */
  begin(terms: readonly string[]): void {
    this.#told.clear();
    this.#added.clear();
    this.#dropped.clear();
    for (const term of terms) this.#told.add(term);
  }

  /** Takes the pending changes as sent. */
  tell(): { readonly added: readonly string[]; readonly dropped: readonly string[] } {
    const added = [...this.#added];
    const dropped = [...this.#dropped];
    for (const term of dropped) this.#told.delete(term);
    for (const term of added) this.#told.add(term);
    this.#added.clear();
    this.#dropped.clear();
    return { added, dropped };
  }

  /** Treats a term as not sent, without an unsubscribe. */
  forget(term: string): void {
    this.#told.delete(term);
  }
}
