import { type Context, createContext, Script } from "node:vm";

/** A pattern of a peer may be made to take for ever; what takes longer than this is refused. */
const LONGEST_MS = 250;
const LONGEST_PATTERN = 1_000;

/** A regular expression that cannot be used; the message says why, for the peer. */
export class RegexError extends Error {
  override readonly name = "RegexError";
}

const script = new Script("regex.test(text)");

/**
 * Whether a regular expression of a peer matches whole texts. Throws a `RegexError` for one that is none, and the function that
 * it returns throws one for a text that takes too long.
 */
export function compileRegex(pattern: string): (text: string) => boolean {
  if (pattern === "") throw new RegexError("expected a regular expression, got nothing");
  if (pattern.length > LONGEST_PATTERN) {
    throw new RegexError(
      `expected a regular expression of ${LONGEST_PATTERN} characters at most, got ${pattern.length}`,
    );
  }
  const context = createContext({ regex: parse(pattern), text: "" });
  return (text) => isMatch(context, text);
}

function parse(pattern: string): RegExp {
  try {
    new RegExp(pattern, "u"); // alone, so that it cannot close the group it is put into
    return new RegExp(`^(?:${pattern})$`, "u");
  } catch (cause) {
    throw new RegexError(`expected a regular expression, got ${JSON.stringify(pattern.slice(0, 100))}`, { cause });
  }
}

function isMatch(context: Context, text: string): boolean {
  context["text"] = text;
  try {
    return script.runInContext(context, { timeout: LONGEST_MS }) === true;
  } catch (cause) {
    throw new RegexError(`a regular expression takes longer than ${LONGEST_MS} ms`, { cause });
  }
}
