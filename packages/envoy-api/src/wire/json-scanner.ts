/**
 * Reads JSON in place and creates only what is requested: of the 73 KB in an Envoy's poll, 72 are a list of its
 * extensions. Strings are copies, so the result does not keep the bytes in memory.
 */

import type { Steps } from "@xdskit/protocol/internal";
import { setOwnProperty } from "../format/well-known.ts";
import { isUtf8 } from "../platform.ts";
import { WireError } from "./wire-error.ts";

/** The kind of a value, which its first byte tells. */
export type JsonKind = "an object" | "a list" | "a string" | "a number" | "true or false" | "null";

/** A step reads about this many values. */
export const VALUES_PER_STEP = 64;

/** Deeper nesting is rejected. */
const DEEPEST = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

const LITERALS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Scans one JSON text. Errors are `WireError`s with line and column. */
export class JsonScanner {
  readonly #bytes: Buffer;
  #at = 0;
  #depth = 0;
  #check: () => void = unchecked;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (!isUtf8(bytes)) throw new WireError("expected JSON in UTF-8, got other bytes");
  }

  /** The number of bytes read. */
  get position(): number {
    return this.#at;
  }

  /** Reads something; before each value that `value` creates of it, `check` is called, which may throw. */
  *checking(check: () => void, read: () => Steps<void> | void): Steps<void> {
    this.#check = check;
    const steps = read();
    if (steps !== undefined) yield* steps;
    this.#check = unchecked;
  }

  /** Returns the kind of the next value. */
  peek(): JsonKind {
    const byte = this.#next();
    if (byte === QUOTE) return "a string";
    if (byte === OPEN_OBJECT) return "an object";
    if (byte === OPEN_LIST) return "a list";
    if (byte === 0x74 || byte === 0x66) return "true or false";
    if (byte === 0x6e) return "null";
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return "a number";
    return this.#unexpected("a value");
  }

  /** Reads an object: yields each key, whose value the caller reads or skips. */
  *keys(): Generator<string, void> {
    this.#enter(OPEN_OBJECT, "an object");
    if (this.#isNext(CLOSE_OBJECT)) return;
    for (;;) {
      if (this.#next() !== QUOTE) this.#unexpected("a key in quotes");
      const key = this.string();
      this.#take(COLON, "a colon");
      yield key;
      if (this.#isNext(CLOSE_OBJECT)) return;
      this.#take(COMMA, "a comma or the end of the object");
    }
  }

  /** Reads a list: yields before each value, with its index, and the caller reads it. */
  *elements(): Generator<number, void> {
    this.#enter(OPEN_LIST, "a list");
    if (this.#isNext(CLOSE_LIST)) return;
    for (let index = 0; ; index++) {
      yield index;
      if (this.#isNext(CLOSE_LIST)) return;
      this.#take(COMMA, "a comma or the end of the list");
    }
  }

  string(): string {
    const start = this.#next() === QUOTE ? this.#at : this.#unexpected("a string");
    const hasEscapes = this.#skipString();
    if (!hasEscapes) return this.#bytes.toString("utf8", start + 1, this.#at - 1);
    const text: unknown = this.#parse(start, "a string");
    return typeof text === "string" ? text : this.#unexpected("a string");
  }

  number(): number {
    this.#next();
    const text = this.#word();
    return NUMBER.test(text) ? Number(text) : this.#unexpected("a number", text);
  }

  /** Reads any value. */
  value(): unknown {
    this.#check();
    switch (this.peek()) {
      case "an object": {
        const object = {};
        for (const key of this.keys()) setOwnProperty(object, key, this.value());
        return object;
      }
      case "a list": {
        const list: unknown[] = [];
        for (const _ of this.elements()) list.push(this.value());
        return list;
      }
      case "a string":
        return this.string();
      case "a number":
        return this.number();
      default:
        return this.#literal();
    }
  }

  /** Skips a value, but checks that it is valid JSON. Yields now and then. */
  *skip(): Steps<void> {
    const ends: number[] = [];
    for (let count = 1; !this.#skipOne(ends); count++) if (count % VALUES_PER_STEP === 0) yield;
  }

  /** Checks that nothing follows. */
  end(): void {
    this.#skipSpace();
    if (this.#at < this.#bytes.length) this.#unexpected("the end");
  }

  /** Throws a `WireError` with the current line and column. */
  fail(message: string): never {
    const before = this.#bytes.subarray(0, this.#at);
    const lineStart = before.lastIndexOf(0x0a) + 1;
    const line = before.reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 1);
    const column = this.#bytes.toString("utf8", lineStart, this.#at).length + 1;
    throw new WireError(`line ${line}, column ${column}: ${message}`);
  }

  /** Skips a value without other values in it. `ends`: what ends the open objects and lists. Returns whether none is open. */
  #skipOne(ends: number[]): boolean {
    switch (this.peek()) {
      case "an object":
        this.#enter(OPEN_OBJECT, "an object");
        if (this.#isNext(CLOSE_OBJECT)) break;
        ends.push(CLOSE_OBJECT);
        this.#skipKey();
        return false;
      case "a list":
        this.#enter(OPEN_LIST, "a list");
        if (this.#isNext(CLOSE_LIST)) break;
        ends.push(CLOSE_LIST);
        return false;
      case "a string":
        this.#skipString();
        break;
      case "a number":
        this.number();
        break;
      default:
        this.#literal();
    }
    for (let end = ends.at(-1); end !== undefined; end = ends.at(-1)) {
      if (!this.#isNext(end)) {
        this.#take(COMMA, `a comma or the end of the ${end === CLOSE_OBJECT ? "object" : "list"}`);
        if (end === CLOSE_OBJECT) this.#skipKey();
        return false;
      }
      ends.pop();
    }
    return true;
  }

  #skipKey(): void {
    if (this.#next() !== QUOTE) this.#unexpected("a key in quotes");
    this.#skipString();
    this.#take(COLON, "a colon");
  }

  /** Skips a string, starting at its quote. Returns whether it has escapes. */
  #skipString(): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    let hasEscapes = false;
    for (let i = start + 1; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0;
      if (byte === QUOTE) {
        this.#at = i + 1;
        if (hasEscapes) this.#parse(start, "a string");
        return hasEscapes;
      }
      if (byte === BACKSLASH) {
        hasEscapes = true;
        i++;
      } else if (byte < 0x20) {
        this.#at = i;
        this.fail("expected control characters in a string to be escaped");
      }
    }
    this.#at = bytes.length;
    return this.fail("expected the end of a string, got the end of the text");
  }

  /** Parses the one value from `start` to the current position. */
  #parse(start: number, expected: string): unknown {
    try {
      return JSON.parse(this.#bytes.toString("utf8", start, this.#at));
    } catch {
      this.#at = start;
      return this.#unexpected(expected);
    }
  }

  #literal(): boolean | null {
    const word = this.#word();
    const value = Object.hasOwn(LITERALS, word) ? LITERALS[word] : undefined;
    return value === undefined ? this.#unexpected("a value", word) : value;
  }

  /** Reads letters, digits and signs. */
  #word(): string {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    while (end < bytes.length && end - start < 400 && isWordByte(bytes[end] ?? 0)) end++;
    this.#at = end;
    return bytes.toString("latin1", start, end);
  }

  #enter(byte: number, expected: string): void {
    this.#take(byte, expected);
    if (++this.#depth > DEEPEST) this.fail(`expected at most ${DEEPEST} levels`);
  }

  /** Leaves an object or a list if its end is next. */
  #isNext(end: number): boolean {
    if (this.#next() !== end) return false;
    this.#at++;
    this.#depth--;
    return true;
  }

  #take(byte: number, expected: string): void {
    if (this.#next() !== byte) this.#unexpected(expected);
    this.#at++;
  }

  #next(): number {
    this.#skipSpace();
    return this.#bytes[this.#at] ?? -1;
  }

  #skipSpace(): void {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }

  #unexpected(expected: string, got?: string): never {
    if (got !== undefined) {
      this.#at -= got.length;
      return this.fail(`expected ${expected}, got ${JSON.stringify(got.slice(0, 40))}`);
    }
    this.#skipSpace();
    if (this.#at >= this.#bytes.length) return this.fail(`expected ${expected}, got the end of the text`);
    const [character = ""] = this.#bytes.toString("utf8", this.#at, this.#at + 4);
    return this.fail(`expected ${expected}, got ${JSON.stringify(character)}`);
  }
}

function unchecked(): void {}

function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  );
}
