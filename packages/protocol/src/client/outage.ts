import type { Status } from "../message/status.ts";

/** Whoever is told so many reasons of one outage knows enough: some say another thing each time. */
const MOST_REASONS = 8;

/** A time in which no server can be reached: why, and what was told of it. */
export class Outage {
  /** Why it lasts. */
  status: Status;
  readonly #told = new Set<string>();

  constructor(status: Status) {
    this.status = status;
  }

  /** An attempt was in vain. Whether that is told: each reason is, once; servers that are tried in turn may have one each. */
  goesOn(status: Status): boolean {
    this.status = status;
    const reason = `${status.code} ${status.message}`;
    if (this.#told.has(reason) || this.#told.size >= MOST_REASONS) return false;
    this.#told.add(reason);
    return true;
  }
}
