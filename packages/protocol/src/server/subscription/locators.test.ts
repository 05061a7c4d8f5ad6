import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import type { Constraints, Parameters } from "../../resource/constraints.ts";
import type { Resource } from "../../resource/resource.ts";
import { locatedTerm, variantKey } from "../../resource/variant-name.ts";
import { answeredAmong, Locators, replacedAmong } from "./locators.ts";

const names = ["a", "b", "*", "xdstp://x/t/d/*", "xdstp://x/t/d/m"];
const term = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom("1", "2", undefined))
  .map(([name, env]) => locatedTerm(name, new Map(env === undefined ? [] : [["env", env]])));

const shown = (parameters: Parameters): string => JSON.stringify([...parameters]);

/** All that can be asked of them. */
function answers(locators: Locators): unknown {
  return [
    locators.asksForAll,
    locators.repeatedBroadly,
    ...names.map((name) => [...locators.termsOf(name)].sort()),
    ...names.map((name) => [locators.hasTermsAround(name), [...locators.parametersBeside(name)].map(shown).sort()]),
    ...names.map((name) => locators.asksFor(name)),
  ];
}

test("locators that terms were added to and taken from are those that are left", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(term, fc.boolean()), { maxLength: 30 }), (steps) => {
      const locators = new Locators([]);
      const left = new Set<string>();
      for (const [one, isAdded] of steps) {
        if (isAdded) {
          locators.add(one);
          left.add(one);
        } else {
          locators.delete(one);
          left.delete(one);
        }
      }
      expect(answers(locators)).toEqual(answers(new Locators(left)));
    }),
  );
});

test("whether a term is subscribed to is found without a look at the other terms of its name", () => {
  const terms = Array.from({ length: 100 }, (_, index) => locatedTerm("a", new Map([["shard", `${index}`]])));
  const locators = new Locators(terms);
  const parse = vi.spyOn(JSON, "parse");
  const asked = terms.map((one) => locators.asksFor(one));
  const parsed = parse.mock.calls.length;
  parse.mockRestore();
  expect(asked).toEqual(terms.map(() => true));
  expect(parsed).toBe(terms.length);
});

describe("which terms a variant matches is found without a look at the other terms of its name:", () => {
  const shards = Array.from({ length: 100 }, (_, index) => `${index}`);
  const terms = shards.map((shard) => locatedTerm("a", new Map([["shard", shard]])));
  let looks = 0;
  const ofShard = (value: string): Constraints => ({
    key: "shard",
    value,
    get kind(): "value" {
      looks++;
      return "value";
    },
  });
  const variants = (values: readonly string[]): readonly Resource[] =>
    values.map((value) => {
      const constraints = ofShard(value);
      const name = variantKey({ name: "a", constraints });
      return { ...cluster("a", "1"), name, variant: { name: "a", constraints, onDemand: false } };
    });
  const looksFor = (work: () => void): number => {
    looks = 0;
    work();
    return looks;
  };

  test("whether there is one", () => {
    const locators = new Locators(terms);
    const some = variants([...shards, "other"]);
    let covered: readonly boolean[] = [];
    const count = looksFor(() => (covered = some.map((one) => locators.covers(one))));
    expect(covered).toEqual([...shards.map(() => true), false]);
    expect(count).toBe(some.length);
    for (const term of terms.slice(1)) locators.delete(term);
    locators.add(locatedTerm("a", new Map([["shard", "other"]])));
    expect(some.filter((one) => locators.covers(one))).toEqual([some[0], some.at(-1)]);
  });

  test("and which are answered", () => {
    const some = variants(shards.slice(1));
    let answered: readonly string[] = [];
    const count = looksFor(() => (answered = answeredAmong(terms, some)));
    expect(answered).toEqual(terms.slice(1));
    // The last few are looked at one by one.
    expect(count).toBeLessThan(2 * some.length);
  });
});

describe("B-LOC-04: locators", () => {
  const glob = "xdstp://x/t/d/*";
  const member = "xdstp://x/t/d/m";
  const located = (name: string, env?: string): string =>
    locatedTerm(name, new Map(env === undefined ? [] : [["env", env]]));
  const variant = (name: string, env: string, onDemand = false): Resource => {
    const constraints = { kind: "value", key: "env", value: env } as const;
    return { ...cluster(name, "1"), name: variantKey({ name, constraints }), variant: { name, constraints, onDemand } };
  };

  test("cover a variant whose constraints match the parameters of a term for its name, collection, alias, or all", () => {
    const covered = (term: string): readonly boolean[] => {
      const locators = new Locators([term]);
      const aliased = { ...variant("b", "x"), aliases: ["a"] };
      return [variant("a", "x"), variant("a", "y"), variant("b", "x"), variant(member, "x"), aliased].map((one) =>
        locators.covers(one),
      );
    };
    expect([located("a", "x"), located("*", "x"), located(glob, "x"), located("a")].map(covered)).toEqual([
      [true, false, false, false, true],
      [true, false, true, true, true],
      [false, false, false, true, false],
      [false, false, false, false, false],
    ]);
  });

  test("cover a resource without constraints by name, and under all unless it comes on demand; never a stand-in", () => {
    const [all, named] = [new Locators([located("*", "x")]), new Locators([located("a", "x")])];
    const plain = cluster("a", "1");
    const covers = (one: Resource): unknown => [all.covers(one), named.covers(one)];
    expect(
      [
        plain,
        { ...plain, onDemand: true },
        { ...plain, isStandIn: true as const },
        variant("a", "x", true),
        { ...variant("a", "x"), onDemand: true },
      ].map(covers),
    ).toEqual([
      [true, true],
      [false, true],
      [false, false],
      [false, true],
      [true, true],
    ]);
  });

  test("ask for names, terms and variant keys, existing or not", () => {
    const asked = (terms: readonly string[]): readonly boolean[] => {
      const locators = new Locators(terms);
      const keys = [variant("a", "x").name, variant("a", "y").name, variant(member, "x").name];
      return ["a", member, located("a", "x"), located("a", "y"), located(member, "x"), ...keys].map((text) =>
        locators.asksFor(text),
      );
    };
    expect([[located("a", "x")], [located(glob, "x")], [located("*", "x")], [], ["a"]].map(asked)).toEqual([
      [true, false, true, false, false, true, false, false],
      [false, true, false, false, true, false, false, true],
      [true, true, true, false, true, true, false, true],
      [false, false, false, false, false, false, false, false],
      [false, false, false, false, false, false, false, false],
    ]);
  });

  test("list the terms of a name, and those that may match it", () => {
    const terms = [located("a", "x"), located("a", "y"), located(glob, "g"), located("*"), located(member)];
    const locators = new Locators(terms);
    const [ax, ay] = terms;
    const beside = (name: string): readonly string[] => [...locators.parametersBeside(name)].map(shown);
    expect([locators.termsOf("a"), beside("a"), beside(member), locators.hasTermsAround("z")]).toEqual([
      [ax, ay],
      ["[]"],
      ['[["env","g"]]', "[]"],
      true,
    ]);
    locators.delete(located("*"));
    expect([beside("a"), beside(member), ["a", member, "z"].map((name) => locators.hasTermsAround(name))]).toEqual([
      [],
      ['[["env","g"]]'],
      [true, true, false],
    ]);
    locators.delete(located("a", "z"));
    locators.delete("a");
    locators.delete(located("a", "x"));
    expect(locators.termsOf("a")).toEqual([ay]);
  });
});

describe("S-LOC-07: a name with constraints", () => {
  const variantOf = (name: string, value: string): Resource => {
    const constraints = { kind: "value", key: "env", value } as const;
    return {
      ...cluster(name, "1"),
      name: variantKey({ name, constraints }),
      variant: { name, constraints, onDemand: false },
    };
  };
  const [ax, ay, bx] = [variantOf("a", "x"), variantOf("a", "y"), variantOf("b", "x")];

  test("is replaced by another variant of it", () => {
    const replaced = (...puts: readonly Resource[]): readonly string[] => [
      ...replacedAmong([ax.name, bx.name, "a", "b"], puts),
    ];
    expect([replaced(ay), replaced(cluster("a", "1")), replaced(ay, bx), replaced()]).toEqual([
      [ax.name],
      [],
      [ax.name, bx.name],
      [],
    ]);
  });

  test("answers the terms that it matches", () => {
    const terms = [
      locatedTerm("a", new Map([["env", "x"]])),
      locatedTerm("a"),
      locatedTerm("b", new Map([["env", "x"]])),
    ];
    const answered = (...puts: readonly Resource[]): readonly string[] => answeredAmong(["a", ...terms], puts);
    expect([answered(ax), answered(ay), answered(bx, ax), answered(cluster("a", "1"))]).toEqual([
      [terms[0]],
      [],
      [terms[2], terms[0]],
      [terms[0], terms[1]],
    ]);
    expect(answeredAmong(["a"], [ax])).toEqual([]);
  });
});
