import { CST } from "yaml";

/** All tokens of a text with their nesting depth. Does not recurse. */
export function* tokensIn(tokens: readonly CST.Token[]): Generator<{ token: CST.Token; depth: number }> {
  const waiting = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    const { token, depth } = next;
    if (token.type === "document") {
      if (token.value !== undefined) waiting.push({ token: token.value, depth });
    } else if (CST.isCollection(token)) {
      for (const { key, value } of token.items) {
        if (key != null) waiting.push({ token: key, depth: depth + 1 });
        if (value !== undefined) waiting.push({ token: value, depth: depth + 1 });
      }
    }
  }
}
