import { escapeInvisible } from "@xdskit/protocol/internal";
import { columnInExcerpt, type Problem, problemCounts } from "@xdskit/source";
import type { Colors } from "./color.ts";

// East Asian wide and fullwidth characters, and emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Formats problems: place, severity, message and code, then the source line, the field and a hint. */
export function formatProblems(problems: readonly Problem[], directory: string, colors: Colors): string {
  return problems.map((problem) => formatProblem(problem, directory, colors)).join("");
}

function formatProblem(problem: Problem, directory: string, colors: Colors): string {
  const { severity, message, code, path, hint, related } = problem;
  const tone = severity === "error" ? colors.red : colors.yellow;
  const lines = [
    `${colors.bold(placeOf(problem, directory))}: ${tone(severity)}: ${message} ${colors.dim(`[${code}]`)}`,
  ];
  lines.push(...excerptOf(problem, colors));
  if (path !== undefined && path !== "") lines.push(`    at ${path}`);
  if (related !== undefined) lines.push(`    see ${placeOf(related, directory)}`);
  if (hint !== undefined) lines.push(`    ${colors.cyan("hint")}: ${hint}`);
  return `${lines.join("\n")}\n`;
}

function excerptOf({ excerpt, line, column }: Problem, colors: Colors): readonly string[] {
  if (excerpt === undefined || line === undefined) return [];
  const margin = `${line}`.padStart(6);
  const mark =
    column === undefined
      ? []
      : [`${" ".repeat(margin.length)} | ${" ".repeat(displayWidth(excerpt.slice(0, columnInExcerpt(column) - 1)))}^`];
  return [`${margin} | ${excerpt}`, ...mark].map((text) => colors.dim(text));
}

/** The number of terminal columns that a text without control characters takes. */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** `directory/file:line:column`, which editors and terminals can open. */
function placeOf({ file, line, column }: Pick<Problem, "file" | "line" | "column">, directory: string): string {
  return [escapeInvisible(pathOf(file, directory)), line, column].filter((part) => part !== undefined).join(":");
}

/** Formats problems as workflow commands of GitHub Actions, which annotate the changed lines. */
export function formatGithubProblems(problems: readonly Problem[], directory: string): string {
  return problems
    .map(({ severity, file, line, column, code, message, hint }) => {
      const place = [
        `file=${escapeProperty(pathOf(file, directory))}`,
        ...(line === undefined ? [] : [`line=${line}`]),
        ...(column === undefined ? [] : [`col=${column}`]),
        `title=${escapeProperty(code)}`,
      ];
      return `::${severity} ${place.join(",")}::${escapeData(hint === undefined ? message : `${message} (${hint})`)}\n`;
    })
    .join("");
}

/** A file's path with the path of the directory as the caller named it. */
function pathOf(file: string, directory: string): string {
  if (file === ".") return directory;
  return directory === "." ? file : `${directory}/${file}`;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** "2 errors, 1 warning"; "no problems". */
export function countProblems(problems: readonly Problem[]): string {
  const { errors, warnings } = problemCounts(problems);
  const parts = [
    ...(errors > 0 ? [plural(errors, "error")] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
  ];
  return parts.length === 0 ? "no problems" : parts.join(", ");
}

/** "1 file", "2 files". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
