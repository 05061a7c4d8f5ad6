import type { ParsedText, TextTrouble } from "./parsed-text.ts";

const BEGIN = /^<{7}(?=[ \r\n])/gm;
/** The limit of conflicts that are reported. */
const MOST = 20;

/**
 * The content of a text, with the conflicts that git left in it in place of the syntax errors that come from them. Git's lines
 * in a text that can be read are content.
 */
export function namingConflicts(text: string, { documents, troubles }: ParsedText): ParsedText {
  const syntax = troubles.find(({ code }) => code === "YAML_SYNTAX" || code === "JSON_SYNTAX");
  if (syntax === undefined) return { documents, troubles };
  const conflicts: TextTrouble[] = [];
  for (const { index } of text.matchAll(BEGIN)) {
    if (conflicts.length === MOST) break;
    conflicts.push({
      code: syntax.code,
      offset: index,
      message: "expected one version of these lines, got both sides of a conflict that git left",
      hint: "keep one of them, or join them, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
    });
  }
  return conflicts.length === 0 ? { documents, troubles } : { documents, troubles: conflicts };
}
