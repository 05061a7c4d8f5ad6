import { characterTest, literalTest, readClass, readEscape } from "./character-class.ts";
import { Cursor } from "./cursor.ts";
import { type Assertion, type Part, RegexError } from "./part.ts";

/** Flags of `(?…)`, valid to the end of the enclosing group. */
interface Flags {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotTakesNewline: boolean;
}

const usual: Flags = { ignoresCase: false, isMultiline: false, dotTakesNewline: false };
const nothing: Part = { kind: "sequence", parts: [] };
/** Maximum repetition count, as in RE2. */
const MOST_REPETITIONS = 1_000;

const atStart: Assertion = (before) => before === undefined;
const atEnd: Assertion = (_, after) => after === undefined;
const atLineStart: Assertion = (before) => before === undefined || before === "\n";
const atLineEnd: Assertion = (_, after) => after === undefined || after === "\n";
const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character);
const atWordEdge: Assertion = (before, after) => isWord(before) !== isWord(after);

/** Parses a regular expression in RE2 syntax, which has no backreferences. Throws a `RegexError`. */
export function parseRegex(pattern: string): Part {
  const cursor = new Cursor(pattern);
  const part = readChoice(cursor, usual);
  if (cursor.next !== undefined) throw new RegexError("there is a ) without its (");
  return part;
}

/** Parses alternatives up to a `)` or the end. */
function readChoice(cursor: Cursor, flags: Flags): Part {
  const parts: Part[] = [];
  let inForce = flags;
  do {
    const sequence: Part[] = [];
    while (cursor.next !== undefined && cursor.next !== "|" && cursor.next !== ")") {
      const switched = readFlags(cursor, inForce);
      if (switched !== undefined) inForce = switched;
      else sequence.push(readRepetition(cursor, readAtom(cursor, inForce)));
    }
    parts.push({ kind: "sequence", parts: sequence });
  } while (cursor.takeIf("|"));
  return { kind: "choice", parts };
}

/** Parses a change of flags. */
function readFlags(cursor: Cursor, flags: Flags): Flags | undefined {
  const text = cursor.takeMatch(/\(\?[imsU]*(?:-[imsU]+)?\)/y);
  return text === undefined ? undefined : switchFlags(flags, text);
}

function switchFlags(flags: Flags, text: string): Flags {
  const [on = "", off = ""] = text.split("-");
  const after = (letter: string, before: boolean): boolean => (before || on.includes(letter)) && !off.includes(letter);
  return {
    ignoresCase: after("i", flags.ignoresCase),
    isMultiline: after("m", flags.isMultiline),
    dotTakesNewline: after("s", flags.dotTakesNewline),
  };
}

function readAtom(cursor: Cursor, flags: Flags): Part {
  const { ignoresCase, isMultiline, dotTakesNewline } = flags;
  const character = cursor.take() ?? "";
  switch (character) {
    case "(":
      return readGroup(cursor, flags);
    case "[":
      return { kind: "character", matches: characterTest(readClass(cursor), ignoresCase) };
    case ".":
      return { kind: "character", matches: dotTakesNewline ? () => true : (other) => other !== "\n" };
    case "^":
      return { kind: "assertion", holds: isMultiline ? atLineStart : atStart };
    case "$":
      return { kind: "assertion", holds: isMultiline ? atLineEnd : atEnd };
    case "\\":
      return readEscaped(cursor, ignoresCase);
    case "*":
    case "+":
    case "?":
      throw new RegexError(`there is nothing that ${character} could repeat`);
    default:
      return { kind: "character", matches: literalTest(character, ignoresCase) };
  }
}

function readGroup(cursor: Cursor, flags: Flags): Part {
  const name = cursor.takeMatch(/\?P?<\w+>/y);
  const switches = name === undefined ? cursor.takeMatch(/\?[imsU]*(?:-[imsU]+)?:/y) : undefined;
  if (cursor.next === "?") throw new RegexError("looking ahead or behind is not known here");
  const part = readChoice(cursor, switches === undefined ? flags : switchFlags(flags, switches));
  if (!cursor.takeIf(")")) throw new RegexError("there is a ( without its )");
  return part;
}

function readEscaped(cursor: Cursor, ignoresCase: boolean): Part {
  if (cursor.takeIf("A")) return { kind: "assertion", holds: atStart };
  if (cursor.takeIf("z")) return { kind: "assertion", holds: atEnd };
  if (cursor.takeIf("b")) return { kind: "assertion", holds: atWordEdge };
  if (cursor.takeIf("B")) return { kind: "assertion", holds: (before, after) => !atWordEdge(before, after) };
  const quoted = cursor.takeMatch(/Q[\s\S]*?(?:\\E|$)/y);
  if (quoted !== undefined) {
    const characters = [...quoted.slice(1).replace(/\\E$/, "")];
    return {
      kind: "sequence",
      parts: characters.map((character) => ({ kind: "character", matches: literalTest(character, ignoresCase) })),
    };
  }
  const read = readEscape(cursor);
  const matches = "items" in read ? characterTest(read.items, ignoresCase) : literalTest(read.character, ignoresCase);
  return { kind: "character", matches };
}

function readRepetition(cursor: Cursor, part: Part): Part {
  const [least, most] = readTimes(cursor) ?? [];
  if (least === undefined || most === undefined) return part;
  // Lazy or greedy does not change whether it matches.
  cursor.takeIf("?");
  if (readTimes(cursor) !== undefined) throw new RegexError("there is a repetition of a repetition");
  return least === 0 && most === 0 ? nothing : { kind: "repetition", part, least, most };
}

function readTimes(cursor: Cursor): readonly [least: number, most: number] | undefined {
  if (cursor.takeIf("*")) return [0, Number.POSITIVE_INFINITY];
  if (cursor.takeIf("+")) return [1, Number.POSITIVE_INFINITY];
  if (cursor.takeIf("?")) return [0, 1];
  const text = cursor.takeMatch(/\{\d+(?:,\d*)?\}/y);
  if (text === undefined) return undefined;
  const [first, second] = text.slice(1, -1).split(",");
  const least = Number(first);
  const most = second === undefined ? least : second === "" ? Number.POSITIVE_INFINITY : Number(second);
  if (least > MOST_REPETITIONS || (most > MOST_REPETITIONS && most !== Number.POSITIVE_INFINITY) || most < least)
    throw new RegexError(`expected a repetition of ${MOST_REPETITIONS} at most, got ${text.slice(0, 30)}`);
  return [least, most];
}
