import type { Remembered } from "@xdskit/protocol/internal";
import type { Memory } from "../hub/port.ts";

/** So many records are kept before they are replaced by what they come to. */
const MAX_RECORDS = 4_096;

/** What the clients of all processes were served, for each process that starts. */
export class SharedHistory implements Memory {
  readonly #under: Memory | undefined;
  readonly #snapshot: () => Iterable<Remembered>;
  #records: Remembered[];
  #isCompacting = false;

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
    if (this.#records.length <= MAX_RECORDS || this.#isCompacting) return;
    this.#isCompacting = true;
    // Not amid a change.
    setImmediate(() => {
      this.#records = [...this.#snapshot()];
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
