import { maxNesting, parseYamlTokens, type YamlTokens } from "@xdskit/envoy-api/internal";
import { type CST, Lexer, Parser } from "yaml";

/** Splits YAML into tokens, or tells where it is nested too deeply. Call it before composing the document. */
export function yamlTokens(text: string): YamlTokens<CST.Token> {
  return parseYamlTokens(text, { lexer: new Lexer(), parser: new Parser() });
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
