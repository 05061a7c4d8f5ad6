import type { TypeUrl } from "@xdskit/protocol";
import type { Answer, HeldResources } from "./held.ts";

/** A way to ask for resources: gRPC, REST or a file. What `get` and `watch` know of it stands here. */
export interface Transport {
  /** Whether one answer tells all there is of a type, so that there is nothing to wait for after it. */
  answersWhole(type: TypeUrl): boolean;
  /** Throws a `CommandError` if nobody is there, or at once when interrupted. */
  connect(): Promise<Connection>;
}

/** A transport in use. */
export interface Connection {
  /** Asks for resources of one type; every answer is acknowledged. Throws a `CommandError` for a type that is not served so. */
  subscribe(interest: Interest): Subscription;
  close(): Promise<void>;
}

/** What to ask for. */
export interface Interest {
  readonly type: TypeUrl;
  /** None: everything. */
  readonly names: readonly string[];
  /** What is held already, and takes what comes. */
  readonly held: HeldResources;
}

/** What was asked for, as it comes. */
export interface Subscription {
  /** May be walked once. */
  readonly answers: AsyncIterable<Answer>;
  /** Why no more of them come. */
  readonly ending: Promise<Ending>;
  cancel(): void;
}

/** The end of a subscription that nobody here has asked for. */
export interface Ending {
  /** A sentence such as `127.0.0.1:18000 ended the stream: UNAVAILABLE`. */
  readonly reason: string;
  /** There may be an answer another time. */
  readonly isUnreachable: boolean;
  /** What to do about it. */
  readonly hint?: string;
}
