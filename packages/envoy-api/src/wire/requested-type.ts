import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { WireError } from "./wire-error.ts";

/** The longest type URL of a request: a stream keeps each type that it asked for, known or not. */
const MAX_TYPE_CHARACTERS = 1_024;

/**
 * Parses the type URL of a request; undefined: there is none.
 *
 * @throws {WireError} if it is too long
 */
export function parseRequestedType(text: string): TypeUrl | undefined {
  if (text.length > MAX_TYPE_CHARACTERS)
    throw new WireError(`type URL of ${text.length} characters, at most ${MAX_TYPE_CHARACTERS}`);
  return parseTypeUrl(text);
}
