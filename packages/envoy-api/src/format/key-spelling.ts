/**
 * Whether a key is spelled as in ProtoJSON, `connectTimeout`, or as in proto, `connect_timeout`; undefined: a single word
 * does not say.
 */
export function isJsonSpelling(key: string | number): boolean | undefined {
  if (/^[a-z][a-z0-9]*[A-Z]/.test(String(key))) return true;
  return /^[a-z][a-z0-9]*_[a-z0-9]/.test(String(key)) ? false : undefined;
}

/** The name of a field in ProtoJSON. */
export function toJsonSpelling(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
