import fc from "fast-check";
import { expect, test } from "vitest";
import { Names } from "../subscription/names.ts";
import { PendingNames } from "./pending-names.ts";

const term = fc.constantFrom("a", "b", "c", "d");
const step = fc.oneof(
  fc.record({ does: fc.constant("add" as const), term, isNew: fc.boolean() }),
  fc.record({ does: fc.constant("delete" as const), term }),
  fc.record({ does: fc.constant("addAll" as const), terms: fc.uniqueArray(term), areNew: fc.boolean() }),
);

test("pending names are those of a plain map, whether they were shared or added one by one", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const pending = new PendingNames();
      const plain = new Map<string, boolean>();
      const add = (name: string, isNew: boolean): void => {
        if (isNew || !plain.has(name)) plain.set(name, isNew);
      };
      for (const one of steps) {
        if (one.does === "delete") {
          pending.delete(one.term);
          plain.delete(one.term);
        } else if (one.does === "add") {
          pending.add(one.term, one.isNew);
          add(one.term, one.isNew);
        } else {
          pending.addAll(Names.of(new Set(one.terms)), one.areNew);
          for (const name of one.terms) add(name, one.areNew);
        }
        expect([...pending.keys()].map((name) => [name, pending.get(name), pending.has(name)])).toEqual(
          [...plain].map(([name, isNew]) => [name, isNew, true]),
        );
        expect([pending.size, pending.has("z"), pending.get("z")]).toEqual([plain.size, false, undefined]);
      }
    }),
  );
});
