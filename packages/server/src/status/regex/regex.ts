import { parseRegex } from "./parse.ts";
import { type Assertion, type Part, RegexError } from "./part.ts";

const LONGEST_PATTERN = 1_000;
/** Of a text that is longer, no expression of a peer is asked. */
export const LONGEST_TEXT = 4_096;
/** States of all expressions in one request: a counted repetition has them for each time. */
const MOST_STATES = 4_000;
/** Looks at a state for one node: about ten milliseconds. */
const MOST_VISITS = 1_000_000;

/** What the regular expressions of one request may cost. What is beyond a node's share matches nothing. */
export class RegexEffort {
  #states = 0;
  #visits = 0;

  /** Looks at a state since the last `beginNode`. */
  get visits(): number {
    return this.#visits;
  }

  /** The next node has a share of its own. */
  beginNode(): void {
    this.#visits = 0;
  }

  /** Throws a `RegexError` if there are too many. */
  addState(): void {
    if (++this.#states > MOST_STATES) throw new RegexError("the regular expressions are too large");
  }

  /** Whether there is room for this look. */
  visit(): boolean {
    return ++this.#visits <= MOST_VISITS;
  }
}

/** A state, and those that follow. */
type State =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean; readonly next: number }
  | { readonly kind: "assertion"; readonly holds: Assertion; readonly next: number }
  | { readonly kind: "fork"; readonly next: readonly number[] }
  | { readonly kind: "end" };

/**
 * Whether a regular expression of a peer matches whole texts, in the syntax of RE2. It is in all states at once that it could be
 * in, so a text costs its length times the number of states at most, whatever the expression. Throws a `RegexError`.
 */
export function compileRegex(pattern: string, effort: RegexEffort): (text: string) => boolean {
  if (pattern === "") throw new RegexError("expected a regular expression, got nothing");
  if (pattern.length > LONGEST_PATTERN) {
    throw new RegexError(
      `expected a regular expression of ${LONGEST_PATTERN} characters at most, got ${pattern.length}`,
    );
  }
  const states: State[] = [{ kind: "end" }];
  const first = addPart(parseOrSay(pattern), 0, states, effort);
  return (text) => text.length <= LONGEST_TEXT && isMatch(states, first, text, effort);
}

function parseOrSay(pattern: string): Part {
  try {
    return parseRegex(pattern);
  } catch (cause) {
    if (!(cause instanceof RegexError)) throw cause;
    const shown = JSON.stringify(pattern.slice(0, 100));
    throw new RegexError(`expected a regular expression, got ${shown}: ${cause.message}`, { cause });
  }
}

/** Adds what comes to match a part, and then goes on with `next`. */
function addPart(part: Part, next: number, states: State[], effort: RegexEffort): number {
  effort.addState();
  const push = (state: State): number => states.push(state) - 1;
  switch (part.kind) {
    case "character":
      return push({ kind: "character", matches: part.matches, next });
    case "assertion":
      return push({ kind: "assertion", holds: part.holds, next });
    case "sequence":
      return part.parts.reduceRight((after, each) => addPart(each, after, states, effort), next);
    case "choice":
      return push({ kind: "fork", next: part.parts.map((each) => addPart(each, next, states, effort)) });
    case "repetition": {
      const again = (after: number): number => addPart(part.part, after, states, effort);
      let first = next;
      if (part.most === Number.POSITIVE_INFINITY) {
        const ways: number[] = [next];
        first = push({ kind: "fork", next: ways });
        ways.push(again(first));
      } else {
        for (let times = part.least; times < part.most; times++)
          first = push({ kind: "fork", next: [again(first), next] });
      }
      for (let times = 0; times < part.least; times++) first = again(first);
      return first;
    }
    default:
      return part satisfies never;
  }
}

function isMatch(states: readonly State[], first: number, text: string, effort: RegexEffort): boolean {
  const seenAt = new Int32Array(states.length).fill(-1);
  let position = 0;
  /** The states that are reached without a further character: those that wait for one, and the end. */
  const reach = (from: readonly number[], before: string | undefined, after: string | undefined): readonly number[] => {
    const reached: number[] = [];
    const open = [...from];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (seenAt[state] === position || !effort.visit()) continue;
      seenAt[state] = position;
      const found = states[state];
      if (found?.kind === "fork") open.push(...found.next);
      else if (found?.kind === "assertion") {
        if (found.holds(before, after)) open.push(found.next);
      } else reached.push(state);
    }
    position++;
    return reached;
  };
  const characters = [...text];
  let current = reach([first], undefined, characters[0]);
  for (const [index, character] of characters.entries()) {
    if (current.length === 0) return false;
    const next = current.flatMap((state) => {
      const found = states[state];
      return found?.kind === "character" && found.matches(character) ? [found.next] : [];
    });
    current = reach(next, character, characters[index + 1]);
  }
  return current.includes(0);
}
