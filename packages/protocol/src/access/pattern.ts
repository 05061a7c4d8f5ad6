/** What the captures of a pattern stand for. */
export type Bindings = ReadonlyMap<string, string>;

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "any" }
  | { readonly kind: "capture"; readonly name: string };

/** A pattern with `*` and `{captures}`, in its parts. */
export type Pattern = readonly Part[];

const PARTS = /\*|\{([A-Za-z_][A-Za-z0-9_]*)\}|[^*{}]+/gy;

/** Splits a pattern into its parts; undefined where a brace has no counterpart or holds no name. */
export function parsePattern(text: string): Pattern | undefined {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(PARTS)) {
    const [all, name] = match;
    end = match.index + all.length;
    if (name !== undefined) parts.push({ kind: "capture", name });
    else parts.push(all === "*" ? { kind: "any" } : { kind: "text", text: all });
  }
  return end === text.length ? parts : undefined;
}

/** The text that is all that a pattern matches; undefined: it has a `*` or a capture. */
export function literalOf(pattern: Pattern): string | undefined {
  return pattern.every(({ kind }) => kind === "text") ? textOf(pattern) : undefined;
}

export function capturesIn(pattern: Pattern): readonly string[] {
  return pattern.flatMap((part) => (part.kind === "capture" ? [part.name] : []));
}

/**
 * Whether a text matches, where `*` is any run of characters and a capture is what it is bound to. The text may come
 * from a client, so the cost is at most the product of the lengths.
 */
export function matchesPattern(pattern: Pattern, bindings: Bindings, text: string): boolean {
  const [first = "", ...others] = literalsOf(pattern, bindings);
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const literal of others) {
    const found = text.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** The texts between the `*` of a pattern. */
function literalsOf(pattern: Pattern, bindings: Bindings): readonly string[] {
  const literals = [""];
  for (const part of pattern) {
    if (part.kind === "any") literals.push("");
    else {
      const text = part.kind === "text" ? part.text : (bindings.get(part.name) ?? "");
      literals.push((literals.pop() ?? "") + text);
    }
  }
  return literals;
}

/**
 * Binds the captures of segment patterns to the segments of a name; undefined if it does not match. `*` and a capture
 * stand for one or more characters of one segment.
 */
export function bindSegments(patterns: readonly Pattern[], segments: readonly string[]): Bindings | undefined {
  if (patterns.length !== segments.length) return undefined;
  const bindings = new Map<string, string>();
  for (const [index, pattern] of patterns.entries()) {
    const segment = segments[index] ?? "";
    const open = pattern.findIndex(({ kind }) => kind !== "text");
    const before = textOf(pattern.slice(0, open === -1 ? pattern.length : open));
    if (open === -1) {
      if (segment !== before) return undefined;
      continue;
    }
    const after = textOf(pattern.slice(open + 1));
    const length = segment.length - before.length - after.length;
    if (length < 1 || !segment.startsWith(before) || !segment.endsWith(after)) return undefined;
    const part = pattern[open];
    if (part?.kind !== "capture") continue;
    const value = segment.slice(before.length, before.length + length);
    if ((bindings.get(part.name) ?? value) !== value) return undefined;
    bindings.set(part.name, value);
  }
  return bindings;
}

function textOf(parts: Pattern): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}
