import type { Remembered } from "@xdskit/protocol/internal";
import type { Memory } from "../hub/port.ts";

/** So many records are kept at least before they are replaced by what they come to. */
const COMPACTED_FROM = 4_096;

/** What the clients of all processes were served, for each process that starts. */
export class SharedHistory implements Memory {
  readonly #under: Memory | undefined;
  readonly #snapshot: () => Iterable<Remembered>;
  #records: Remembered[];
  #isCompacting = false;
  #compactAbove = COMPACTED_FROM;

  /** `under`: where it outlives the processes. `snapshot`: what all records come to now. */
  constructor(under: Memory | undefined, snapshot: () => Iterable<Remembered>) {
    this.#under = under;
    this.#snapshot = snapshot;
    this.#records = [...(under?.restored ?? [])];
  }

  get restored(): Iterable<Remembered> {
    return this.#under?.restored ?? [];
  }

  /** All records, in order. */
  get records(): readonly Remembered[] {
    return [...this.#records];
  }

  remember(what: Remembered): void {
    this.#records.push(what);
    this.#under?.remember(what);
    if (this.#records.length <= this.#compactAbove || this.#isCompacting) return;
    this.#isCompacting = true;
    // Not amid a change.
    setImmediate(() => {
      this.#records = [...this.#snapshot()];
      // What they come to may be as many: with a view for each node, there are some for each.
      this.#compactAbove = Math.max(COMPACTED_FROM, 2 * this.#records.length);
      this.#isCompacting = false;
    });
  }

  flush(): void {
    this.#under?.flush();
  }

  close(): void {
    this.#under?.close();
  }
}
