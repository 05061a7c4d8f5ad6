/** A play that is known to fail against a target. */
export interface KnownFailure {
  readonly reason: string;
  /** A reference to the reason, such as an issue. */
  readonly place: string;
  /** The play fails only at times, because of a race. Its reason begins with `at times: `. */
  readonly isRacy: boolean;
}

const RACY = "at times: ";

/** The result of a play compared with the known failures. */
export type Outcome = "passes" | "fails as known" | "FAILS" | "PASSES UNEXPECTED";

/** Parses a list of known failures: `key | reason | place` per line; `#` begins a comment. Throws on any other line. */
export function parseKnownFailures(text: string): ReadonlyMap<string, KnownFailure> {
  const known = new Map<string, KnownFailure>();
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [key, reason, place] = line.split("|").map((part) => part.trim());
    if (!key || !reason || !place) throw new Error(`known failures: expected "key | reason | place", got "${line}"`);
    if (known.has(key)) throw new Error(`known failures: "${key}" is listed twice`);
    known.set(key, { reason, place, isRacy: reason.startsWith(RACY) });
  }
  return known;
}

/** Compares a result with the known failures; a known failure that passes is reported too. */
export function compareWithKnown(passed: boolean, known: KnownFailure | undefined): Outcome {
  if (known === undefined) return passed ? "passes" : "FAILS";
  if (!passed) return "fails as known";
  return known.isRacy ? "passes" : "PASSES UNEXPECTED";
}
