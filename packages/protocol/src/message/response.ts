import type { ErrorDetail } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** A resource as received: decoded and validated, not accepted yet. */
export interface ReceivedResource {
  /** Canonical name; for a variant its key, the name with the constraints (S-LOC-05). */
  readonly name: string;
  /** Other names of the resource (C-DLT-15). */
  readonly aliases: readonly string[];
  /** The resource's own version: always set in delta; in State of the World only with a wrapper, else "". */
  readonly version: string;
  /** Undefined if it came without a body: a heartbeat, or a name that does not exist (C-NEX-08, C-TTL-10). */
  readonly bytes: Uint8Array | undefined;
  /** The type of the bytes, if not that of the response: a resource locator that redirects (S-XTP-10). */
  readonly bodyType?: TypeUrl;
  /** How long the client may use it without a renewal, in milliseconds; undefined: without limit (C-TTL-05). */
  readonly ttlMs: number | undefined;
  /**
   * Why it is invalid: undecodable, against a validation rule, or refused by a validator (C-VAL-01, C-VAL-02, C-VAL-05,
   * C-MSC-06).
   */
  readonly problem?: string;
}

/** An entry of `resource_errors`: a name that the server cannot provide, and why. */
export interface ReceivedError {
  /** Never "*"; may be a glob collection (B-ERR-12). */
  readonly name: string;
  readonly error: ErrorDetail;
}

interface ResponseCommon {
  /** Undefined if the response has none: a file or a poll (C-FS-08). */
  readonly type: TypeUrl | undefined;
  /** "" if there is none: files, and polls of servers that send none (B-RST-07). */
  readonly nonce: string;
  readonly resources: readonly ReceivedResource[];
  readonly errors: readonly ReceivedError[];
  /** The control plane identifier; undefined if there is none. */
  readonly controlPlane: string | undefined;
  /** Faults of the response as a whole, such as resources of another type (C-TYP-12). */
  readonly problems: readonly string[];
}

/** A decoded `DiscoveryResponse`, from a stream, a poll or a file. */
export interface SotwResponse extends ResponseCommon {
  readonly kind: "sotw";
  readonly version: string;
}

/** A decoded `DeltaDiscoveryResponse`. */
export interface DeltaResponse extends ResponseCommon {
  readonly kind: "delta";
  /** `system_version_info`, for display only (B-VER-07). */
  readonly systemVersion: string;
  /** Names and variant keys. */
  readonly removed: readonly string[];
}

export type DiscoveryResponse = SotwResponse | DeltaResponse;
