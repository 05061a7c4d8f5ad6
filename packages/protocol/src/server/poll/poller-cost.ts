import { bytesOfText, lengthOf } from "../memory/value-cost.ts";
import type { NameList } from "../subscription/names.ts";

/**
 * What a remembered poller costs, in bytes of heap: upper bounds of what `xds serve` was seen to keep, with everything
 * that it keeps elsewhere (docs/decisions/0127).
 */
const POLLER_BYTES = 3_072;
const NAME_BYTES = 128;
/** A missing name has an error of its own in responses that report it. */
const MISSING_NAME_BYTES = 512;

/** The cost of a poller, without its node and the names that it asks for. */
export function bytesOfPoller(key: string, error: string | undefined): number {
  return POLLER_BYTES + bytesOfText(key) + (error === undefined ? 0 : bytesOfText(error));
}

/** The cost of names that are asked for, any of which may be missing. */
export function bytesOfNames(names: NameList, reportsMissing: boolean): number {
  let bytes = 0;
  for (const name of names) bytes += lengthOf(name);
  return bytes + names.size * (reportsMissing ? NAME_BYTES + MISSING_NAME_BYTES : NAME_BYTES);
}
