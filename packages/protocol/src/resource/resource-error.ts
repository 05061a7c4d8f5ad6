import type { ErrorDetail, Resource } from "./resource.ts";
import type { TypeUrl } from "./type-url.ts";
import { type Digest, formatVersion } from "./version.ts";

/** A resource error before it has a version: the resource is rejected, or cannot be provided. */
export interface ResourceErrorInput {
  readonly type: TypeUrl;
  /** The name of a resource or of a glob collection; never `*` (B-ERR-12). */
  readonly name: string;
  /** Any code but 0. Clients keep what they hold unless the code is `NOT_FOUND` or `PERMISSION_DENIED`. */
  readonly error: ErrorDetail;
}

/**
 * Creates a resource error, which a layer holds in place of a resource: put and deleted like one. Each client gets the
 * error once (S-ERR-01, S-ERR-02); everywhere else the resource does not exist.
 *
 * @throws {RangeError} if the name is `*` or the code is 0
 */
export function createResourceError({ type, name, error }: ResourceErrorInput, digest: Digest): Resource {
  if (name === "*") throw new RangeError("a wildcard has no error of its own");
  if (error.code === 0) throw new RangeError(`expected the error of ${JSON.stringify(name)} to have a code, got 0`);
  return errorResource(
    { type, name, error },
    formatVersion(digest(["resource error", String(error.code), error.message])),
  );
}

/** Creates a resource error with a given version. */
export function errorResource({ type, name, error }: ResourceErrorInput, version: string): Resource {
  return {
    type,
    name,
    bytes: new Uint8Array(0),
    aliases: [],
    ttlMs: undefined,
    doNotCache: false,
    metadata: undefined,
    // An error is not covered by a wildcard and does not count in the type version.
    onDemand: true,
    references: [],
    version,
    sum: 0n,
    error,
  };
}

/**
 * Stands for a name with variants of which none matches a client without parameters. Never sent: for such clients the
 * resource does not exist.
 */
export const noneFits: ErrorDetail = { code: 5, message: "no variant is for clients without parameters" };

/** Returns the entry under a name unless it is an error. */
export function withoutError<R extends Pick<Resource, "error">>(holder: R | undefined): R | undefined {
  return holder?.error === undefined ? holder : undefined;
}
