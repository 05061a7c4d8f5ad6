import type { Status, Transaction, TypeUrl } from "@xdskit/protocol";
import { type DiscoveryRequest, isOfV2, type PollId, type StreamId, statusCode } from "@xdskit/protocol/internal";
import type { ApiVersionConverter } from "./api-version-converter.ts";
import { CatchUpGate, type Freshness } from "./catch-up-gate.ts";
import { FirstConversion } from "./first-conversion.ts";
import type { MissingChange, MissingContent } from "./missing-resources.ts";
import {
  type ReleasedType,
  type Sees,
  type WaitingType,
  WithheldRequests,
  type WithheldRequestsOptions,
} from "./withheld-requests.ts";

/** This server is `behind` the others, or content is `missing`. */
export type Unanswerable = "behind" | "missing";

/** What a client is told whose request cannot be answered. */
export const unanswerable: Readonly<Record<Unanswerable, Status>> = {
  missing: {
    code: statusCode.UNAVAILABLE,
    message: "not ready: the content of a resource of this type is not at hand yet; try again later",
  },
  behind: { code: statusCode.UNAVAILABLE, message: "this server is behind the others; try again later" },
};

export interface WaitingRequestsOptions extends WithheldRequestsOptions {
  /** Without it nothing is converted between v2 and v3. */
  readonly converter: ApiVersionConverter | undefined;
  /** Whether what a request brings from an earlier stream is of states that this server has or had. */
  readonly isKnown: (id: StreamId | PollId, request: DiscoveryRequest) => boolean;
  /** Takes a request of a stream that waits for nothing any more. */
  readonly process: (stream: StreamId, request: DiscoveryRequest) => void;
  /** Told of requests that wait for content, and again when what they wait for may be another. */
  readonly withheld: (waiting: WaitingType) => void;
  /** Sends a client away whose request cannot even wait. */
  readonly refuse: (id: StreamId | PollId, reason: Unanswerable) => void;
  /** Commits converted resources. May throw. */
  readonly commit: (transaction: Transaction) => void;
  /** Reports an internal error to each waiting stream or poll. */
  readonly failed: (waiting: StreamId | PollId, cause: unknown) => void;
}

/**
 * Requests that cannot be answered yet, in order: until the state is new enough for their client, until the content of
 * what they ask for is there, and until it is converted to v2.
 */
export class WaitingRequests {
  readonly #options: WaitingRequestsOptions;
  readonly #gate: CatchUpGate;
  readonly #withheld: WithheldRequests;
  readonly #conversion: FirstConversion | undefined;

  constructor(options: WaitingRequestsOptions) {
    const { converter, commit, failed } = options;
    this.#options = options;
    this.#gate = new CatchUpGate(options.open, options.isKnown);
    this.#withheld = new WithheldRequests(options);
    this.#conversion = converter && new FirstConversion({ converter, commit, failed });
  }

  /** How many streams and polls are kept to let them wait, or because they do not have to. */
  get clients(): number {
    return this.#gate.clients;
  }

  /** Without it the state is always new enough for every client. */
  setFreshness(freshness: Freshness): void {
    this.#gate.setFreshness(freshness);
  }

  /** What exists without its content. */
  get missing(): Iterable<MissingContent> {
    return this.#withheld.missing;
  }

  /** Changes what exists without its content, and continues requests whose content came. */
  changeMissing(change: MissingChange): void {
    const { released, waiting } = this.#withheld.change(change);
    this.#continue(released);
    for (const one of waiting) this.#options.withheld(one);
  }

  /** Continues requests for what is not for their client any more. */
  release(): void {
    this.#continue(this.#withheld.release());
    for (const waiting of [...this.#withheld.waiting()]) this.#options.withheld(waiting);
  }

  #continue(released: readonly ReleasedType[]): void {
    for (const { stream, type, requests } of released)
      for (const { request, bytes } of requests) this.#convert(stream, type, request, bytes);
  }

  /** Processes a request of a stream, at once if it waits for nothing. `bytes`: what it takes in memory. */
  take(stream: StreamId, type: TypeUrl | undefined, request: DiscoveryRequest, bytes: number): void {
    if (this.#gate.isOpen) {
      this.#withhold(stream, type, request, bytes);
      return;
    }
    const taken = this.#gate.take(stream, request, bytes, () => this.#withhold(stream, type, request, bytes));
    if (taken === "full") this.#options.refuse(stream, "behind");
  }

  /** Calls `arrive` when a poll waits for nothing any more; content that is missing it cannot wait for. */
  takePoll(poll: PollId, type: TypeUrl, request: DiscoveryRequest, bytes: number, arrive: () => void): void {
    // A poll may leave its type to the path.
    const typed = request.type === undefined ? { ...request, type } : request;
    const taken = this.#gate.take(poll, typed, bytes, () => {
      // It sends nothing else.
      this.#gate.forget(poll);
      const conversion = this.#conversionFor(type, poll);
      if (conversion === undefined) arrive();
      else conversion.wait(poll, bytes, arrive);
    });
    if (taken === "full") this.#options.refuse(poll, "behind");
  }

  /** Whether a poll asks for what is missing, by what its client may have. */
  isForMissing(type: TypeUrl, request: DiscoveryRequest, view: () => Sees): boolean {
    return this.#withheld.concerns(type, request, view);
  }

  /** Calls `then` after the waiting requests of a stream whose client sends no more. */
  finish(stream: StreamId, then: () => void): void {
    if (this.#gate.isWaiting(stream)) this.#gate.wait(stream, 0, () => this.finish(stream, then));
    // No answer to a Fetch would be right.
    else if (this.#withheld.isWaiting(stream)) this.#options.refuse(stream, "missing");
    else if (this.#conversion?.isWaiting(stream) === true) {
      this.#conversion.wait(stream, 0, () => this.finish(stream, then));
    } else then();
  }

  /** Drops the waiting requests of a stream or poll that has ended. */
  forget(id: StreamId | PollId): void {
    this.#conversion?.forget(id);
    this.#withheld.forget(id);
    this.#gate.forget(id);
  }

  close(): void {
    this.#conversion?.close();
  }

  #withhold(stream: StreamId, type: TypeUrl | undefined, request: DiscoveryRequest, bytes: number): void {
    const taken = this.#withheld.take(stream, type, request, bytes);
    if (taken === "full") this.#options.refuse(stream, "missing");
    else if ("missing" in taken) this.#options.withheld(taken);
    else this.#convert(stream, type, taken, bytes);
  }

  #convert(stream: StreamId, type: TypeUrl | undefined, request: DiscoveryRequest, bytes: number): void {
    const conversion = this.#conversionFor(type, stream);
    if (conversion === undefined) this.#options.process(stream, request);
    else conversion.wait(stream, bytes, () => this.#options.process(stream, request));
  }

  /** The conversion that a request for a type has to wait for: the first for a v2 type starts it. */
  #conversionFor(type: TypeUrl | undefined, id: StreamId | PollId): FirstConversion | undefined {
    const conversion = this.#conversion;
    if (conversion === undefined || conversion.isWaiting(id)) return conversion;
    const isConverted = type !== undefined && isOfV2(type) && this.#options.twinOf(type) !== undefined;
    return isConverted && conversion.mustWait() ? conversion : undefined;
  }
}
