import type { Status } from "../message/status.ts";
import type { ErrorDetail } from "../resource/resource.ts";
import type { TypeUrl } from "../resource/type-url.ts";

/** A resource that was accepted and is in force. Immutable; the same object as long as its content and version are the same. */
export interface HeldResource {
  readonly type: TypeUrl;
  readonly name: string;
  readonly aliases: readonly string[];
  /** Its own in delta; that of the response it came with in State of the World. */
  readonly version: string;
  readonly bytes: Uint8Array;
  readonly bodyType?: TypeUrl;
  readonly ttlMs: number | undefined;
  /** Restored from an earlier life, and not confirmed by a server yet (C-CLI-06). */
  readonly isRestored?: true;
}

/** What outlives the process. */
export type KeptResource = Pick<HeldResource, "type" | "name" | "aliases" | "version" | "bytes" | "bodyType">;

/** Where a name stands; the words are those of `ClientResourceStatus` (C-CSD-03, A40). */
export type HeldStatus =
  | "requested"
  | "acked"
  | "nacked"
  | "does-not-exist"
  /** The server said why it cannot give it (C-ERR-13). */
  | "received-error"
  /** Nothing came in time, and that counts as a failure to reach it (C-ERR-10). */
  | "timeout";

/** One name of one type at one source, for state dumps and CSDS (B-OBS-04). */
export interface HeldState {
  readonly type: TypeUrl;
  readonly name: string;
  readonly status: HeldStatus;
  /** What is in force, whatever the status. */
  readonly resource: HeldResource | undefined;
  /** When what is in force was accepted, as `Moment.nowMs`. */
  readonly acceptedAtMs: number | undefined;
  /** The last refusal or error that was not followed by something better. */
  readonly failure: HeldFailure | undefined;
}

/** Why a name is not what it should be. */
export interface HeldFailure {
  readonly error: ErrorDetail | Status;
  /** The version that was refused; "" where there is none. */
  readonly version: string;
  /** The refused resource, where it could be read so far. */
  readonly bytes: Uint8Array | undefined;
  readonly atMs: number;
}
