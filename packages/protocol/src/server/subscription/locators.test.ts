import fc from "fast-check";
import { expect, test } from "vitest";
import { locatedTerm } from "../../resource/variant-name.ts";
import { Locators } from "./locators.ts";

const names = ["a", "b", "*", "xdstp://x/t/d/*", "xdstp://x/t/d/m"];
const term = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom("1", "2", undefined))
  .map(([name, env]) => locatedTerm(name, new Map(env === undefined ? [] : [["env", env]])));

/** All that can be asked of them. */
function answers(locators: Locators): unknown {
  return [
    locators.asksForAll,
    locators.asksForMany,
    ...names.map((name) => [[...locators.termsOf(name)].sort(), [...locators.termsAround(name)].sort()]),
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
