// East Asian wide and fullwidth characters, and emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** The number of terminal columns that a text without control characters takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
