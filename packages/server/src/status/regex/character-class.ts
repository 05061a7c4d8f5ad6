import type { Cursor } from "./cursor.ts";
import { RegexError } from "./part.ts";

/** Escapes of single control characters. */
const LETTERS: Readonly<Record<string, string>> = { a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** Compiles the test of a character class from its items in JavaScript syntax. */
export function characterTest(items: string, ignoresCase: boolean): (character: string) => boolean {
  try {
    const one = new RegExp(`^${items}$`, ignoresCase ? "siu" : "su");
    return (character) => one.test(character);
  } catch (cause) {
    throw new RegexError("expected a class of characters", { cause });
  }
}

/** Compiles the test of one character. */
export function literalTest(character: string, ignoresCase: boolean): (character: string) => boolean {
  return ignoresCase ? characterTest(escaped(character), true) : (other) => other === character;
}

/** Reads an escape after `\`: one character, or class items in JavaScript syntax. */
export function readEscape(cursor: Cursor): { readonly character: string } | { readonly items: string } {
  const letter = cursor.take();
  if (letter === undefined) throw new RegexError("expected something after \\, got the end");
  if (/[dDwWsS]/.test(letter)) return { items: `\\${letter}` };
  if (letter === "p" || letter === "P") return { items: readProperty(cursor, letter) };
  if (letter === "x") return { character: readCodePoint(cursor) };
  const special = LETTERS[letter];
  if (special !== undefined) return { character: special };
  if (/[0-9A-Za-z]/.test(letter)) throw new RegexError(`\\${letter} is not known here`);
  return { character: letter };
}

function readProperty(cursor: Cursor, letter: "p" | "P"): string {
  const name = cursor.takeMatch(/\{\^?\w+\}|[A-Z]/y)?.replaceAll(/[{}]/g, "");
  if (name === undefined) throw new RegexError(`expected a name after \\${letter}`);
  const isNot = (letter === "P") !== name.startsWith("^");
  const bare = name.replace("^", "");
  const property = [bare, `Script=${bare}`].find(isProperty);
  if (property === undefined) throw new RegexError(`there are no characters ${JSON.stringify(bare)}`);
  return `\\${isNot ? "P" : "p"}{${property}}`;
}

function isProperty(name: string): boolean {
  try {
    new RegExp(`\\p{${name}}`, "u");
    return true;
  } catch {
    // Invalid syntax means no.
    return false;
  }
}

function readCodePoint(cursor: Cursor): string {
  const digits = cursor.takeMatch(/\{[0-9a-fA-F]{1,6}\}|[0-9a-fA-F]{2}/y)?.replaceAll(/[{}]/g, "");
  const code = Number.parseInt(digits ?? "", 16);
  if (!(code <= 0x10_ff_ff)) throw new RegexError("expected hexadecimal digits after \\x");
  return String.fromCodePoint(code);
}

/** Reads a character class after its `[`. */
export function readClass(cursor: Cursor): string {
  const items: string[] = [cursor.takeIf("^") ? "[^" : "["];
  // A leading `]` is a member of the class.
  for (let isFirst = true; isFirst || !cursor.takeIf("]"); isFirst = false) items.push(readItem(cursor));
  return `${items.join("")}]`;
}

function readItem(cursor: Cursor): string {
  const posix = cursor.takeMatch(/\[:\w+:\]/y);
  if (posix !== undefined) {
    const items = POSIX[posix.slice(2, -2)];
    if (items === undefined) throw new RegexError(`there are no characters ${posix}`);
    return items;
  }
  const first = readMember(cursor);
  if ("items" in first) return first.items;
  if (cursor.takeMatch(/-(?!\])/y) === undefined) return escaped(first.character);
  const last = readMember(cursor);
  if ("items" in last) throw new RegexError("expected a character at the end of a range");
  return `${escaped(first.character)}-${escaped(last.character)}`;
}

function readMember(cursor: Cursor): ReturnType<typeof readEscape> {
  if (cursor.takeIf("\\")) return readEscape(cursor);
  const character = cursor.take();
  if (character === undefined) throw new RegexError("expected a ] that ends the class, got the end");
  return { character };
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
