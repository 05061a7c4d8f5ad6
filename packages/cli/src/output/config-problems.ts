import { isAbsolute, relative } from "node:path";
import type { ConfigProblem } from "@xdskit/client";
import type { Colors } from "./color.ts";

/** Formats problems of a bootstrap: `file:line:column`, severity and message, then the field and a hint. */
export function formatConfigProblems(problems: readonly ConfigProblem[], cwd: string, colors: Colors): string {
  return problems.map((problem) => formatProblem(problem, cwd, colors)).join("");
}

function formatProblem(problem: ConfigProblem, cwd: string, colors: Colors): string {
  const { severity, message, path, hint } = problem;
  const tone = severity === "error" ? colors.red : colors.yellow;
  const place = placeOf(problem, cwd);
  const lines = [`${place === "" ? "" : `${colors.bold(place)}: `}${tone(severity)}: ${message}`];
  if (path !== "") lines.push(`    at ${path}`);
  if (hint !== undefined) lines.push(`    ${colors.cyan("hint")}: ${hint}`);
  return `${lines.join("\n")}\n`;
}

/** `file:line:column`, which editors and terminals can open. */
function placeOf({ file, line, column }: ConfigProblem, cwd: string): string {
  return [file && shownFile(file, cwd), line, column].filter((part) => part !== undefined).join(":");
}

function shownFile(file: string, cwd: string): string {
  if (!isAbsolute(file)) return file;
  const shown = relative(cwd, file);
  return shown.startsWith("..") || isAbsolute(shown) ? file : shown;
}
