import type { Status } from "../message/status.ts";

/** The pending ACK or NACK of a response. */
export interface RequestReply {
  /** "" if the response had none; the request then repeats the newest nonce, if any. */
  readonly nonce: string;
  /** State of the World: the accepted version after it. */
  readonly version: string | undefined;
  /** Set for a NACK. */
  readonly error: Status | undefined;
}

/** The content of a request, besides the full list of names. */
export interface RequestContents {
  readonly isFirst: boolean;
  readonly answer: RequestReply | undefined;
  /** No name of the type was sent on this stream so far, this request included (S-SUB-09). */
  readonly isLegacy: boolean;
  readonly added: readonly string[];
  readonly dropped: readonly string[];
}
