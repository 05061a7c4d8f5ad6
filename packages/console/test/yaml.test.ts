import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { toYaml } from "../src/yaml.ts";

test("what is shown as YAML is the JSON that it was made from", () => {
  const json = fc.jsonValue({ maxDepth: 5 });
  fc.assert(
    fc.property(json, (value) => {
      // YAML has no negative zero in JSON's sense.
      const wanted: unknown = JSON.parse(JSON.stringify(value));
      expect(parse(toYaml(value))).toEqual(wanted);
    }),
    { numRuns: 500 },
  );
});

test("lists and maps are indented as people write them", () => {
  expect(
    toYaml({ name: "a", empty: {}, none: [], routes: [{ match: { prefix: "/" }, yes: "no" }, [1, "two words"]] }),
  ).toBe(
    [
      "name: a",
      "empty: {}",
      "none: []",
      "routes:",
      "  - match:",
      "      prefix: /",
      '    "yes": "no"',
      "  - - 1",
      '    - "two words"',
      "",
    ].join("\n"),
  );
});
