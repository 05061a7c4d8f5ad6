import { ChangeNumbers } from "./change-numbers.ts";

/** Of so many numbers it is known which revision of the server has them. */
const NUMBERS_KNOWN = 10_000;

/** The numbers of the newest changes. */
export interface NewestChanges {
  readonly any: number | undefined;
  /** Live data left out. */
  readonly stable: number | undefined;
}

/** Which revision of a server has which number of its ledger, and the other way round. */
export class NumbersInForce {
  readonly #revisions = new Map<number, number>();
  readonly #changes = new ChangeNumbers(NUMBERS_KNOWN);
  readonly #stableChanges = new ChangeNumbers(NUMBERS_KNOWN);
  #number = 0;
  /** The number at the start; the earlier ones are in force by the same revision. */
  #resumed = 0;

  /** The newest record that is durable and, if it is a change, in force. */
  get number(): number {
    return this.#number;
  }

  /** The revision of the server that a number is; undefined if it is not reached, or not known any more. */
  revisionOf(number: number): number | undefined {
    return this.#revisions.get(Math.max(number, this.#resumed));
  }

  /** The newest number that is in force at a revision. */
  numberOf(revision: number): number {
    for (let number = this.#number; number > this.#resumed; number--) {
      const known = this.#revisions.get(number);
      if (known !== undefined && known <= revision) return number;
    }
    return this.#resumed;
  }

  /** The number of the newest change that is in force at a revision. */
  changeOf(revision: number): number {
    return this.#changes.numberAt(revision) ?? this.#resumed;
  }

  /** The number of the newest change in force at a revision, live data left out; undefined: there is none. */
  stableChangeOf(revision: number): number | undefined {
    return this.#stableChanges.numberAt(revision);
  }

  /** What a ledger came to is in force by a revision. */
  resume(number: number, newest: NewestChanges, revision: number): void {
    this.#resumed = number;
    this.#changes.add(revision, newest.any ?? number);
    this.#stableChanges.add(revision, newest.stable ?? number);
    this.reached(number, number, revision);
  }

  /** The records after `before` up to `number` are in force by a revision. */
  reached(before: number, number: number, revision: number): void {
    for (let one = Math.max(before + 1, number - NUMBERS_KNOWN); one < number; one++) this.#note(one, revision);
    this.#note(number, revision);
    this.#number = number;
  }

  /** A change is in force by a revision; `stable` is its number if it is not of live data only. */
  changed(number: number, revision: number, stable: number | undefined): void {
    this.#changes.add(revision, number);
    if (stable !== undefined) this.#stableChanges.add(revision, stable);
  }

  #note(number: number, revision: number): void {
    this.#revisions.set(number, revision);
    this.#revisions.delete(number - NUMBERS_KNOWN);
  }
}
