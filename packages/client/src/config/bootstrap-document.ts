import { resolveJsonPath } from "@xdskit/envoy-api";
import { nestedTooDeep, yamlLimits } from "@xdskit/envoy-api/internal";
import { formatPath, type ValuePath } from "@xdskit/protocol/internal";
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { ConfigProblem } from "../error.ts";
import { isDeep, yamlTokens } from "./nesting.ts";
import type { PlacedProblem } from "./problems.ts";

/** A bootstrap as a JSON value, with the positions of its parts. */
export interface BootstrapDocument {
  readonly value: unknown;
  /** Problems of the text itself. With errors, `value` is undefined. */
  readonly problems: readonly ConfigProblem[];
  /** Adds file, line and column to a problem. */
  locate(problem: PlacedProblem): ConfigProblem;
}

type Position = Pick<ConfigProblem, "line" | "column">;

/** Parses YAML, which includes JSON. Does not throw. */
export function parseBootstrap(text: string, file: string | undefined): BootstrapDocument {
  const lines = new LineCounter();
  if (text.length > yamlLimits.characters)
    return failed(textProblem(`expected at most ${yamlLimits.characters} characters, got ${text.length}`, file));
  try {
    const { tooDeepAt } = yamlTokens(text);
    if (tooDeepAt !== undefined) return failed(textProblem(nestedTooDeep, file, placeOf(text, tooDeepAt)));
    const document = parseDocument(text, { lineCounter: lines, merge: true, logLevel: "error" });
    const problems = document.errors.slice(0, yamlLimits.mistakes).map((error): ConfigProblem => {
      const start = lines.linePos(error.pos[0]);
      const hint = error.code === "MULTIPLE_DOCS" ? "leave out lines of nothing but `...` or `---`" : undefined;
      return textProblem(mistakeIn(error.message), file, { line: start.line, column: start.col }, hint);
    });
    if (problems.length > 0) return failed(...problems);
    return documentOf(document.toJS({ maxAliasCount: yamlLimits.aliasedValues }), file, (path) =>
      positionIn(document, lines, path),
    );
  } catch (error) {
    return failed(textProblem(mistakeIn(messageOf(error)), file));
  }
}

/** A document that cannot be read, with its problems. */
export function failed(...problems: readonly ConfigProblem[]): BootstrapDocument {
  return { value: undefined, problems, locate: (problem) => locate(problem, undefined, undefined, () => ({})) };
}

/** A bootstrap that has no lines of text. */
export function documentOf(
  value: unknown,
  file: string | undefined,
  positionOf: (path: ValuePath) => Position = () => ({}),
): BootstrapDocument {
  try {
    if (isDeep(value)) return failed(textProblem(nestedTooDeep, file));
    // A JavaScript value may contain functions, cycles or invalid Unicode; this leaves plain JSON.
    const json = JSON.stringify(value);
    const plain: unknown = json === undefined ? undefined : JSON.parse(json);
    return { value: plain, problems: [], locate: (problem) => locate(problem, plain, file, positionOf) };
  } catch (error) {
    return failed(textProblem(`expected a JSON value: ${messageOf(error)}`, file));
  }
}

/** A problem of a whole text, or of a position in it. */
export function textProblem(
  message: string,
  file: string | undefined,
  position: Position = {},
  hint?: string,
): ConfigProblem {
  return {
    severity: "error",
    message,
    ...(hint !== undefined && { hint }),
    ...(file !== undefined && { file }),
    ...position,
    path: "",
  };
}

/** The first line of an error; the others quote the source. */
export function messageOf(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}

/** Removes quotations of the text, which may be secret. */
function mistakeIn(message: string): string {
  const [words = ""] = message.replace(/ at line \d+, column \d+/u, "").split(/[:\n]/u);
  return `expected YAML or JSON that can be read: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

function placeOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

function locate(
  { severity, message, hint, path }: PlacedProblem,
  value: unknown,
  file: string | undefined,
  positionOf: (path: ValuePath) => Position,
): ConfigProblem {
  const resolved = resolveJsonPath(value, path);
  return {
    severity,
    message,
    ...(hint !== undefined && { hint }),
    ...(file !== undefined && { file }),
    ...positionOf(resolved),
    path: formatPath(resolved),
  };
}

/** The position of a scalar, or of the key of any other value; if it is missing, of the value around it. */
function positionIn(document: Document, lines: LineCounter, path: ValuePath): Position {
  let node: unknown = document.contents;
  let shown: unknown = node;
  for (const segment of path) {
    const step = stepInto(isAlias(node) ? node.resolve(document) : node, segment);
    if (step === "stay") continue;
    if (step === undefined) break;
    node = step.value;
    shown = step.key !== undefined && !isScalar(node) ? step.key : node;
  }
  const offset = isNode(shown) ? (shown as Node).range?.[0] : undefined;
  if (offset === undefined) return {};
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function stepInto(
  node: unknown,
  segment: string | number,
): { readonly key: unknown; readonly value: unknown } | "stay" | undefined {
  if (isSeq(node)) {
    const value = typeof segment === "number" ? node.items[segment] : undefined;
    return value === undefined ? undefined : { key: undefined, value };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
  if (pair !== undefined) return { key: pair.key, value: pair.value ?? pair.key };
  // One object instead of a list (C-CFG-03).
  return segment === 0 ? "stay" : undefined;
}
