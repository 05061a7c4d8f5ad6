import type { CaseLevel } from "../case.ts";
import type { Verdict } from "../play/play.ts";

/** A play that is known to fail against a target. */
export interface KnownFailure {
  readonly reason: string;
  /** A reference to the reason, such as an issue. */
  readonly place: string;
  /** The play fails only at times, because of a race. Its reason begins with `at times: `. */
  readonly isRacy: boolean;
}

const RACY = "at times: ";

/** The result of a play, by the level of its rule and by the known failures. Those in capitals are mistakes. */
export type Outcome =
  | "passes"
  | "not played"
  /** It fails at what the protocol leaves open. */
  | "differs"
  | "fails as known"
  | "FAILS"
  | "PASSES UNEXPECTED"
  | "LISTED, NOT PLAYED";

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

/** Compares a result with the known failures; one that passes or is not played is reported too. */
export function compareWithKnown(verdict: Verdict, level: CaseLevel, known: KnownFailure | undefined): Outcome {
  if (verdict.passed) return known === undefined || known.isRacy ? "passes" : "PASSES UNEXPECTED";
  if ("notPlayed" in verdict) return known === undefined ? "not played" : "LISTED, NOT PLAYED";
  if (known !== undefined) return "fails as known";
  return level === "must" ? "FAILS" : "differs";
}
