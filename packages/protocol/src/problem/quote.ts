// Control characters, bidirectional controls and zero-width characters: printed unchanged, they would change what the
// operator sees or what the terminal does.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Quotes a text, cut to 100 characters, with invisible characters as `\u{…}`. */
export function quote(text: string): string {
  const cut = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return `"${escapeInvisible(cut.replaceAll('"', '\\"'))}"`;
}

/** Writes invisible characters as `\u{…}`. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
