import fc from "fast-check";
import { expect, test } from "vitest";
import { Slices } from "../slices.ts";
import { stringify } from "./stringify.ts";

test("the text is that of JSON.stringify, however long the lists are", async () => {
  const item = fc.jsonValue({ maxDepth: 2 });
  const list = fc.oneof(fc.array(item, { maxLength: 3 }), fc.array(item, { minLength: 95, maxLength: 140 }));
  const value = fc.record({ list, of: fc.record({ list: fc.array(list, { maxLength: 2 }), item }) });
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      expect(await stringify(given, new Slices())).toBe(JSON.stringify(given));
    }),
  );
});
