import type { ApiVersion, Constraints, Node, Variant } from "@xdskit/protocol";
import type { MethodSwitch } from "@xdskit/protocol/internal";
import type { NodeLayers, Setup } from "../case.ts";
import type { TypeName } from "../content/catalog.ts";
import type { Content } from "../content/content.ts";

/** A change to one layer. */
export interface Change {
  readonly layer: string;
  readonly puts: readonly Content[];
  readonly deletes: readonly {
    readonly type: TypeName;
    readonly name: string;
    readonly constraints: Constraints | undefined;
  }[];
  /** Type versions to print. */
  readonly typeVersions: ReadonlyMap<TypeName, string>;
  readonly canaries: ReadonlyMap<TypeName, boolean>;
}

export interface Commit {
  readonly changes: readonly Change[];
  readonly systemVersion: string | undefined;
}

/** A stream to open. */
export interface Opening {
  readonly stream: string;
  readonly variant: Variant;
  /** Undefined for an aggregated stream. */
  readonly only: TypeName | undefined;
  /** The API version of its messages. */
  readonly api: ApiVersion;
  /** The alternative method name to use, by the switch that allows it. */
  readonly by: MethodSwitch | undefined;
  /** Each request is a REST poll of the type. */
  readonly isPolled: boolean;
  readonly connection: string;
  readonly server: string;
}

/** A name with dynamic parameters. */
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
  /** SotW only. */
  readonly version: string;
  readonly names: readonly string[];
  /** SotW `resource_locators`, or delta's subscribed ones. */
  readonly locators: readonly PlainLocator[];
  /** Delta only. */
  readonly unsubscribeLocators: readonly PlainLocator[];
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  readonly initial: readonly (readonly [name: string, version: string])[];
}

/** A response as received. */
export interface PlainResponse {
  readonly variant: Variant;
  /** A response to a poll: equal responses have the same nonce. */
  readonly isPolled?: true;
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly PlainResource[];
  /** Removed names; variants with their constraints. */
  readonly removed: readonly string[];
  /** `name code message` for each entry of `resource_errors`. */
  readonly errors: readonly string[];
  readonly isCanary: boolean;
}

/** A resource in a response; a SotW resource without a wrapper has type and bytes only. */
export interface PlainResource {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly aliases: readonly string[];
  readonly typeUrl: string;
  /** Undefined for a resource without a body. */
  readonly bytes: Uint8Array | undefined;
  readonly ttlMs?: number | undefined;
  /** The constraints of a variant, as text. */
  readonly constraints?: string | undefined;
  readonly doNotCache?: boolean;
  readonly metadata?: Uint8Array | undefined;
}

/** What a driver observed. */
export type Observation =
  | { readonly kind: "response"; readonly stream: string; readonly response: PlainResponse }
  | { readonly kind: "end"; readonly stream: string; readonly code: number }
  | { readonly kind: "unchanged"; readonly stream: string }
  | BookingObservation;

export interface BookingObservation {
  readonly kind: "booking";
  readonly as: "acked" | "nacked";
  /** Undefined if the target does not map its streams to ours. */
  readonly stream: string | undefined;
  readonly nonce: string;
  readonly error: string | undefined;
  readonly names: readonly string[] | undefined;
}

/** The number of events that a step expects, so that a driver can stop waiting. */
export interface Awaited {
  readonly responses: ReadonlyMap<string, number>;
  readonly ends: readonly string[];
  readonly unchanged: readonly string[];
  readonly bookings: number;
}

/** Plays steps against a server. */
export interface Driver {
  /** Whether the ACKs and NACKs that the server records can be observed. */
  readonly tellsBookings: boolean;
  /** Whether the server is held to our choices too, as `Target.isExact`. */
  readonly isExact: boolean;
  start(server: string, setup: Setup): Promise<void>;
  commit(server: string, commit: Commit): Promise<void>;
  move(nodeMapping: NodeLayers): Promise<void>;
  open(opening: Opening): Promise<void>;
  send(stream: string, requests: readonly PlainRequest[]): Promise<void>;
  breakConnection(connection: string): Promise<void>;
  cancel(stream: string): Promise<void>;
  /** The client stops reading, or resumes. */
  setReading(stream: string, isReading: boolean): Promise<void>;
  pass(ms: number): Promise<void>;
  /** Replaces a server with a fresh, empty one. */
  restart(server: string): Promise<void>;
  /** Returns everything since the last call, once the expected or other events came and nothing more is in flight. */
  settle(awaited: Awaited): Promise<readonly Observation[]>;
  stop(): Promise<void>;
}

/** The target does not support a step: the play ends there, and counts neither as passed nor as failed. */
export class UnsupportedStep extends Error {
  override readonly name = "UnsupportedStep";
}
