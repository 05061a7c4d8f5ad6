import type { ApiVersion, Variant } from "@xdskit/protocol";
import type { TypeAnswer } from "./deliveries.ts";
import type { Page } from "./page.ts";

/** `GET /api/v1/nodes` */
export type NodesAnswer = Page<NodeAnswer>;

/** All streams of one node id. */
export interface NodeAnswer extends NodeAnswerIdentity {
  readonly streams: readonly {
    readonly stream: number;
    /** The version of the messages on it. */
    readonly apiVersion: ApiVersion;
    readonly variant: Variant;
    /** It polls over REST: no stream, but shown as one for some minutes after its last poll. */
    readonly isPoller?: true;
    readonly peer: string;
    readonly dialect?: DialectAnswer;
  }[];
  /** Top-most first. */
  readonly layers: readonly string[];
  readonly connectedAt?: string;
  readonly lastRequestAt?: string;
  readonly types: readonly TypeAnswer[];
}

/** What a node calls itself. */
export interface NodeAnswerIdentity {
  readonly id: string;
  readonly cluster: string;
  readonly locality?: { readonly region: string; readonly zone: string; readonly subZone: string };
  readonly userAgent: string;
}

/** Why a stream is spoken to as it is. */
export interface DialectAnswer {
  readonly edition: string;
  /** Who chose the edition; absent: nobody, it is the default. */
  readonly editionBy?: string;
  /** The row of a known client. */
  readonly client?: string;
  /** The listener that it came to. */
  readonly listener?: string;
  /** The rule that was found for it. */
  readonly clients?: string;
  /** What was switched, and by whom: `server`, `listener`, `clients`. */
  readonly switches: readonly { readonly name: string; readonly value: string; readonly by: string }[];
}

/** `GET /api/v1/streams` */
export type StreamsAnswer = Page<StreamAnswer>;

export interface StreamAnswer {
  readonly stream: number;
  /** The version of the messages on it. */
  readonly apiVersion: ApiVersion;
  readonly variant: Variant;
  /** It polls over REST: no stream, but shown as one for some minutes after its last poll. */
  readonly isPoller?: true;
  /** The only type of a per-type stream. */
  readonly onlyType?: string;
  readonly peer: { readonly address: string; readonly isTls: boolean; readonly names: readonly string[] };
  /** Absent before the first request. */
  readonly node?: NodeAnswerIdentity;
  /** Absent before the first request. */
  readonly dialect?: DialectAnswer;
  readonly layers: readonly string[];
  readonly openedAt?: string;
  readonly lastRequestAt?: string;
  readonly lastResponseAt?: string;
  readonly types: readonly TypeAnswer[];
}
