import type { Status } from "../message/status.ts";

/** What a response came to. Owed to the server as an ACK or a NACK. */
export interface Answer {
  /** "" where there is none: the newest is told again, if there was one. */
  readonly nonce: string;
  /** State of the World: the version in force after it. */
  readonly version: string | undefined;
  /** Set: it was refused. */
  readonly error: Status | undefined;
}

/** What a request says besides its names. */
export interface Said {
  readonly isFirst: boolean;
  readonly answer: Answer | undefined;
  /** Nothing of the type was named on this stream, this request included (S-SUB-09). */
  readonly isLegacy: boolean;
  readonly added: readonly string[];
  readonly dropped: readonly string[];
}
