/** More than any version that a client can have been told; those are digests. */
const MAX_VERSION_CHARACTERS = 256;
/** No response has this version. */
const NO_SUCH_VERSION = "";

/** The version of a request as it is remembered: a longer one than any that was told matches none. */
export function keptVersion(version: string | undefined): string | undefined {
  return version === undefined || version.length <= MAX_VERSION_CHARACTERS ? version : NO_SUCH_VERSION;
}
