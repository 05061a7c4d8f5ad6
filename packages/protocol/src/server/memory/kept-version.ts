/** More than any version that a client can have been told, beyond what the caller set of it: the rest is a digest. */
const MAX_VERSION_CHARACTERS = 256;
/** No response has this version. */
export const NO_SUCH_VERSION = "";

/**
 * The version of a request as it is remembered: a longer one than any that was told matches none. `told`: versions that
 * it may contain.
 */
export function keptVersion(
  version: string | undefined,
  told: readonly (string | undefined)[] = [],
): string | undefined {
  const most = MAX_VERSION_CHARACTERS + Math.max(0, ...told.map((one) => one?.length ?? 0));
  return version === undefined || version.length <= most ? version : NO_SUCH_VERSION;
}

/** The memory of a version that is longer than any that was told without the caller's doing, in bytes; others have none to speak of. */
export function bytesOfLongVersion(version: string | undefined): number {
  return version === undefined || version.length <= MAX_VERSION_CHARACTERS ? 0 : 2 * version.length;
}
