/** More than any version that a client can have been told, beyond what the caller set of it: the rest is a digest. */
const MAX_VERSION_CHARACTERS = 256;
/** No response has this version. */
const NO_SUCH_VERSION = "";

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
