import type { ProblemList } from "../format/problem-list.ts";
import { type RuleValues, ruleList, ruleValue, type ValueCheck } from "./value-check.ts";

/** How values of one kind are compared and printed. */
export interface Ordering {
  readonly compare: (a: unknown, b: unknown) => number;
  readonly format: (value: unknown) => string;
}

/** Numbers of all widths: JavaScript compares a bigint with a number by value. */
export const numberOrdering: Ordering = {
  compare: (a, b) => {
    const [one, two] = [a as number | bigint, b as number | bigint];
    // NaN is outside every bound.
    return one < two ? -1 : one > two ? 1 : one <= two ? 0 : Number.NaN;
  },
  format: String,
};

/** Durations and timestamps. */
export const secondsOrdering: Ordering = {
  compare: (a, b) => {
    const difference = nanosOf(a) - nanosOf(b);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  },
  format: (value) => `${Number(nanosOf(value)) / 1e9}s`,
};

function nanosOf(value: unknown): bigint {
  const { seconds, nanos } = value as { seconds: bigint; nanos: number };
  return seconds * 1_000_000_000n + BigInt(nanos);
}

/** Compiles the rules const, lt, lte, gt, gte, in and not_in. */
export function orderChecks(rules: RuleValues, ordering: Ordering): readonly ValueCheck[] {
  const checks: ValueCheck[] = [];
  addRangeChecks(rules, ordering, checks);
  const { compare, format } = ordering;
  const constant = ruleValue(rules, "const");
  if (constant !== undefined) {
    checks.push((value, problems) => {
      if (compare(value, constant) !== 0)
        problems.warning("PGV_CONST", `expected ${format(constant)}, got ${format(value)}`);
    });
  }
  const allowed = ruleList(rules, "in");
  if (allowed !== undefined) {
    checks.push((value, problems) => {
      if (allowed.some((each) => compare(value, each) === 0)) return;
      problems.warning("PGV_IN", `expected one of ${allowed.map(format).join(", ")}, got ${format(value)}`);
    });
  }
  const forbidden = ruleList(rules, "notIn");
  if (forbidden !== undefined) {
    checks.push((value, problems) => {
      if (!forbidden.some((each) => compare(value, each) === 0)) return;
      problems.warning("PGV_NOT_IN", `expected none of ${forbidden.map(format).join(", ")}, got ${format(value)}`);
    });
  }
  return checks;
}

interface Bound {
  readonly rule: "lt" | "lte" | "gt" | "gte";
  readonly code: "PGV_LT" | "PGV_LTE" | "PGV_GT" | "PGV_GTE";
  readonly limit: unknown;
  readonly words: string;
  readonly holds: (comparison: number) => boolean;
}

const BOUNDS = [
  { rule: "lt", code: "PGV_LT", words: "less than", holds: (comparison: number) => comparison < 0 },
  { rule: "lte", code: "PGV_LTE", words: "at most", holds: (comparison: number) => comparison <= 0 },
  { rule: "gt", code: "PGV_GT", words: "more than", holds: (comparison: number) => comparison > 0 },
  { rule: "gte", code: "PGV_GTE", words: "at least", holds: (comparison: number) => comparison >= 0 },
] as const;

function addRangeChecks(rules: RuleValues, ordering: Ordering, checks: ValueCheck[]): void {
  const bounds = BOUNDS.flatMap((bound): Bound[] => {
    const limit = ruleValue(rules, bound.rule);
    return limit === undefined ? [] : [{ ...bound, limit }];
  });
  const [upper, lower] = bounds;
  const isReversed = bounds.length === 2 && ordering.compare(upper?.limit, lower?.limit) < 0;
  if (isReversed && upper !== undefined && lower !== undefined) checks.push(outsideCheck(upper, lower, ordering));
  else checks.push(...bounds.map((bound) => boundCheck(bound, ordering)));
}

function boundCheck(bound: Bound, { compare, format }: Ordering): ValueCheck {
  return (value, problems) => {
    if (!bound.holds(compare(value, bound.limit)))
      reportBound(bound.code, `${bound.words} ${format(bound.limit)}`, format(value), problems);
  };
}

/** An upper bound below the lower one means that the value must lie outside the two. */
function outsideCheck(upper: Bound, lower: Bound, { compare, format }: Ordering): ValueCheck {
  const expected = `${upper.words} ${format(upper.limit)} or ${lower.words} ${format(lower.limit)}`;
  return (value, problems) => {
    if (upper.holds(compare(value, upper.limit)) || lower.holds(compare(value, lower.limit))) return;
    reportBound(upper.code, expected, format(value), problems);
  };
}

function reportBound(code: Bound["code"], expected: string, got: string, problems: ProblemList): void {
  problems.warning(code, `expected ${expected}, got ${got}`);
}
