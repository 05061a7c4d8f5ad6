/** A metric in an expression, and the matchers in its braces. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

/** What an expression of PromQL refers to. */
export interface References {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly labels: readonly string[];
  readonly functions: readonly string[];
}

const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[a-zA-Z_:$][\w:]*|\d[\w.]*|[=!]~|[=!<>]=|[-+*/%^<>=(){},]/y;
const WORDS = new Set(["and", "or", "unless", "offset", "bool"]);
const GROUPINGS = new Set(["by", "without", "on", "ignoring", "group_left", "group_right"]);

/** Reads as much of PromQL as rules and boards use; throws on anything else, and on brackets that do not match. */
export function referencesIn(expression: string): References {
  const tokens = tokensOf(expression);
  const selectors: Selector[] = [];
  const labels: string[] = [];
  const functions: string[] = [];
  let depth = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? "";
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (depth < 0 || token === "{" || token === "}") throw new Error(`unexpected ${token} in ${expression}`);
    if (!/^[a-z_:]/i.test(token) || WORDS.has(token)) continue;
    if (GROUPINGS.has(token)) {
      const end = tokens.indexOf(")", at);
      labels.push(...tokens.slice(at + 2, end).filter((one) => one !== ","));
      at = end;
    } else if (tokens[at + 1] === "{") {
      const end = tokens.indexOf("}", at);
      selectors.push({ metric: token, matchers: matchersIn(tokens.slice(at + 2, end)) });
      at = end;
    } else if (tokens[at + 1] === "(" || GROUPINGS.has(tokens[at + 1] ?? "")) functions.push(token);
    else selectors.push({ metric: token, matchers: [] });
  }
  if (depth !== 0) throw new Error(`brackets do not match in ${expression}`);
  return { selectors, labels, functions };
}

function tokensOf(expression: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const from = TOKEN.lastIndex;
    const [token] = TOKEN.exec(expression) ?? [];
    if (token === undefined) throw new Error(`cannot read ${expression.slice(from)}`);
    if (token.trim() !== "") tokens.push(token);
  }
  return tokens;
}

function matchersIn(tokens: readonly string[]): Selector["matchers"] {
  const matchers = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [label = "", operator = "", value = "", comma = ","] = tokens.slice(at, at + 4);
    if (!/^(=|!=|=~|!~)$/.test(operator) || comma !== ",") throw new Error(`cannot read ${tokens.join(" ")}`);
    matchers.push({ label, operator, value: JSON.parse(value) as string });
  }
  return matchers;
}
