import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Constraints,
  canonicalConstraints,
  casesOf,
  constrainedKeys,
  constraintsOf,
  describeConstraints,
  formatConstraints,
  matches,
  parseConstraints,
  valuesOf,
} from "./constraints.ts";
import { overlapOf } from "./disjointness.ts";

const keys = ["a", "b"];
const values = ["1", "2"];
const { constraints } = fc.letrec<{ constraints: Constraints }>((tie) => ({
  constraints: fc.oneof(
    { depthSize: "small" },
    fc.record({
      kind: fc.constant("value" as const),
      key: fc.constantFrom(...keys),
      value: fc.constantFrom(...values),
    }),
    fc.record({ kind: fc.constant("exists" as const), key: fc.constantFrom(...keys) }),
    fc.record({ kind: fc.constant("not" as const), of: tie("constraints") }),
    fc.record({
      kind: fc.constantFrom("any" as const, "all" as const),
      of: fc.array(tie("constraints"), { maxLength: 3 }),
    }),
  ),
}));

/** Every way in which a client can differ, to these constraints: "3" is a value that none of them speaks of. */
const everyClient = [undefined, "1", "2", "3"].flatMap((a) =>
  [undefined, "1", "2", "3"].map(
    (b) =>
      new Map([
        ...(a === undefined ? [] : [["a", a] as const]),
        ...(b === undefined ? [] : [["b", b] as const]),
        ["c", "x"],
      ]),
  ),
);

test("B-LOC-04 the cases of constraints are met by the same clients", () => {
  fc.assert(
    fc.property(constraints, (one) => {
      const cases = casesOf(one);
      if (cases === undefined) return;
      for (const client of everyClient) {
        const isCase = cases.some((of) => valuesOf([...of.keys()], of) === valuesOf([...of.keys()], client));
        expect(isCase).toBe(matches(one, client));
      }
    }),
  );
});

test("B-LOC-04 constraints that are met in very many cases, or not by values, have none", () => {
  const oneOf = (key: string): Constraints => ({
    kind: "any",
    of: Array.from({ length: 10 }, (_, index) => ({ kind: "value", key, value: `${index}` })),
  });
  const not: Constraints = { kind: "not", of: oneOf("a") };
  expect([casesOf(oneOf("a"))?.length, casesOf({ kind: "all", of: [oneOf("a"), oneOf("b")] }), casesOf(not)]).toEqual([
    10,
    undefined,
    undefined,
  ]);
});

describe("B-LOC-04 constraints", () => {
  const a1: Constraints = { kind: "value", key: "a", value: "1" };
  const hasB: Constraints = { kind: "exists", key: "b" };
  test.each<[string, Constraints, readonly [boolean, boolean, boolean, boolean]]>([
    ["a value", a1, [false, true, false, true]],
    ["that it exists", hasB, [false, false, true, true]],
    ["any", { kind: "any", of: [a1, hasB] }, [false, true, true, true]],
    ["all", { kind: "all", of: [a1, hasB] }, [false, false, false, true]],
    ["not", { kind: "not", of: a1 }, [true, false, true, false]],
    ["nothing", { kind: "all", of: [] }, [true, true, true, true]],
    ["any of nothing", { kind: "any", of: [] }, [false, false, false, false]],
    ["not any", { kind: "not", of: { kind: "any", of: [a1, hasB] } }, [true, false, false, false]],
    [
      "all of any and not",
      {
        kind: "all",
        of: [
          { kind: "any", of: [a1, hasB] },
          { kind: "not", of: a1 },
        ],
      },
      [false, false, true, false],
    ],
  ])("%s", (_, tried, expected) => {
    const clients = [
      new Map(),
      new Map([["a", "1"]]),
      new Map([["b", ""]]),
      new Map([
        ["a", "1"],
        ["b", "x"],
      ]),
    ];
    expect(clients.map((client) => matches(tried, client))).toEqual(expected);
  });

  test("have a canonical form that holds of the same clients, and texts that can be read", () => {
    fc.assert(
      fc.property(constraints, (given) => {
        const canonical = canonicalConstraints(given);
        expect(canonicalConstraints(canonical)).toEqual(canonical);
        expect(parseConstraints(formatConstraints(canonical))).toEqual(canonical);
        for (const client of everyClient) expect(matches(canonical, client)).toBe(matches(given, client));
      }),
    );
  });

  test("B-LOC-04 hold of the parameters that they are made of, and of who has more", () => {
    const parameters = new Map([
      ["b", "2"],
      ["a", "1"],
    ]);
    const made = constraintsOf(parameters);
    expect([describeConstraints(made), constrainedKeys(made)]).toEqual(['a = "1" and b = "2"', ["a", "b"]]);
    expect(
      [parameters, new Map([...parameters, ["c", ""]]), new Map([["a", "1"]])].map((one) => matches(made, one)),
    ).toEqual([true, true, false]);
  });
});

describe("S-LOC-08 two sets of constraints", () => {
  test("overlap if and only if some client meets both", () => {
    fc.assert(
      fc.property(constraints, constraints, (a, b) => {
        const isMet = everyClient.some((client) => matches(a, client) && matches(b, client));
        expect(overlapOf(a, b)).toBe(isMet ? "overlapping" : "disjoint");
      }),
      { numRuns: 2_000 },
    );
  });

  test("are given up where trying would take too long", () => {
    const pigeons = Array.from({ length: 9 }, (_, i) => i);
    // Nine pigeons in eight holes: a riddle that takes long to see through.
    const is = (pigeon: number, hole: number): Constraints => ({ kind: "exists", key: `${pigeon} in ${hole}` });
    const holes = pigeons.slice(1);
    const placed: Constraints = {
      kind: "all",
      of: pigeons.map((pigeon) => ({ kind: "any", of: holes.map((hole) => is(pigeon, hole)) })),
    };
    const alone: Constraints = {
      kind: "not",
      of: {
        kind: "any",
        of: holes.flatMap((hole) =>
          pigeons.flatMap((a) =>
            pigeons.flatMap((b): Constraints[] => (a < b ? [{ kind: "all", of: [is(a, hole), is(b, hole)] }] : [])),
          ),
        ),
      },
    };
    expect(overlapOf(placed, alone)).toBe("too-complicated");
  });
});
