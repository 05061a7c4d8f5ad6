/**
 * Why RE2, with which Envoy and gRPC read regular expressions, does not take one; undefined: nothing is known to be wrong.
 * Finds what people get wrong, not everything: an expression that it passes may still be rejected.
 */
export function regexProblem(regex: string): string | undefined {
  return new RegexReading(regex).read();
}

class RegexReading {
  readonly #regex: string;
  #at = 0;
  #open = 0;
  /** Whether there is something before the present place that can be repeated. */
  #isRepeatable = false;

  constructor(regex: string) {
    this.#regex = regex;
  }

  read(): string | undefined {
    while (this.#at < this.#regex.length) {
      const problem = this.#next();
      if (problem !== undefined) return problem;
    }
    return this.#open > 0 ? "a group is not closed" : undefined;
  }

  #next(): string | undefined {
    const character = this.#regex[this.#at];
    switch (character) {
      case "\\":
        return this.#escape();
      case "[":
        return this.#characterClass();
      case "(":
        return this.#group();
      case ")":
        this.#at++;
        this.#isRepeatable = true;
        return --this.#open < 0 ? "a group is closed that is not open" : undefined;
      case "*":
      case "+":
      case "?":
        return this.#repetition();
      case "|":
        this.#at++;
        this.#isRepeatable = false;
        return undefined;
      default:
        this.#at++;
        // RE2 repeats even `^`.
        this.#isRepeatable = true;
        return undefined;
    }
  }

  #escape(): string | undefined {
    const character = this.#regex[this.#at + 1];
    if (character === undefined) return "it ends with a backslash";
    if (character >= "1" && character <= "9") return `it refers back to group ${character}, which RE2 does not support`;
    if (character === "Q") {
      const end = this.#regex.indexOf("\\E", this.#at + 2);
      this.#at = end === -1 ? this.#regex.length : end + 2;
    } else this.#at += 2;
    this.#isRepeatable = true;
    return undefined;
  }

  /** Goes to the end of `[…]`; a bracket at its start is a character. */
  #characterClass(): string | undefined {
    let at = this.#at + 1;
    if (this.#regex[at] === "^") at++;
    for (let isFirst = true; at < this.#regex.length; isFirst = false) {
      const character = this.#regex[at];
      if (character === "]" && !isFirst) {
        this.#at = at + 1;
        this.#isRepeatable = true;
        return undefined;
      }
      const named = character === "[" && this.#regex[at + 1] === ":" ? this.#regex.indexOf(":]", at + 2) : -1;
      at = named !== -1 ? named + 2 : at + (character === "\\" ? 2 : 1);
    }
    return "a character class is not closed";
  }

  #group(): string | undefined {
    const [look] = /^\(\?(?:=|!|<=|<!)/.exec(this.#regex.slice(this.#at, this.#at + 4)) ?? [];
    if (look !== undefined) return `it looks around with "${look}", which RE2 does not support`;
    const [flags] = /^\(\?[imsU-]*\)/.exec(this.#regex.slice(this.#at)) ?? [];
    if (flags !== undefined) {
      this.#at += flags.length;
      return undefined;
    }
    const [start] = /^\(\?(?:P?<[^>]*>|[imsU-]*:)/.exec(this.#regex.slice(this.#at)) ?? [];
    this.#open++;
    this.#at += (start ?? "(").length;
    this.#isRepeatable = false;
    return undefined;
  }

  #repetition(): string | undefined {
    if (!this.#isRepeatable) return "a repetition has nothing to repeat";
    // `*?` is the lazy form; a third one repeats a repetition, which RE2 refuses.
    this.#at += this.#regex[this.#at + 1] === "?" ? 2 : 1;
    const next = this.#regex[this.#at];
    return next === "*" || next === "+" || next === "?" ? "a repetition is repeated" : undefined;
  }
}
