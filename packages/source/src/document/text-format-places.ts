import type { ValuePath } from "@xdskit/protocol/internal";

/**
 * The offset of a field in protobuf's text format, by its path in the JSON form of the message, or that of its nearest
 * ancestor that is found: maps, durations and other messages with a special JSON form are not searched. The text must
 * be valid.
 */
export function findInTextFormat(text: string, path: ValuePath): number {
  const scanner = new Scanner(text);
  let body: Body = { from: 0, to: text.length };
  let at = scanner.fieldsIn(body).next().value?.at ?? 0;
  for (let depth = 0; depth < path.length; depth++) {
    const name = path[depth];
    const next = path[depth + 1];
    const index = typeof next === "number" ? next : undefined;
    if (typeof name !== "string") return at;
    const found = scanner.fieldIn(scanner.insideAny(body), name, index);
    if (found === undefined) return at;
    if (index !== undefined) depth++;
    at = found.at;
    body = found.value;
  }
  return at;
}

/** The inside of a message, or a value. */
interface Body {
  readonly from: number;
  readonly to: number;
}

interface TextField {
  readonly name: string;
  readonly at: number;
  /** One value, or the items of a list. */
  readonly values: readonly Body[];
}

const SPACE_AND_COMMENTS = /(?:[\s,;]|#[^\n]*)*/y;
const NAME = /\[[^\]]*\]|[A-Za-z_][\w]*/y;
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/sy;
const WORD = /[^\s,;{}<>[\]#"']+/y;

class Scanner {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** An `Any` contains its message after the type in brackets, while JSON merges the fields of both. */
  insideAny(body: Body): Body {
    const first = this.fieldsIn(body).next().value;
    return first?.name.startsWith("[") === true ? (first.values[0] ?? body) : body;
  }

  fieldIn(body: Body, name: string, index: number | undefined): { at: number; value: Body } | undefined {
    let seen = 0;
    for (const field of this.fieldsIn(body)) {
      if (field.name !== name) continue;
      for (const value of field.values) {
        // Repeated fields each have a name, but the items of a list do not.
        if (seen++ !== (index ?? 0)) continue;
        return { at: index !== undefined && field.values.length > 1 ? value.from : field.at, value };
      }
    }
    return undefined;
  }

  *fieldsIn({ from, to }: Body): Generator<TextField, undefined> {
    let at = this.#skip(from);
    while (at < to) {
      const name = this.#match(NAME, at);
      if (name === undefined) return;
      let valueAt = this.#skip(at + name.length);
      if (this.#text[valueAt] === ":") valueAt = this.#skip(valueAt + 1);
      const { values, end } = this.#text[valueAt] === "[" ? this.#list(valueAt) : this.#single(valueAt);
      yield { name, at, values };
      if (end <= at) return;
      at = this.#skip(end);
    }
  }

  #list(openedAt: number): { values: readonly Body[]; end: number } {
    const values: Body[] = [];
    let at = this.#skip(openedAt + 1);
    while (at < this.#text.length && this.#text[at] !== "]") {
      const { value, end } = this.#value(at);
      if (end <= at) break;
      values.push(value);
      at = this.#skip(end);
    }
    return { values, end: at + 1 };
  }

  #single(at: number): { values: readonly Body[]; end: number } {
    const { value, end } = this.#value(at);
    return { values: [value], end };
  }

  #value(at: number): { value: Body; end: number } {
    const opening = this.#text[at];
    if (opening === "{" || opening === "<") {
      const closedAt = this.#closing(at);
      return { value: { from: this.#skip(at + 1), to: closedAt }, end: closedAt + 1 };
    }
    let end = at;
    // Adjacent strings are concatenated.
    for (let string = this.#match(STRING, end); string !== undefined; string = this.#match(STRING, this.#skip(end))) {
      end = this.#skip(end) + string.length;
    }
    if (end === at) end = at + (this.#match(WORD, at)?.length ?? 0);
    return { value: { from: at, to: end }, end };
  }

  #closing(openedAt: number): number {
    let depth = 0;
    for (let at = openedAt; at < this.#text.length; at = this.#skip(at)) {
      const character = this.#text[at];
      const string = this.#match(STRING, at);
      if (character === "{" || character === "<") depth++;
      if ((character === "}" || character === ">") && --depth === 0) return at;
      at += string?.length ?? 1;
    }
    return this.#text.length;
  }

  #skip(at: number): number {
    SPACE_AND_COMMENTS.lastIndex = at;
    SPACE_AND_COMMENTS.test(this.#text);
    return SPACE_AND_COMMENTS.lastIndex;
  }

  #match(pattern: RegExp, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0];
  }
}
