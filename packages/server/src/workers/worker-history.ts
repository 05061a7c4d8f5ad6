import type { Remembered } from "@xdskit/protocol/internal";
import type { Memory } from "../hub/port.ts";
import type { WorkerStart } from "./messages.ts";

/** How many revisions are kept with those of the primary. */
const KEPT = 20_000;

interface RevisionPair {
  readonly own: number;
  readonly primary: number;
}

/** What the clients of a worker were served, which the primary keeps for all processes. Its revisions are the primary's. */
export class WorkerHistory implements Memory {
  readonly restored: readonly Remembered[];
  readonly #send: (what: Remembered) => void;
  #pairs: RevisionPair[] = [];

  constructor({ remembered }: WorkerStart, send: (what: Remembered) => void) {
    this.restored = remembered;
    this.#send = send;
  }

  /** What the primary has at its revision is in force here by this one. */
  reached(pair: RevisionPair): void {
    this.#pairs.push(pair);
    if (this.#pairs.length >= 2 * KEPT) this.#pairs = this.#pairs.slice(-KEPT);
  }

  remember(what: Remembered): void {
    // The primary has the same changes.
    if (what.kind === "changed") return;
    this.#send(what.kind === "served" ? { ...what, revision: this.#convert(what.revision, "own", "primary") } : what);
  }

  /** A record of the primary, by the revisions of this worker. */
  ofPrimary(what: Remembered): Remembered {
    return what.kind === "clusters-elsewhere"
      ? what
      : { ...what, revision: this.#convert(what.revision, "primary", "own") };
  }

  flush(): void {
    // What is remembered was sent before the responses are.
  }

  close(): void {
    // The primary has it.
  }

  /** Up to the start of the worker both count alike. */
  #convert(revision: number, from: keyof RevisionPair, to: keyof RevisionPair): number {
    return this.#pairs.findLast((pair) => pair[from] <= revision)?.[to] ?? revision;
  }
}
