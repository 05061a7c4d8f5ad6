import type { NamedChoice } from "../../dialect/choice.ts";
import type { Body } from "../../message/body.ts";
import type { SotwRequest } from "../../message/request.ts";
import type { Status } from "../../message/status.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import type { TypeUrl } from "../../resource/type-url.ts";

/** Names one poll for its life; given by the shell from the numbers of streams, never used again. */
export type PollId = number;

/** All that can happen to polls: requests that are whole in themselves and are answered once (S-RST-14). */
export type PollEvent =
  | PollReceived
  /** The client went away before it was answered (S-RST-11). */
  | { readonly kind: "poll-closed"; readonly poll: PollId }
  /** Whoever waits is to be sent home: the server is shutting down. */
  | { readonly kind: "polls-dismissed" };

export interface PollReceived {
  readonly kind: "poll-received";
  readonly poll: PollId;
  readonly peer: Peer;
  /** What is asked for; what the request itself says of the type was looked at already. */
  readonly type: TypeUrl;
  readonly request: SotwRequest;
  /** For how long the poll may be held until something changes, in milliseconds; 0: it is answered at once. */
  readonly holdMs: number;
  /** The version of the messages. */
  readonly apiVersion: ApiVersion;
  /** What was chosen for the listener that the client came to. */
  readonly listener?: NamedChoice | undefined;
}

/** All that polls ask for, beside timers and reports. Each poll that was not closed gets exactly one of them. */
export type PollEffect =
  /** Gives it everything it asks for. The body is shared, and so is its nonce: the version of what it holds. */
  | { readonly kind: "answer-poll"; readonly poll: PollId; readonly poller: PollId; readonly body: Body }
  /** What it has is still so: 304, with no body (S-RST-03). */
  | { readonly kind: "poll-unchanged"; readonly poll: PollId }
  | { readonly kind: "refuse-poll"; readonly poll: PollId; readonly status: Status };
