import { escapeInvisible } from "@xdskit/protocol/internal";
import type { Place } from "../problem.ts";

const EXCERPT_CHARACTERS = 120;
const SPACE = /\s/;

/** How many characters are cut from the start of a line, so that a column is shown with its surroundings. */
function windowStart(column: number): number {
  return column <= EXCERPT_CHARACTERS - 20 ? 0 : column - EXCERPT_CHARACTERS / 2;
}

/** The position in an excerpt of a column of its line, 1-based. */
export function columnInExcerpt(column: number): number {
  const from = windowStart(column);
  return from === 0 ? column : column - from + 1;
}

/** Converts offsets to lines and columns. Indexes lines as far as they are asked for: problems are told of the first items. */
export class TextPosition {
  readonly #text: string;
  readonly #lineStarts = [0];
  /** Where the next line break is looked for; -1: all lines are indexed. */
  #indexedTo = 0;
  #trimmed: { readonly line: number; readonly start: number; readonly end: number } | undefined;
  readonly #answers = new Map<(text: string) => boolean, Map<number, boolean>>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The line and column of an offset; an offset past the end counts as the end. */
  placeOf(offset: number): Place {
    const within = Math.min(Math.max(offset, 0), this.#text.length);
    const starts = this.#startsUntil((last) => last > within);
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
   * The line, cut to 120 characters around a column; "…" marks a cut start. Only that window is read, however long the
   * line is.
   */
  excerptOf({ line, column }: Place): string {
    const { start, end } = this.#trimmedLine(line);
    const from = start + windowStart(column);
    const to = from + EXCERPT_CHARACTERS;
    const cut = this.#text.slice(from, Math.min(to, end));
    return escapeInvisible(`${from > start ? "…" : ""}${cut}${to < end ? "…" : ""}`.replaceAll("\t", " "));
  }

  /** Tests a line without its line break, once per line. */
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

  /** The start of a line and its end without trailing space. Empty past the last line. */
  #trimmedLine(line: number): { readonly start: number; readonly end: number } {
    if (this.#trimmed?.line === line) return this.#trimmed;
    const starts = this.#startsUntil((_, lines) => lines > line);
    const start = starts[line - 1] ?? this.#text.length;
    let end = starts[line] ?? this.#text.length;
    while (end > start && SPACE.test(this.#text.charAt(end - 1))) end--;
    this.#trimmed = { line, start, end };
    return this.#trimmed;
  }

  /** The starts of lines, at least until one is enough, by its offset and the number of lines with it. */
  #startsUntil(isEnough: (last: number, lines: number) => boolean): readonly number[] {
    const starts = this.#lineStarts;
    while (this.#indexedTo !== -1 && !isEnough(starts.at(-1) ?? 0, starts.length)) {
      const newline = this.#text.indexOf("\n", this.#indexedTo);
      this.#indexedTo = newline === -1 ? -1 : newline + 1;
      if (newline !== -1) starts.push(newline + 1);
    }
    return starts;
  }
}
