import type { DiscoveryRequest, PollId, StreamId } from "@xdskit/protocol/internal";
import type { HeldBytes } from "./byte-budget.ts";

/** Whether the state is new enough for a client: one that comes from another server must not be set back. */
export interface Freshness {
  /** Undefined: now. Else resolves when it is, or cannot become so in time; never rejects. */
  check(client: ArrivingClient): Promise<void> | undefined;
}

/** What is asked of a client that arrives, by all requests of it that wait by then. */
export interface ArrivingClient {
  /** The client has something already, perhaps from another server. */
  readonly bringsVersions: boolean;
  /** Whether all of that is of states that this server has or had. Takes a look at each name, so it is asked only if need be. */
  isKnown(): boolean;
}

interface HeldClient {
  readonly thens: (() => void)[];
  /** Those that bring versions. */
  readonly bringing: DiscoveryRequest[];
  readonly held: HeldBytes;
  bytes: number;
}

/** Requests of new clients that wait until the state is new enough for them, in order. */
export class CatchUpGate {
  readonly #open: (id: StreamId | PollId) => HeldBytes;
  readonly #isKnown: (id: StreamId | PollId, request: DiscoveryRequest) => boolean;
  readonly #waiting = new Map<StreamId | PollId, HeldClient>();
  /** The streams that passed, until their end. */
  readonly #passed = new Set<StreamId>();
  #freshness: Freshness | undefined;

  /**
   * `open` counts the bytes of a client's waiting requests, from 0; `isKnown`: whether what a request brings is of states
   * that this server has or had.
   */
  constructor(
    open: (id: StreamId | PollId) => HeldBytes,
    isKnown: (id: StreamId | PollId, request: DiscoveryRequest) => boolean,
  ) {
    this.#open = open;
    this.#isKnown = isKnown;
  }

  /** How many streams and polls wait, or have passed. */
  get clients(): number {
    return new Set([...this.#passed, ...this.#waiting.keys()]).size;
  }

  /** Undefined: the state is always new enough. */
  setFreshness(freshness: Freshness | undefined): void {
    this.#freshness = freshness;
  }

  /** Whether no request has to wait, nor be looked at. */
  get isOpen(): boolean {
    return this.#freshness === undefined && this.#waiting.size === 0;
  }

  isWaiting(id: StreamId | PollId): boolean {
    return this.#waiting.has(id);
  }

  /** Calls `then` when the request need not wait any more, perhaps at once; `full`: too much waits, and it is not. */
  take(id: StreamId | PollId, request: DiscoveryRequest, bytes: number, then: () => void): "full" | undefined {
    const brings = bringsVersions(request);
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) {
      if (brings) waiting.bringing.push(request);
      return this.wait(id, bytes, then);
    }
    const bringing = brings ? [request] : [];
    const fresh = this.#check(id, bringing);
    if (fresh === undefined) {
      then();
      return undefined;
    }
    this.#waiting.set(id, { thens: [], bringing, held: this.#open(id), bytes: 0 });
    void fresh.then(() => this.#release(id));
    return this.wait(id, bytes, then);
  }

  /** Calls `then` after what waits for the same client. */
  wait(id: StreamId | PollId, bytes: number, then: () => void): "full" | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    waiting.bytes += bytes;
    if (waiting.held.hold(waiting.bytes) !== undefined) return "full";
    waiting.thens.push(then);
    return undefined;
  }

  forget(id: StreamId | PollId): void {
    this.#passed.delete(id);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.held.hold(0);
    waiting.bringing.length = 0;
    this.#waiting.delete(id);
  }

  #check(id: StreamId | PollId, bringing: readonly DiscoveryRequest[]): Promise<void> | undefined {
    if (this.#freshness === undefined) return undefined;
    if (bringing.length === 0 && this.#passed.has(id)) return undefined;
    this.#passed.add(id);
    return this.#freshness.check({
      get bringsVersions() {
        return bringing.length > 0;
      },
      isKnown: () => bringing.every((request) => this.#isKnown(id, request)),
    });
  }

  #release(id: StreamId | PollId): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.held.hold(0);
    this.#waiting.delete(id);
    for (const then of waiting.thens) then();
  }
}

/** Whether a request says what the client has from an earlier stream. */
function bringsVersions(request: DiscoveryRequest): boolean {
  if (request.kind === "delta") return request.initialVersions.size > 0;
  return request.versionInfo !== undefined && request.nonce === undefined;
}
