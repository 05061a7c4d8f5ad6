import { yamlTokensIn } from "@xdskit/envoy-api/internal";
import type { CST, Document, YAMLError } from "yaml";
import type { TextTrouble } from "./parsed-text.ts";

/** The mistakes that the YAML reader found, in our own words, once per line. */
export function mistakesOf(
  document: Document.Parsed,
  text: string,
  tokens: readonly CST.Token[],
): readonly TextTrouble[] {
  const mistakes: TextTrouble[] = [];
  const lines = new Set<number>();
  for (const error of [...document.errors, ...document.warnings]) {
    const line = text.lastIndexOf("\n", error.pos[0]);
    if (lines.has(line) && error.code !== "DUPLICATE_KEY") continue;
    lines.add(line);
    const mayBeOpen = (error.code === "MISSING_CHAR" && !isSpace(error.message)) || error.code === "BAD_INDENT";
    const opened = mayBeOpen ? findUnclosed(tokens, error.pos[0]) : undefined;
    mistakes.push(opened === undefined ? explain(error, text) : explainUnclosed(opened, text));
  }
  return mistakes;
}

/** Rewords an error, because the reader's text may quote a secret. */
function explain(error: YAMLError, text: string): TextTrouble {
  const offset = error.pos[0];
  const trouble = (message: string, hint?: string): TextTrouble =>
    hint === undefined ? { code: "YAML_SYNTAX", offset, message } : { code: "YAML_SYNTAX", offset, message, hint };
  switch (error.code) {
    case "DUPLICATE_KEY":
      return {
        code: "YAML_KEY_DUPLICATE",
        offset,
        message: `expected each key once in a mapping, got ${shownKey(keyAt(text, offset))} again`,
        hint: "put everything under one key, or remove one of them",
      };
    case "TAG_RESOLVE_FAILED":
      return {
        code: "YAML_TAG",
        offset,
        message: "expected no tag, or one of the core schema such as !!str",
        hint: "remove the tag; bytes are written as a base64 string",
      };
    case "TAB_AS_INDENT":
      return trouble("expected spaces as indentation, got a tab", "replace tabs by spaces");
    case "BAD_SCALAR_START":
      return text[offset] === "@"
        ? trouble('expected a key or value, got "@"', 'write "@type" in quotes')
        : trouble("expected a value, got a character that YAML reserves", "put the value in quotes");
    case "MISSING_CHAR":
      return trouble(...missing(error.message));
    case "BLOCK_AS_IMPLICIT_KEY":
      return trouble(
        'expected one key on this line, got a second ":"',
        'put a value that holds ": " in quotes; begin a nested mapping on a line of its own',
      );
    case "BAD_INDENT":
      return trouble("expected the same indentation as the lines it belongs to");
    case "MULTILINE_IMPLICIT_KEY":
      return trouble(...missingColon);
    case "BAD_DQ_ESCAPE":
      return trouble("expected a known escape after the backslash", "write \\\\ for a backslash, or use single quotes");
    case "UNEXPECTED_TOKEN":
      return trouble("expected the value to end before this", "something is missing before it, or it is too much");
    case "BAD_ALIAS":
      return trouble("expected a value, got an alias without a name", 'write "*" in quotes: a bare * begins an alias');
    default:
      return trouble(`expected YAML that can be read: ${lowerFirst(error.message.replace(/:.*$/su, ""))}`);
  }
}

/** A key for display if it is an ordinary one; any other text may be a misplaced secret. */
export function shownKey(key: string): string {
  return /^[\w@.-]{1,64}$/.test(key) ? `"${key}"` : "one";
}

function keyAt(text: string, offset: number): string {
  return /^["']?([^"':\n]*)/.exec(text.slice(offset, offset + 80))?.[1]?.trim() ?? "";
}

function explainUnclosed(offset: number, text: string): TextTrouble {
  const opened = text[offset] === "'" ? "single quote" : text[offset] === '"' ? "double quote" : `"${text[offset]}"`;
  return { code: "YAML_SYNTAX", offset, message: `expected the ${opened} that is opened here to be closed` };
}

const missingColon = [
  'expected ":" after a key on the same line',
  "a colon or a space after it is missing, or the indentation of the next line is wrong",
] as const;

/** Message and hint by the beginning of the reader's text, where that does not name the character before its place. */
const missingByText: readonly (readonly [start: string, explained: readonly [message: string, hint?: string]])[] = [
  ["Implicit map keys", missingColon],
  ["Comments must be separated", ['expected a space before "#"']],
  ["Tags and anchors must be separated", ["expected a space after a tag or an anchor"]],
];

/** Whether the missing character is a space, and thus nothing that closes a quote or a bracket. */
function isSpace(text: string): boolean {
  return text.includes("must be separated");
}

function missing(text: string): readonly [message: string, hint?: string] {
  const explained = missingByText.find(([start]) => text.startsWith(start))?.[1];
  if (explained !== undefined) return explained;
  const character = /[\]},:]/.exec(text)?.[0];
  return [
    character === undefined ? "expected a character that is missing here" : `expected "${character}" before this`,
  ];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The start of an unclosed quote or bracket; the reader only reports where the closing one is missing. */
function findUnclosed(tokens: readonly CST.Token[], missedAt: number): number | undefined {
  let innermost: number | undefined;
  for (const { token } of yamlTokensIn(tokens)) {
    if (token.type === "double-quoted-scalar" || token.type === "single-quoted-scalar") {
      if (token.offset < missedAt && token.offset + token.source.length === missedAt) return token.offset;
    } else if (token.type === "flow-collection" && token.offset < missedAt) {
      const isClosed = token.end.some(({ type }) => type === "flow-seq-end" || type === "flow-map-end");
      if (!isClosed) innermost = Math.max(innermost ?? 0, token.offset);
    }
  }
  return innermost;
}
