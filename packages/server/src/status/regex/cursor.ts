/** A reading position in a text. */
export class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next character; undefined at the end. */
  get next(): string | undefined {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? undefined : String.fromCodePoint(code);
  }

  take(): string | undefined {
    const { next } = this;
    this.#at += next?.length ?? 0;
    return next;
  }

  takeIf(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  /** Takes the match of a sticky expression at this position. */
  takeMatch(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
