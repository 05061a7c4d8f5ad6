import type { LayerChange, Resource } from "@xdskit/protocol";
import type { Placement, Remembered } from "@xdskit/protocol/internal";
import type { MissingChange, MissingContent } from "../hub/missing-resources.ts";
import type { NumbersReached, StateChange } from "../ledger/in-force.ts";
import type { PlacedResource } from "../ledger/references.ts";
import type { ToWorker, WorkerStart } from "./messages.ts";

/** Bytes of resources in one message of the state at the start. */
const PART_BYTES = 256 * 1024;

/** The state of the primary, as the feed reads it. */
export interface FeedSource {
  isReady(): boolean;
  revision(): number;
  resources(): Iterable<PlacedResource>;
  missing(): Iterable<MissingContent>;
  numbers(): WorkerStart["numbers"];
  remembered(): Iterable<Remembered>;
}

/** What is sent to a worker about the state. Calls back when the message has left this process. */
type SendToWorker = (message: ToWorker, onLeft?: () => void) => void;

/** The state at the start of a follower. */
export type FeedStart = Pick<WorkerStart, "isReady" | "revision" | "placement" | "missing" | "numbers" | "remembered">;

/**
 * Passes what the primary puts in force on to the workers: to each one the whole state first, and then every change in
 * the order in which it came in force here.
 */
export class StateFeed {
  readonly #source: FeedSource;
  readonly #followers = new Set<Follower>();
  #placement: Placement | undefined;

  constructor(source: FeedSource) {
    this.#source = source;
  }

  /** Told after each change that came in force, before anything else can. */
  changed(change: StateChange, revision: number): void {
    this.#placement = change.placement ?? this.#placement;
    this.#send({ kind: "change", ...change, revision });
  }

  /** A worker served something that clients may bring to any other. */
  remembered(what: Remembered): void {
    this.#send({ kind: "remembered", what });
  }

  changeMissing(change: MissingChange): void {
    this.#send({ kind: "missing", change });
  }

  setNumbers(numbers: NumbersReached): void {
    this.#send({ kind: "numbers", numbers });
  }

  /** Sends the state and then its changes, until the returned function is called. `begin` is sent the start first. */
  follow(send: SendToWorker, begin: (start: FeedStart) => void): () => void {
    const source = this.#source;
    // All of it is read at one instant: resources do not change, only which ones are in force.
    const state = [...source.resources()];
    begin({
      isReady: source.isReady(),
      revision: source.revision(),
      placement: this.#placement,
      missing: [...source.missing()],
      numbers: source.numbers(),
      remembered: [...source.remembered()],
    });
    const follower = new Follower(send);
    this.#followers.add(follower);
    follower.sendState(state);
    return () => {
      this.#followers.delete(follower);
      follower.stop();
    };
  }

  #send(message: ToWorker): void {
    for (const follower of this.#followers) follower.send(message);
  }
}

/** One worker. Until the state has left this process, changes wait behind it. */
class Follower {
  readonly #send: SendToWorker;
  #behind: ToWorker[] | undefined = [];
  #isStopped = false;

  constructor(send: SendToWorker) {
    this.#send = send;
  }

  send(message: ToWorker): void {
    if (this.#behind === undefined) this.#send(message);
    else this.#behind.push(message);
  }

  stop(): void {
    this.#isStopped = true;
    this.#behind = undefined;
  }

  /** Part by part, so that no more than one waits in memory in its encoded form. */
  sendState(state: readonly PlacedResource[]): void {
    const parts = partsOf(state);
    const next = (): void => {
      if (this.#isStopped) return;
      const part = parts.next();
      if (part.done !== true) {
        this.#send({ kind: "resources", changes: part.value }, next);
        return;
      }
      this.#send({ kind: "begin" });
      const behind = this.#behind ?? [];
      this.#behind = undefined;
      for (const message of behind) this.#send(message);
    };
    next();
  }
}

function* partsOf(state: readonly PlacedResource[]): Iterator<readonly LayerChange[], undefined> {
  let layers = new Map<string, Resource[]>();
  let bytes = 0;
  const take = (): readonly LayerChange[] => {
    const part = [...layers].map(([layer, puts]) => ({ layer, puts }));
    layers = new Map();
    bytes = 0;
    return part;
  };
  for (const { layer, resource } of state) {
    const puts = layers.get(layer) ?? [];
    layers.set(layer, puts);
    puts.push(resource);
    bytes += resource.bytes.byteLength;
    if (bytes >= PART_BYTES) yield take();
  }
  if (layers.size > 0) yield take();
  return undefined;
}
