import { CST, Lexer, Parser } from "yaml";

/** The nesting limit: no bootstrap is deeper, and protobuf stops at 100 messages. */
export const MAX_NESTING = 200;

/**
 * The offset at which YAML exceeds the nesting limit; undefined if it does not. Call it before composing the document:
 * composing recurses, and a regular expression on a nearly full stack aborts the process.
 */
export function findDeepText(text: string): number | undefined {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let brackets = 0;
  let indicators = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === "[" || lexeme === "{") brackets++;
    else if (lexeme === "]" || lexeme === "}") brackets--;
    // `- - - x` nests on one line without brackets.
    indicators = nextIndicators(indicators, lexeme);
    if (Math.max(brackets, indicators) > MAX_NESTING) return parser.offset;
    tokens.push(...parser.next(lexeme));
  }
  tokens.push(...parser.end());
  return findDeepToken(tokens);
}

/** Whether a JSON value exceeds the nesting limit. */
export function isDeep(value: unknown): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth } = next;
    if (depth > MAX_NESTING) return true;
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
    if (depth > MAX_NESTING) return "offset" in token ? token.offset : 0;
    for (const inner of innerTokens(token)) waiting.push({ token: inner, depth: depth + 1 });
  }
  return undefined;
}

function innerTokens(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (!CST.isCollection(token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}
