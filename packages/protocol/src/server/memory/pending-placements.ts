import { Fifo } from "./fifo.ts";

/** A client whose layers follow from the node mapping and the access rules. */
export interface Placeable {
  /** The newest revision that it may have until the rules in force are applied to it; infinite: they are. */
  placedTo: number;
}

/** Under which bounds a client goes on once it is placed. */
export interface PlacedFrom {
  /** The newest revision that it may have had before. */
  readonly before: number;
  /** A later change concerned it, if its layers stay the same: the revision before that. */
  readonly unchangedTo: number | undefined;
}

/**
 * The clients to which new rules are not applied yet, in the order in which they are placed. Nothing is sent to them
 * meanwhile.
 */
export class PendingPlacements<C extends Placeable> {
  readonly #waiting = new Fifo<C>();
  readonly #concerned = new Map<C, number>();

  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** A client is to be placed; one that waits already keeps its turn, and its bound. */
  add(client: C, before: number): void {
    client.placedTo = Math.min(client.placedTo, before);
    this.#waiting.add(client);
  }

  /** A change concerns a client that is not placed; only the first one counts. */
  concern(client: C, unchangedTo: number): void {
    if (!this.#concerned.has(client)) this.#concerned.set(client, unchangedTo);
  }

  /** Returns the next client, which is to be placed at once. */
  next(): C | undefined {
    return this.#waiting.take();
  }

  /** Removes a client, because it is placed or gone. */
  take(client: C): PlacedFrom {
    const placement = { before: client.placedTo, unchangedTo: this.#concerned.get(client) };
    client.placedTo = Number.POSITIVE_INFINITY;
    this.#waiting.delete(client);
    this.#concerned.delete(client);
    return placement;
  }
}

/** Whether a client waits to be placed. */
export function isUnplaced({ placedTo }: Placeable): boolean {
  return placedTo !== Number.POSITIVE_INFINITY;
}
