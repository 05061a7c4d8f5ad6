import { maxNesting } from "@xdskit/envoy-api/internal";
import { quote } from "@xdskit/protocol/internal";
import type { ItemMemory } from "./item-memory.ts";
import { nestingTrouble, type ParsedText, type TextTrouble } from "./parsed-text.ts";
import { type Places, setField } from "./places.ts";
import { jsonNumber } from "./plain-scalar.ts";

/**
 * Reads one JSON value. Unlike `JSON.parse` it reports the position of mistakes, rejects duplicate keys, keeps all
 * digits of large integers (as strings, which protobuf JSON accepts) and does not overflow the stack. Known items of the
 * top-level list, or of the document's `resources`, are not read.
 */
export function readJson(text: string, places?: Places, items?: ItemMemory): ParsedText {
  const reader = new JsonReader(text, places, items);
  try {
    const document = reader.readDocument();
    return { documents: reader.duplicates.length === 0 ? [document] : [], troubles: reader.duplicates };
  } catch (error) {
    if (!(error instanceof JsonTrouble)) throw error;
    return { documents: [], troubles: [...reader.duplicates, error.trouble] };
  }
}

/** Aborts the reading; never leaves this file. */
class JsonTrouble extends Error {
  readonly trouble: TextTrouble;
  constructor(trouble: TextTrouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const SPACE = /[ \t\r\n]*/y;
const WORDS = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const;

class JsonReader {
  readonly duplicates: TextTrouble[] = [];
  readonly #text: string;
  readonly #places: Places | undefined;
  readonly #items: ItemMemory | undefined;
  #at = 0;

  constructor(text: string, places: Places | undefined, items: ItemMemory | undefined) {
    this.#text = text;
    this.#places = places;
    this.#items = items;
  }

  readDocument(): { value: unknown; offset: number } {
    this.#items?.begin(this.#text);
    this.#skipSpace();
    const offset = this.#at;
    const value = this.#readValue(0, this.#items);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("expected the end of the file after the value");
    return { value, offset };
  }

  /** `items`: set if a list here is one of resources. */
  #readValue(depth: number, items?: ItemMemory): unknown {
    if (depth > maxNesting) throw new JsonTrouble(nestingTrouble(this.#at));
    switch (this.#text[this.#at]) {
      case "{":
        return this.#readObject(depth);
      case "[":
        return this.#readList(depth, items);
      case '"':
        return this.#readString();
      default:
        return this.#readScalar();
    }
  }

  #readObject(depth: number): Record<string, unknown> {
    const mapping: Record<string, unknown> = {};
    const openedAt = this.#at++;
    this.#skipSpace();
    if (this.#take("}")) return mapping;
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') this.#fail("expected a key in double quotes");
      const keyAt = this.#at;
      const key = this.#readString();
      this.#skipSpace();
      if (!this.#take(":")) this.#fail('expected ":" after the key');
      this.#skipSpace();
      const valueAt = this.#at;
      const value = this.#readValue(depth + 1, depth === 0 && key === "resources" ? this.#items : undefined);
      if (Object.hasOwn(mapping, key)) this.#noteDuplicate(key, keyAt);
      setField(mapping, key, value);
      this.#places?.noteEntry(mapping, key, keyAt, valueAt);
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("}")) this.#failInside("{", openedAt, 'expected "," or "}"');
    return mapping;
  }

  #readList(depth: number, items: ItemMemory | undefined): unknown[] {
    const list: unknown[] = [];
    const openedAt = this.#at++;
    this.#skipSpace();
    if (this.#take("]")) return list;
    do {
      this.#skipSpace();
      this.#places?.noteItem(list, this.#at);
      list.push(items === undefined ? this.#readValue(depth + 1) : this.#recall(items, depth + 1));
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("]")) this.#failInside("[", openedAt, 'expected "," or "]"');
    return list;
  }

  /** An object ends with its brace, so what begins with the text of an object is that object. */
  #recall(items: ItemMemory, depth: number): unknown {
    const begin = this.#at;
    if (this.#text[begin] !== "{") return this.#readValue(depth);
    const next = items.recallNext(begin, depth);
    if (next !== undefined) {
      items.use(next);
      this.#at = next.end;
      return next;
    }
    const value = this.#readValue(depth);
    const extent = { begin, end: this.#at, level: depth };
    const known = items.recall(extent);
    if (known === undefined) return items.note(value, extent);
    items.use(known);
    return known;
  }

  #readString(): string {
    const text = this.#text;
    const from = this.#at;
    let hasEscape = false;
    for (let at = from + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 34) {
        this.#at = at + 1;
        return hasEscape ? this.#unescape(from, at + 1) : text.slice(from + 1, at);
      }
      if (code === 92) {
        hasEscape = true;
        at++;
      } else if (code < 32) {
        this.#at = at;
        this.#fail("expected the string to end on its line", "write \\n for a line break and \\t for a tab");
      }
    }
    const message = "expected the string that begins here to end, got the end of the file";
    throw new JsonTrouble({ code: "JSON_SYNTAX", offset: from, message, hint: "the file may be cut off" });
  }

  #unescape(from: number, to: number): string {
    try {
      return JSON.parse(this.#text.slice(from, to)) as string;
    } catch {
      this.#at = from; // JSON.parse checked one string, and its own message would quote it
      return this.#fail('expected only the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX in the string');
    }
  }

  #readScalar(): unknown {
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) this.#fail("expected a value");
    const [digits, fraction, exponent] = match as RegExpExecArray;
    this.#at = NUMBER.lastIndex;
    const number = Number(digits);
    const isInexact = fraction === undefined && exponent === undefined && !Number.isSafeInteger(number);
    return isInexact ? digits : jsonNumber(number);
  }

  #noteDuplicate(key: string, offset: number): void {
    this.duplicates.push({
      code: "JSON_KEY_DUPLICATE",
      offset,
      message: `expected each key once in an object, got ${quote(key)} again`,
      hint: "put everything under one key, or remove one of them",
    });
  }

  #skipSpace(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code > 32) return;
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #failInside(bracket: string, openedAt: number, expected: string): never {
    if (this.#at < this.#text.length) this.#fail(expected);
    const message = `expected the "${bracket}" that is opened here to be closed, got the end of the file`;
    throw new JsonTrouble({ code: "JSON_SYNTAX", offset: openedAt, message, hint: "the file may be cut off" });
  }

  #fail(expected: string, hint?: string): never {
    const trouble = { code: "JSON_SYNTAX", offset: this.#at, message: `${expected}, ${this.#whatIsHere()}` } as const;
    const usual = this.#hintHere();
    const advice = hint ?? usual;
    throw new JsonTrouble(advice === undefined ? trouble : { ...trouble, hint: advice });
  }

  #whatIsHere(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? "got the end of the file" : `got ${quote(String.fromCodePoint(code))}`;
  }

  #hintHere(): string | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    if (rest === "//" || rest === "/*" || rest.startsWith("#"))
      return "JSON has no comments; name the file .yaml to use them";
    if (rest.startsWith("'")) return "JSON strings stand in double quotes";
    if (
      (rest.startsWith("}") || rest.startsWith("]")) &&
      /,\s*$/.test(this.#text.slice(Math.max(0, this.#at - 80), this.#at))
    ) {
      return "remove the comma before it";
    }
    return undefined;
  }
}
