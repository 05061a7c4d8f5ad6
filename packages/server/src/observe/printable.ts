const MAX_CHARACTERS = 4096;

// Control characters, what turns the direction of text and what has no width: printed as they are, they would change
// what the operator sees or what the terminal does.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

// A client quotes what it refuses (client-behaviours A14), and what it refuses may be a Secret. Line ends may be escaped.
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const SECRET_FIELD =
  /\b(private_key|password|passphrase|session_ticket_keys|inline_bytes|inline_string|generic_secret|client_secret|access_token|api_key|secret_access_key|hmac_secret|token_secret)("?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;}\]{]+)/g;

/**
 * Makes client text safe to print and keep: at most 4096 characters, invisible ones escaped (`\u{…}`, line ends as
 * `\n`), private keys and the like replaced by "[redacted]" (A14, H2).
 */
export function printable(text: string, maxCharacters: number = MAX_CHARACTERS): string {
  // Text far beyond the cut is skipped: a message may be a megabyte.
  const near = text.length > maxCharacters * 4 ? text.slice(0, maxCharacters * 4) : text;
  const clean = redactText(near).replace(INVISIBLE, escapeCharacter);
  if (clean.length <= maxCharacters && near === text) return clean;
  return `${clean.slice(0, maxCharacters - MARK.length).replace(/[\uD800-\uDBFF]$/, "")}${MARK}`;
}

/** Makes the reason of a rejection printable, without a trailing line end. */
export function printableReason(reason: string, maxCharacters: number = MAX_CHARACTERS): string {
  return printable(reason.trimEnd(), maxCharacters);
}

const MARK = "… (cut)";

/** Replaces private keys and the values of secret fields. */
export function redactText(text: string): string {
  return text.replace(PRIVATE_KEY, "[redacted]").replace(SECRET_FIELD, "$1$2[redacted]");
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
