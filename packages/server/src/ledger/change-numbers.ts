/** Which change led to which revision of the server. Bounded: the oldest are forgotten. */
export class ChangeNumbers {
  readonly #limit: number;
  /** In the order of the revisions. */
  #known: { readonly revision: number; readonly number: number }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `revision` and `number` are no smaller than any before. Of several changes that led to one revision the newest counts. */
  add(revision: number, number: number): void {
    if (this.#known.at(-1)?.revision === revision) this.#known.pop();
    this.#known.push({ revision, number });
    if (this.#known.length >= 2 * this.#limit) this.#known = this.#known.slice(-this.#limit);
  }

  /** The number of the newest change at a revision; undefined: it is from before those that are known. */
  numberAt(revision: number): number | undefined {
    let [from, to] = [0, this.#known.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#known[middle]?.revision ?? 0) <= revision) from = middle + 1;
      else to = middle;
    }
    return this.#known[from - 1]?.number;
  }
}
