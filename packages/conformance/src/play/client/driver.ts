import type { TypeUrl, Variant } from "@xdskit/protocol";
import type { ClientReport, DiscoveryRequest, WatchEvent } from "@xdskit/protocol/internal";
import type { ClientSetup, Garbage, Meeting, ScriptedResponse, SourceSetup } from "../../client-case.ts";
import type { TypeName } from "../../content/catalog.ts";

/** The name of the default source. */
export const mainSource = "main";

/** A source with its defaults filled in. */
export interface PlainSource extends SourceSetup {
  readonly id: string;
  readonly variant: Variant;
  readonly kind: NonNullable<SourceSetup["kind"]>;
}

/** A response with its type. */
export interface PlainScripted extends ScriptedResponse {
  readonly type: TypeName;
}

export interface PlainWatch {
  readonly watch: string;
  readonly source: string;
  readonly type: TypeName;
  readonly term: string;
}

/** The source, server and type of a stream. */
export interface StreamPurpose {
  readonly source: string;
  readonly server: number;
  /** Undefined for an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
}

/** What a driver observed. Streams have the names of the case. */
export type ClientObservation =
  | { readonly kind: "opened"; readonly stream: string }
  | { readonly kind: "closed"; readonly stream: string }
  | {
      readonly kind: "request";
      readonly stream: string;
      readonly request: DiscoveryRequest;
      readonly isUrgent: boolean;
    }
  | { readonly kind: "news"; readonly watch: string; readonly news: WatchEvent }
  | { readonly kind: "report"; readonly report: ClientReport };

/** The number of events that a step expects, so that a driver can stop waiting. */
export interface ClientAwaited {
  readonly requests: number;
  readonly news: number;
  readonly opened: number;
  readonly closed: number;
}

/** Plays steps against a client. */
export interface ClientDriver {
  /** Whether the client's reports can be observed. */
  readonly tellsReports: boolean;
  start(sources: readonly PlainSource[], setup: ClientSetup): Promise<void>;
  watch(watches: readonly PlainWatch[]): Promise<void>;
  stopWatches(watches: readonly string[]): Promise<void>;
  respond(stream: string, responses: readonly PlainScripted[]): Promise<void>;
  /** Delivers a response whose validation is pending until `judged`. */
  arrive(stream: string, response: PlainScripted): Promise<void>;
  judged(stream: string): Promise<void>;
  garble(stream: string, as: Garbage): Promise<void>;
  end(stream: string, code: number): Promise<void>;
  unchanged(stream: string): Promise<void>;
  due(stream: string): Promise<void>;
  meet(source: string, meets: Readonly<Record<number, Meeting>>): Promise<void>;
  pass(ms: number): Promise<void>;
  describe(nodeId: string): Promise<void>;
  restore(type: TypeName, resources: readonly string[]): Promise<void>;
  warmed(source: string): Promise<void>;
  /** Returns everything since the last call, once the expected or other events came and nothing more is in flight. */
  settle(awaited: ClientAwaited): Promise<readonly ClientObservation[]>;
  stop(): Promise<void>;
}
