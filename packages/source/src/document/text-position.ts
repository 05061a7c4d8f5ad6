import { escapeInvisible, type Place } from "../problem.ts";

const EXCERPT_CHARACTERS = 120;
const SPACE = /\s/;

/** What is left out of a line at the beginning, so that a column is seen with its surroundings. */
function windowStart(column: number): number {
  return column <= EXCERPT_CHARACTERS - 20 ? 0 : column - EXCERPT_CHARACTERS / 2;
}

/** Which character of an excerpt stands at a column of its line, counted from 1. */
export function columnInExcerpt(column: number): number {
  const from = windowStart(column);
  return from === 0 ? column : column - from + 1;
}

/** Turns offsets in a text into lines and columns. The index of lines is made at the first question. */
export class TextPosition {
  readonly #text: string;
  #lineStarts: readonly number[] | undefined;
  #trimmed: { readonly line: number; readonly start: number; readonly end: number } | undefined;
  readonly #answers = new Map<(text: string) => boolean, Map<number, boolean>>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The line and column of an offset; an offset past the end is that of the end. */
  placeOf(offset: number): Place {
    const starts = this.#starts();
    const within = Math.min(Math.max(offset, 0), this.#text.length);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= within) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: within - (starts[low] ?? 0) + 1 };
  }

  /**
   * The line, cut to 120 characters. A place further to the right keeps its surroundings: what is left out at the
   * beginning is then shown by "…". However long the line is, only that window of it is looked at.
   */
  excerptOf({ line, column }: Place): string {
    const { start, end } = this.#trimmedLine(line);
    const from = start + windowStart(column);
    const to = from + EXCERPT_CHARACTERS;
    const cut = this.#text.slice(from, Math.min(to, end));
    return escapeInvisible(`${from > start ? "…" : ""}${cut}${to < end ? "…" : ""}`.replaceAll("\t", " "));
  }

  /** Whether something is so of a line, without its end; asked once for each line. */
  isOfLine(line: number, test: (text: string) => boolean): boolean {
    let answers = this.#answers.get(test);
    if (answers === undefined) {
      answers = new Map();
      this.#answers.set(test, answers);
    }
    let answer = answers.get(line);
    if (answer === undefined) {
      const { start, end } = this.#trimmedLine(line);
      answer = test(this.#text.slice(start, end));
      answers.set(line, answer);
    }
    return answer;
  }

  /** Where a line begins, and where it ends without the space at its end. Empty past the last one. */
  #trimmedLine(line: number): { readonly start: number; readonly end: number } {
    if (this.#trimmed?.line === line) return this.#trimmed;
    const starts = this.#starts();
    const start = starts[line - 1] ?? this.#text.length;
    let end = starts[line] ?? this.#text.length;
    while (end > start && SPACE.test(this.#text.charAt(end - 1))) end--;
    this.#trimmed = { line, start, end };
    return this.#trimmed;
  }

  #starts(): readonly number[] {
    this.#lineStarts ??= findLineStarts(this.#text);
    return this.#lineStarts;
  }
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
