import fc from "fast-check";
import { expect, test } from "vitest";
import { formatReached, NodePast, parseReached } from "./node-past.ts";

test("a node gets a line when it has another number, also an older one", () => {
  const past = new NodePast();
  const reach = (number: number, id = "a"): boolean => past.reach({ time: 1, number, id });
  expect([reach(1), reach(1), reach(2), reach(1), reach(1, "b")]).toEqual([true, false, true, true, true]);
  expect([...past.last]).toEqual([
    { time: 1, number: 1, id: "a" },
    { time: 1, number: 1, id: "b" },
  ]);
});

test("a node without an id, or with one that is too long, has no past", () => {
  const past = new NodePast();
  expect(["", "x".repeat(1_025)].map((id) => past.reach({ time: 1, number: 1, id }))).toEqual([false, false]);
});

test("a line is read as it was written, and nothing else is", () => {
  const reached = fc.record({ time: fc.nat(), number: fc.nat(), id: fc.string({ unit: "binary" }) });
  fc.assert(
    fc.property(reached, fc.nat(), (one, cut) => {
      const line = formatReached(one);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(parseReached(line)).toEqual(one);
      const torn = line.slice(0, cut % (line.length - 1));
      expect(parseReached(torn)).toBeUndefined();
    }),
  );
  for (const line of ["", "[1,2]", '["1",2,"a"]', "{}", "[1,2,3]"]) expect(parseReached(line)).toBeUndefined();
});
