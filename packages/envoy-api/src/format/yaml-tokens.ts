import { maxNesting } from "./text-limits.ts";

/** What is read of a token of the YAML parser from npm, which this package does not depend on. */
export interface NestedToken<T> {
  readonly type: string;
  readonly offset?: number;
  /** The contents of a document. */
  readonly value?: T;
  /** The entries of a mapping or a sequence. */
  readonly items?: readonly { readonly key?: T | null; readonly value?: T }[];
}

/** Lexer and parser of npm, new for each text. */
export interface YamlParser<T> {
  readonly lexer: { lex(text: string): Iterable<string> };
  readonly parser: {
    readonly offset: number;
    readonly stack: readonly unknown[];
    next(lexeme: string): Iterable<T>;
    end(): Iterable<T>;
  };
}

/** The tokens of a text, or where it is nested too deeply. */
export type YamlTokens<T> =
  | { readonly tokens: readonly T[]; readonly tooDeepAt: undefined }
  | { readonly tokens: undefined; readonly tooDeepAt: number };

/** More open collections than any text has that is not nested too deeply. */
const MOST_OPEN = 2 * maxNesting;

/**
 * The tokens of a text, unless it is nested too deeply. This is checked before composing, because composing recurses
 * and V8 aborts the process when a regular expression meets a nearly full stack. Brackets are counted even before
 * parsing, because a million of them take gigabytes, and so is `- - - x`, which nests on one line without brackets.
 * Parsing recurses, too, to close what is open: lines of a flow sequence without indentation are mappings in each other
 * to it.
 */
export function parseYamlTokens<T extends NestedToken<T>>(
  text: string,
  { lexer, parser }: YamlParser<T>,
): YamlTokens<T> {
  const tokens: T[] = [];
  let brackets = 0;
  let indicators = 0;
  for (const lexeme of lexer.lex(text)) {
    if (lexeme === "[" || lexeme === "{") brackets++;
    else if (lexeme === "]" || lexeme === "}") brackets--;
    else if (lexeme === "-" || lexeme === "?" || lexeme === ":") indicators++;
    else if (lexeme.trim() !== "" || lexeme.includes("\n")) indicators = 0;
    if (Math.max(brackets, indicators) > maxNesting) return { tokens: undefined, tooDeepAt: parser.offset };
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MOST_OPEN) return { tokens: undefined, tooDeepAt: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  for (const { token, depth } of yamlTokensIn(tokens)) {
    if (depth > maxNesting) return { tokens: undefined, tooDeepAt: token.offset ?? 0 };
  }
  return { tokens, tooDeepAt: undefined };
}

/** All tokens of a text with their nesting depth. Does not recurse. */
export function* yamlTokensIn<T extends NestedToken<T>>(
  tokens: readonly T[],
): Generator<{ readonly token: T; readonly depth: number }> {
  const waiting = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    const { token, depth } = next;
    if (token.value !== undefined) waiting.push({ token: token.value, depth });
    for (const { key, value } of token.items ?? []) {
      if (key != null) waiting.push({ token: key, depth: depth + 1 });
      if (value !== undefined) waiting.push({ token: value, depth: depth + 1 });
    }
  }
}
