import { describe, expect, test } from "vitest";
import { CLUSTER, resource } from "../../test/support/resources.ts";
import { Journal } from "./journal.ts";
import { finish } from "./steps.ts";

const a1 = resource(CLUSTER, "a", "1");
const a2 = resource(CLUSTER, "a", "2");

/** Changes at 3 (a comes), 5 (a and b), 5 and 9. */
function journal(): Journal {
  const lines = new Journal();
  lines.append(3, "a", undefined, 0);
  lines.append(5, "a", a1, 10);
  lines.append(5, "b", undefined, 0);
  lines.append(9, "a", a2, 7);
  return lines;
}

describe("a journal", () => {
  test("is empty at first", () => {
    const lines = new Journal();
    expect([lines.length, lines.bytes, lines.trimmedTo, lines.middle, lines.changeAt(4)]).toEqual([0, 0, 0, 0, 0]);
    expect(finish(lines.pastAt(0))).toEqual(new Map());
  });

  test("counts its lines and the bytes that only they keep", () => {
    expect([journal().length, journal().bytes]).toEqual([4, 17]);
  });

  test("knows what each name that changed after a revision was then", () => {
    const lines = journal();
    expect([...finish(lines.pastAt(0))]).toEqual([
      ["a", undefined],
      ["b", undefined],
    ]);
    expect([...finish(lines.pastAt(3))]).toEqual([
      ["a", a1],
      ["b", undefined],
    ]);
    expect([...finish(lines.pastAt(4))]).toEqual([...finish(lines.pastAt(3))]);
    expect([...finish(lines.pastAt(5))]).toEqual([["a", a2]]);
    expect([...finish(lines.pastAt(9))]).toEqual([]);
    expect([...finish(lines.pastAt(100))]).toEqual([]);
  });

  test("gives cursors with equal answers one change to stand at", () => {
    const lines = journal();
    expect([0, 2, 3, 4, 5, 8, 9, 10].map((revision) => lines.changeAt(revision))).toEqual([0, 0, 3, 3, 5, 5, 9, 9]);
  });

  test("forgets lines up to a revision, and with them their bytes", () => {
    const lines = journal();
    lines.trim(5);
    expect([lines.length, lines.bytes, lines.trimmedTo]).toEqual([1, 7, 5]);
    expect([...finish(lines.pastAt(5))]).toEqual([["a", a2]]);
    expect([lines.changeAt(5), lines.changeAt(8), lines.changeAt(9)]).toEqual([5, 5, 9]);
  });

  test("stays as it is when there is nothing to forget", () => {
    const lines = journal();
    lines.trim(2);
    expect([lines.length, lines.bytes, lines.trimmedTo]).toEqual([4, 17, 0]);
    lines.trim(9);
    lines.trim(7);
    expect([lines.length, lines.bytes, lines.trimmedTo]).toEqual([0, 0, 9]);
  });

  test("never says that it reaches further back than it does", () => {
    const lines = journal();
    lines.trim(100);
    lines.append(9, "late", undefined, 0);
    lines.trim(9);
    expect(lines.trimmedTo).toBe(100);
  });

  test("has a middle, at which half of the lines lie behind it", () => {
    const lines = journal();
    expect(lines.middle).toBe(5);
    lines.trim(lines.middle);
    expect([lines.length, lines.middle]).toEqual([1, 9]);
    lines.trim(lines.middle);
    expect([lines.length, lines.middle]).toEqual([0, 9]);
    const even = new Journal();
    for (const revision of [1, 2, 3, 4]) even.append(revision, "a", undefined, 0);
    expect(even.middle).toBe(2);
  });
});
