import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { applyRuns, FreshItems, leftOut, runsBetween } from "./list-edit.ts";

const items = Array.from({ length: 12 }, (_, id) => ({ id }));
const list = fc.uniqueArray(fc.constantFrom(...items));

test("a list is made again of the one before it, and only what is new is sent", () => {
  fc.assert(
    fc.property(list, list, list, (before, after, others) => {
      const sent = others.filter((item) => !before.includes(item));
      const fresh = new FreshItems(sent);
      const runs = runsBetween(before, after, fresh);
      expect(fresh.unsent).toEqual(after.filter((item) => !before.includes(item) && !sent.includes(item)));
      expect(fresh.list).toEqual([...sent, ...fresh.unsent]);
      const made = applyRuns(runs, before, fresh.list);
      expect(made.map((item, index) => item === after[index])).toEqual(after.map(() => true));
      expect(leftOut(runs, before)).toEqual(before.filter((item) => !after.includes(item)));
    }),
  );
});

test("one change in a long list is three runs", () => {
  const before = Array.from({ length: 1000 }, (_, id) => ({ id }));
  const changed = { id: 500 };
  const fresh = new FreshItems<{ id: number }>();
  expect(runsBetween(before, before.with(500, changed), fresh)).toEqual([
    { of: "before", begin: 0, end: 500 },
    { of: "new", begin: 0, end: 1 },
    { of: "before", begin: 501, end: 1000 },
  ]);
  expect(fresh.list).toEqual([changed]);
});

test("of a long list with one change only that is looked up", () => {
  const setting = vi.spyOn(Map.prototype, "set");
  const counts = [1000, 2000].map((length) => {
    const before = Array.from({ length }, (_, id) => ({ id }));
    const after = before.with(500, { id: 500 });
    setting.mockClear();
    runsBetween(before, after, new FreshItems());
    return setting.mock.calls.length;
  });
  setting.mockRestore();
  expect(counts).toEqual([1, 1]);
});
