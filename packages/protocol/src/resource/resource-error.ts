import type { ErrorDetail, Resource } from "./resource.ts";
import type { TypeUrl } from "./type-url.ts";
import { type Digest, formatVersion } from "./version.ts";

/** That a resource is refused, or cannot be made, as it enters. */
export interface ResourceErrorInput {
  readonly type: TypeUrl;
  /** A resource's, or that of a glob collection; never `*` (B-ERR-12). */
  readonly name: string;
  /** Why: any code but 0. Clients keep what they have unless it is `NOT_FOUND` or `PERMISSION_DENIED`. */
  readonly error: ErrorDetail;
}

/**
 * What a layer holds in place of a resource that it cannot give: put and deleted like one. Clients are told why, once
 * (S-ERR-01, S-ERR-02); to all others the resource does not exist.
 */
export function createResourceError({ type, name, error }: ResourceErrorInput, digest: Digest): Resource {
  if (name === "*") throw new RangeError("a wildcard has no error of its own");
  if (error.code === 0) throw new RangeError(`expected the error of ${JSON.stringify(name)} to have a code, got 0`);
  return errorResource(
    { type, name, error },
    formatVersion(digest(["resource error", String(error.code), error.message])),
  );
}

/** The same with a version that says what it is. */
export function errorResource({ type, name, error }: ResourceErrorInput, version: string): Resource {
  return {
    type,
    name,
    bytes: new Uint8Array(0),
    aliases: [],
    ttlMs: undefined,
    doNotCache: false,
    metadata: undefined,
    // What is not there is no part of a wildcard's resources, nor of the version of its type.
    onDemand: true,
    references: [],
    version,
    sum: 0n,
    error,
  };
}

/** A name has variants, and none is for clients without parameters. Nobody is told: to them there is no such resource. */
export const noneFits: ErrorDetail = { code: 5, message: "no variant is for clients without parameters" };

/** What holds a name, unless that is an error. */
export function withoutError<R extends Pick<Resource, "error">>(holder: R | undefined): R | undefined {
  return holder?.error === undefined ? holder : undefined;
}
