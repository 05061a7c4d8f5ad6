import { parseRegex } from "./parse.ts";
import { type Assertion, type Part, RegexError } from "./part.ts";

const LONGEST_PATTERN = 1_000;
/** Longest text that a peer's expression is matched against. */
export const LONGEST_TEXT = 4_096;
/** Maximum number of states of all expressions in one request; a counted repetition multiplies its states. */
const MOST_STATES = 4_000;
/** Maximum number of state visits per node: about ten milliseconds. */
const MOST_VISITS = 1_000_000;

/** The effort of a request's regular expressions. Once a node's share is used up, nothing more matches. */
export class RegexEffort {
  #states = 0;
  #visits = 0;

  /** State visits since the last `beginNode`. */
  get visits(): number {
    return this.#visits;
  }

  /** Starts the share of the next node. */
  beginNode(): void {
    this.#visits = 0;
  }

  /** Counts a state. Throws a `RegexError` above the limit. */
  addState(): void {
    if (++this.#states > MOST_STATES) throw new RegexError("the regular expressions are too large");
  }

  /** Counts a visit; returns whether it is within the share. */
  visit(): boolean {
    return ++this.#visits <= MOST_VISITS;
  }
}

/** A state and its successors. */
type State =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean; readonly next: number }
  | { readonly kind: "assertion"; readonly holds: Assertion; readonly next: number }
  | { readonly kind: "fork"; readonly next: readonly number[] }
  | { readonly kind: "end" };

/**
 * Compiles a peer's regular expression in RE2 syntax to a test of whole texts. It tracks all possible states at once,
 * so the cost is at most the text's length times the number of states. Throws a `RegexError`.
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

/** Adds the states that match a part and then continue at `next`; returns the first. */
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
  /** The states reachable without another character: those that expect one, and the end. */
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
