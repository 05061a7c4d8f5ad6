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
    /** True for a REST poller, which is listed as a stream until some minutes after its last poll. */
    readonly isPoller?: true;
    readonly peer: string;
    readonly dialect?: DialectAnswer;
  }[];
  /** Layers of the view, top-most first. */
  readonly layers: readonly string[];
  readonly connectedAt?: string;
  readonly lastRequestAt?: string;
  readonly types: readonly TypeAnswer[];
}

/** The node as it identifies itself. */
export interface NodeAnswerIdentity {
  readonly id: string;
  readonly cluster: string;
  readonly locality?: { readonly region: string; readonly zone: string; readonly subZone: string };
  readonly userAgent: string;
}

/** The dialect of a stream and where each part of it comes from. */
export interface DialectAnswer {
  readonly edition: string;
  /** What set the edition; absent: it is the default. */
  readonly editionBy?: string;
  /** The matching row of the table of known clients. */
  readonly client?: string;
  /** The listener that the client connected to. */
  readonly listener?: string;
  /** The client override rule that matched. */
  readonly clients?: string;
  /** Overridden switches and what set each: `server`, `listener`, `clients`. */
  readonly switches: readonly { readonly name: string; readonly value: string; readonly by: string }[];
}

/** `GET /api/v1/streams` */
export type StreamsAnswer = Page<StreamAnswer>;

export interface StreamAnswer {
  readonly stream: number;
  /** The version of the messages on it. */
  readonly apiVersion: ApiVersion;
  readonly variant: Variant;
  /** True for a REST poller, which is listed as a stream until some minutes after its last poll. */
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
