/** A play that is known to fail against a target. */
export interface KnownFailure {
  readonly reason: string;
  /** Where one can read about it. */
  readonly place: string;
  /** A race decides: it may pass as well. Its reason begins with `at times: `. */
  readonly isRacy: boolean;
}

const RACY = "at times: ";

/** How a play ended, seen beside what was known. */
export type Outcome = "passes" | "fails as known" | "FAILS" | "PASSES UNEXPECTED";

/** Reads a list of known failures: `key | reason | place` on each line; `#` begins a comment. Throws on any other line. */
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

/** A known failure that passes is news as well: the list is out of date. */
export function compareWithKnown(passed: boolean, known: KnownFailure | undefined): Outcome {
  if (known === undefined) return passed ? "passes" : "FAILS";
  if (!passed) return "fails as known";
  return known.isRacy ? "passes" : "PASSES UNEXPECTED";
}
