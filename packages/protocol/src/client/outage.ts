import type { Status } from "../message/status.ts";

/** The most reasons notified per outage, because some servers report a different one each time. */
const MOST_REASONS = 8;

/** A time in which no server can be reached, with the reasons that watches were notified of. */
export class Outage {
  /** The latest reason. */
  status: Status;
  readonly #told = new Set<string>();

  constructor(status: Status) {
    this.status = status;
  }

  /**
   * Records a failed attempt and returns whether to notify: each reason is notified once, because each server tried may
   * have its own.
   */
  goesOn(status: Status): boolean {
    this.status = status;
    const reason = `${status.code} ${status.message}`;
    if (this.#told.has(reason) || this.#told.size >= MOST_REASONS) return false;
    this.#told.add(reason);
    return true;
  }
}
