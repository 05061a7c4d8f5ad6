import type { Status } from "../message/status.ts";
import type { ErrorDetail } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** An accepted resource that is in use. Immutable; the same object as long as its content and version stay the same. */
export interface HeldResource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly aliases: readonly string[];
  /** Its own version in delta; the version of its response in State of the World. */
  readonly version: string;
  readonly bytes: Uint8Array;
  readonly bodyType?: TypeUrl;
  readonly ttlMs: number | undefined;
  /** Set if it comes from an earlier run and no server has confirmed it yet (C-CLI-06). */
  readonly isRestored?: true;
}

/** The part of a resource that outlives the process. */
export type KeptResource = Pick<HeldResource, "type" | "name" | "aliases" | "version" | "bytes" | "bodyType">;

/** The state of a name at this client, in the words of `ClientResourceStatus` (C-CSD-03, A40). */
export type HeldStatus =
  | "requested"
  | "acked"
  | "nacked"
  | "does-not-exist"
  /** The server sent a resource error (C-ERR-13). */
  | "received-error"
  /** Nothing came in time, which counts as unreachable (C-ERR-10). */
  | "timeout";

/** The state of one name of one type at one source, for state dumps and CSDS (B-OBS-04). */
export interface HeldState {
  readonly type: TypeUrl;
  readonly name: string;
  readonly status: HeldStatus;
  /** The resource in use, whatever the status. */
  readonly resource: HeldResource | undefined;
  /** When the resource in use was accepted, as `Moment.nowMs`. */
  readonly acceptedAtMs: number | undefined;
  /** The last rejection or error, unless a valid resource followed. */
  readonly failure: HeldFailure | undefined;
}

/** Why the latest update of a name failed. */
export interface HeldFailure {
  readonly error: ErrorDetail | Status;
  /** The rejected version; "" if there is none. */
  readonly version: string;
  /** The rejected resource, if it could be decoded that far. */
  readonly bytes: Uint8Array | undefined;
  readonly atMs: number;
}
