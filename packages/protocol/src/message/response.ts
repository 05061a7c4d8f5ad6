import type { ErrorDetail } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** A resource as a client received it: read and judged, not yet believed. */
export interface ReceivedResource {
  /** Its canonical name; of a variant its key, name and constraints (S-LOC-05). */
  readonly name: string;
  /** Other names that it answers to (C-DLT-15). */
  readonly aliases: readonly string[];
  /** Its own version: always in delta; in State of the World only where a wrapper tells one, else "". */
  readonly version: string;
  /** Undefined: it came without a body, which says that it is alive or that there is none (C-NEX-08, C-TTL-10). */
  readonly bytes: Uint8Array | undefined;
  /** What the bytes are, if not of the type of the response: a locator of where to find it (S-XTP-10). */
  readonly bodyType?: TypeUrl;
  /** How long it may be used without hearing of it again, in milliseconds; undefined: for ever (C-TTL-05). */
  readonly ttlMs: number | undefined;
  /** Why it is refused: it cannot be read, breaks a rule, or a validator says so (C-VAL-01, C-VAL-02, C-VAL-05, C-MSC-06). */
  readonly problem?: string;
}

/** A name that a server says it cannot give, and why. */
export interface ReceivedError {
  /** "*" never; a glob collection may be named (B-ERR-12). */
  readonly name: string;
  readonly error: ErrorDetail;
}

interface ResponseCommon {
  /** Undefined where it says none: a file, or a poll (C-FS-08). */
  readonly type: TypeUrl | undefined;
  /** "" where there is none: files, and polls of servers that give none (B-RST-07). */
  readonly nonce: string;
  readonly resources: readonly ReceivedResource[];
  readonly errors: readonly ReceivedError[];
  /** Who answers; undefined if it does not say. */
  readonly controlPlane: string | undefined;
  /** What is wrong with the whole of it, such as resources of another type (C-TYP-12). */
  readonly problems: readonly string[];
}

/** A `DiscoveryResponse`, however it came. */
export interface SotwResponse extends ResponseCommon {
  readonly kind: "sotw";
  readonly version: string;
}

/** A `DeltaDiscoveryResponse`. */
export interface DeltaResponse extends ResponseCommon {
  readonly kind: "delta";
  /** For people only (B-VER-07). */
  readonly systemVersion: string;
  /** Names, and keys of variants. */
  readonly removed: readonly string[];
}

export type DiscoveryResponse = SotwResponse | DeltaResponse;
