import { escapeInvisible, type Place } from "../problem.ts";

const EXCERPT_CHARACTERS = 120;

/** Turns offsets in a text into lines and columns. The index of lines is made at the first question. */
export class TextPosition {
  readonly #text: string;
  #lineStarts: readonly number[] | undefined;

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
   * beginning is then shown by "…".
   */
  excerptOf({ line, column }: Place): string {
    const text = this.lineText(line).trimEnd();
    const from = column <= EXCERPT_CHARACTERS - 20 ? 0 : column - EXCERPT_CHARACTERS / 2;
    const cut = text.slice(from, from + EXCERPT_CHARACTERS);
    const isCutRight = from + EXCERPT_CHARACTERS < text.length;
    return escapeInvisible(`${from > 0 ? "…" : ""}${cut}${isCutRight ? "…" : ""}`.replaceAll("\t", " "));
  }

  /** A line as it is, without its end; empty past the last one. */
  lineText(line: number): string {
    const starts = this.#starts();
    const start = starts[line - 1];
    if (start === undefined) return "";
    return this.#text.slice(start, starts[line] ?? this.#text.length).replace(/[\r\n]+$/, "");
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
