import type { ApiVersion, Constraints, Node, Variant } from "@xdskit/protocol";
import type { MethodSwitch } from "@xdskit/protocol/internal";
import type { NodeLayers, Setup } from "../case.ts";
import type { TypeName } from "../content/catalog.ts";
import type { Content } from "../content/content.ts";

/** What changes in one layer. */
export interface Change {
  readonly layer: string;
  readonly puts: readonly Content[];
  readonly deletes: readonly {
    readonly type: TypeName;
    readonly name: string;
    readonly constraints: Constraints | undefined;
  }[];
  /** Versions printed for types. */
  readonly typeVersions: ReadonlyMap<TypeName, string>;
  readonly canaries: ReadonlyMap<TypeName, boolean>;
}

export interface Commit {
  readonly changes: readonly Change[];
  readonly systemVersion: string | undefined;
}

/** A stream to be opened. */
export interface Opening {
  readonly stream: string;
  readonly variant: Variant;
  /** Undefined: aggregated. */
  readonly only: TypeName | undefined;
  /** The version of its messages. */
  readonly api: ApiVersion;
  /** The other name of the method, which needs that switch. */
  readonly by: MethodSwitch | undefined;
  /** Each request is a poll of that type. */
  readonly isPolled: boolean;
  readonly connection: string;
  readonly server: string;
}

/** A name with parameters. */
export interface PlainLocator {
  readonly name: string;
  readonly dynamicParameters: Readonly<Record<string, string>>;
}

/** A request with every symbol resolved. */
export interface PlainRequest {
  readonly typeUrl: string;
  readonly node: Node | undefined;
  readonly nonce: string;
  readonly error: { readonly code: number; readonly message: string } | undefined;
  /** State of the World. */
  readonly version: string;
  readonly names: readonly string[];
  /** Beside the names, or beside what is subscribed. */
  readonly locators: readonly PlainLocator[];
  /** Delta. */
  readonly unsubscribeLocators: readonly PlainLocator[];
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  readonly initial: readonly (readonly [name: string, version: string])[];
}

/** A response as it came. */
export interface PlainResponse {
  readonly variant: Variant;
  /** The answer to a poll: whoever is told the same is told it under the same nonce. */
  readonly isPolled?: true;
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly PlainResource[];
  /** Those of variants with their constraints. */
  readonly removed: readonly string[];
  /** `name code message` of each entry of `resource_errors`. */
  readonly errors: readonly string[];
  readonly isCanary: boolean;
}

/** A resource in a response; State of the World says nothing but type and bytes, unless a wrapper is around them. */
export interface PlainResource {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly aliases: readonly string[];
  readonly typeUrl: string;
  /** Undefined: the resource has no body. */
  readonly bytes: Uint8Array | undefined;
  readonly ttlMs?: number | undefined;
  /** Of a variant, as people read them. */
  readonly constraints?: string | undefined;
  readonly doNotCache?: boolean;
  readonly metadata?: Uint8Array | undefined;
}

/** What a player saw. */
export type Observation =
  | { readonly kind: "response"; readonly stream: string; readonly response: PlainResponse }
  | { readonly kind: "end"; readonly stream: string; readonly code: number }
  | { readonly kind: "unchanged"; readonly stream: string }
  | BookingObservation;

export interface BookingObservation {
  readonly kind: "booking";
  readonly as: "acked" | "nacked";
  /** Undefined if the target does not tell which of its streams is which of ours. */
  readonly stream: string | undefined;
  readonly nonce: string;
  readonly error: string | undefined;
  readonly names: readonly string[] | undefined;
}

/** How much a step expects; a driver need not wait once it is there. */
export interface Awaited {
  readonly responses: ReadonlyMap<string, number>;
  readonly ends: readonly string[];
  readonly unchanged: readonly string[];
  readonly bookings: number;
}

/** Plays the steps against something that can hold a conversation. */
export interface Driver {
  /** Whether it can be seen what the server books. */
  readonly tellsBookings: boolean;
  start(server: string, setup: Setup): Promise<void>;
  commit(server: string, commit: Commit): Promise<void>;
  move(nodeMapping: NodeLayers): Promise<void>;
  open(opening: Opening): Promise<void>;
  send(stream: string, requests: readonly PlainRequest[]): Promise<void>;
  breakConnection(connection: string): Promise<void>;
  cancel(stream: string): Promise<void>;
  /** The client stops reading, or goes on. */
  setReading(stream: string, isReading: boolean): Promise<void>;
  pass(ms: number): Promise<void>;
  /** Replaces a server by a fresh, empty one. */
  restart(server: string): Promise<void>;
  /** Everything since the call before; what was awaited, or what came instead, and proof that nothing else is on its way. */
  settle(awaited: Awaited): Promise<readonly Observation[]>;
  stop(): Promise<void>;
}

/** The target has no way to do what the step asks; the play fails with this reason. */
export class UnsupportedStep extends Error {
  override readonly name = "UnsupportedStep";
}
