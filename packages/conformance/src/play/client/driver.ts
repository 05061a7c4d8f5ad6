import type { TypeUrl, Variant } from "@xdskit/protocol";
import type { ClientReport, DiscoveryRequest, WatchEvent } from "@xdskit/protocol/internal";
import type { ClientSetup, Garbage, Meeting, ScriptedResponse, SourceSetup } from "../../client-case.ts";
import type { TypeName } from "../../content/catalog.ts";

/** The source that a case does not name. */
export const mainSource = "main";

/** A source with everything said. */
export interface PlainSource extends SourceSetup {
  readonly id: string;
  readonly variant: Variant;
  readonly kind: NonNullable<SourceSetup["kind"]>;
}

/** A response of a type, on a stream. */
export interface PlainScripted extends ScriptedResponse {
  readonly type: TypeName;
}

export interface PlainWatch {
  readonly watch: string;
  readonly source: string;
  readonly type: TypeName;
  readonly term: string;
}

/** What one stream is for. */
export interface StreamPurpose {
  readonly source: string;
  readonly server: number;
  /** Undefined on an aggregated stream. */
  readonly onlyType: TypeUrl | undefined;
}

/** What a player saw. Streams are called as the case calls them. */
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

/** How much a step expects; a driver need not wait once it is there. */
export interface ClientAwaited {
  readonly requests: number;
  readonly news: number;
  readonly opened: number;
  readonly closed: number;
}

/** Plays the steps against something that is a client. */
export interface ClientDriver {
  /** Whether it is seen what the client reports. */
  readonly tellsReports: boolean;
  start(sources: readonly PlainSource[], setup: ClientSetup): Promise<void>;
  watch(watches: readonly PlainWatch[]): Promise<void>;
  stopWatches(watches: readonly string[]): Promise<void>;
  respond(stream: string, responses: readonly PlainScripted[]): Promise<void>;
  /** The response is there, and not judged before `judged`. */
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
  /** Everything since the call before; what was awaited, or what came instead, and nothing else is on its way. */
  settle(awaited: ClientAwaited): Promise<readonly ClientObservation[]>;
  stop(): Promise<void>;
}
