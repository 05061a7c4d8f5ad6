import { maxNesting } from "@xdskit/envoy-api/internal";
import { CST, Lexer, Parser } from "yaml";

/** The tokens of a text of YAML, or the offset at which it exceeds the nesting limit. */
export type YamlTokens =
  | { readonly tokens: readonly CST.Token[]; readonly deepAt: undefined }
  | { readonly tokens: undefined; readonly deepAt: number };

/** More open collections than any text has that is within the limit. */
const MOST_OPEN = 2 * maxNesting;

/** The message of a text or value that exceeds the nesting limit. */
export const tooDeep: string = `expected at most ${maxNesting} levels of nesting, got more`;

/**
 * Splits YAML into tokens. Call it before composing the document: composing recurses, and a regular expression on a nearly
 * full stack aborts the process. Brackets are counted while lexing: a million of them would take gigabytes.
 */
export function yamlTokens(text: string): YamlTokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let brackets = 0;
  let indicators = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === "[" || lexeme === "{") brackets++;
    else if (lexeme === "]" || lexeme === "}") brackets--;
    // `- - - x` nests on one line without brackets.
    indicators = nextIndicators(indicators, lexeme);
    if (Math.max(brackets, indicators) > maxNesting) return { tokens: undefined, deepAt: parser.offset };
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MOST_OPEN) return { tokens: undefined, deepAt: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  const deepAt = findDeepToken(tokens);
  return deepAt === undefined ? { tokens, deepAt } : { tokens: undefined, deepAt };
}

/** Whether a JSON value exceeds the nesting limit. */
export function isDeep(value: unknown): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth } = next;
    if (depth > maxNesting) return true;
    if (typeof next.value !== "object" || next.value === null) continue;
    for (const inner of Object.values(next.value)) waiting.push({ value: inner, depth: depth + 1 });
  }
  return false;
}

function nextIndicators(indicators: number, lexeme: string): number {
  if (lexeme === "-" || lexeme === "?" || lexeme === ":") return indicators + 1;
  return lexeme.trim() !== "" || lexeme.includes("\n") ? 0 : indicators;
}

function findDeepToken(tokens: readonly CST.Token[]): number | undefined {
  const waiting = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { token, depth } = next;
    if (depth > maxNesting) return "offset" in token ? token.offset : 0;
    for (const inner of innerTokens(token)) waiting.push({ token: inner, depth: depth + 1 });
  }
  return undefined;
}

function innerTokens(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (!CST.isCollection(token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}
