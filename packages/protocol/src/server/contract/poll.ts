import type { NamedChoice } from "../../dialect/choice.ts";
import type { Body } from "../../message/body.ts";
import type { SotwRequest } from "../../message/request.ts";
import type { Status } from "../../message/status.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { PassedLimit } from "./stream-limits.ts";

/** Identifies one poll; chosen by the host from the same numbers as stream ids, never reused. */
export type PollId = number;

/** An event about polls: REST requests that are complete in themselves and answered once (S-RST-14). */
export type PollEvent =
  | PollReceived
  /** The client disconnected before it got an answer (S-RST-11). */
  | { readonly kind: "poll-closed"; readonly poll: PollId }
  /** Ends all waiting polls: the server is shutting down. */
  | { readonly kind: "polls-dismissed" };

export interface PollReceived {
  readonly kind: "poll-received";
  readonly poll: PollId;
  readonly peer: Peer;
  /** The type of the poll; the host has already checked the request's type URL against the path. */
  readonly type: TypeUrl;
  readonly request: SotwRequest;
  /** How long the poll may wait for a change, in milliseconds; 0: it is answered at once. */
  readonly holdMs: number;
  /** The API version of the messages. */
  readonly apiVersion: ApiVersion;
  /** The overrides of the listener that the client connected to. */
  readonly listener?: NamedChoice | undefined;
}

/** An effect of a poll, besides timers and reports. Each poll that was not closed gets exactly one. */
export type PollEffect =
  /** Answers with all subscribed resources. The body is shared, and its nonce is the version of its content. */
  | { readonly kind: "answer-poll"; readonly poll: PollId; readonly poller: PollId; readonly body: Body }
  /** Answers 304 without a body: the client has the current version (S-RST-03). */
  | { readonly kind: "poll-unchanged"; readonly poll: PollId }
  /** `limit`: the limit that the client exceeded, if that is the reason. */
  | {
      readonly kind: "refuse-poll";
      readonly poll: PollId;
      readonly status: Status;
      readonly limit?: PassedLimit["limit"];
    };
