/** Replaces a secret text. */
export const REDACTED = "[redacted]";

// What the words of a key say of its value: a secret, unless the last word says that it is something about one.
const SECRET_WORDS =
  /authorization|cookie|api_?key|access_?key(?!_?id)|secret|passw(?:or)?d|passphrase|token|private_?key|hmac_?key|json_?key|ticket_?key|credential|signing_?key|encryption_?key/;
const ABOUT_A_SECRET =
  /(?:^|_)(?:name|endpoint|ur[il]|bucket|type|header|interval|lifetime|ttl|path|file|filename|cluster|prefix|algorithm|enabled|format|required|timeout|refill|fill)$/;
/** Keys of objects whose members have keys of their own. */
const GROUPS_SECRETS = /credentials?$/;
/** Keys of a secret given in place. */
const INLINE: ReadonlySet<string> = new Set(["inline_string", "inline_bytes"]);
// Keys that only say where a secret is; operators need to see them.
const PLACES: ReadonlySet<string> = new Set(["filename", "environment_variable", "watched_directory"]);
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** Whether the value of a header is a secret. */
export function isSecretHeader(name: string): boolean {
  return SECRET_WORDS.test(wordsOf(name));
}

/** Whether the value of a key in untyped configuration is a secret. */
function isSecretKey(key: string): boolean {
  const words = wordsOf(key);
  return SECRET_WORDS.test(words) && !ABOUT_A_SECRET.test(words);
}

/** Whether a field with that name says where a secret is, not what it is. */
export function isPlaceOfSecret(name: string): boolean {
  return PLACES.has(name);
}

/** Whether a text contains a private key in PEM. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text);
}

/**
 * Returns JSON of unknown meaning in which the values of keys that name secrets are replaced, and every text with a
 * private key; the same value if there are none. `isSecret`: all texts and numbers in it are replaced. `isGroup`: it is
 * what a key such as `credentials` holds.
 */
export function redactJson(value: unknown, isSecret = false, isGroup = false): unknown {
  if (typeof value === "string") return (isSecret && value !== "") || holdsPrivateKey(value) ? REDACTED : value;
  if (typeof value === "number" && isSecret) return REDACTED;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const elements = value.map((element) => redactJson(element, isSecret, isGroup));
    return elements.some((element, index) => element !== value[index]) ? elements : value;
  }
  const entries = Object.entries(value);
  // A reference to a secret that is served elsewhere is none by itself; how to get there may hold one.
  const isReference = entries.some(([key]) => wordsOf(key) === "sds_config");
  const isSecretPair = entries.some(([key, name]) => key === "key" && typeof name === "string" && isSecretHeader(name));
  const shown = entries.map(([key, member]): [string, unknown] => [
    key,
    redactMember(
      key,
      member,
      (isSecret && !isReference) || (isSecretPair && key !== "key") || (isGroup && INLINE.has(wordsOf(key))),
    ),
  ]);
  return shown.some(([, member], index) => member !== entries[index]?.[1]) ? Object.fromEntries(shown) : value;
}

function redactMember(key: string, member: unknown, isSecret: boolean): unknown {
  if (isPlaceOfSecret(wordsOf(key))) return member;
  if (!isSecretKey(key)) return redactJson(member, isSecret);
  // A password of digits is a number to YAML.
  if (typeof member === "number" && !key.endsWith("s")) return REDACTED;
  const isGroup = typeof member === "object" && GROUPS_SECRETS.test(wordsOf(key));
  // A plural is a count.
  if (typeof member === "number") return isSecret ? REDACTED : member;
  return redactJson(member, isSecret || !isGroup, isGroup);
}

/** `clientSecret` and `client-secret` as `client_secret`. */
function wordsOf(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}
