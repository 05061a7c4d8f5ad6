/** Replaces line breaks and control characters, so that foreign text cannot control the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, " ");
}
