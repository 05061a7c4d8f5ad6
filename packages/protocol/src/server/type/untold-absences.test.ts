import { expect, test, vi } from "vitest";
import { ENDPOINTS, resource } from "../../../test/support/resources.ts";
import type { PendingResponse } from "./type-stream.ts";
import { type AbsenceFlush, UntoldAbsences } from "./untold-absences.ts";

/** An answer with these resources, removals, requested names that do not exist, and such without a body. */
function answering(what: {
  puts?: readonly string[];
  removed?: readonly string[];
  asked?: readonly string[];
  missing?: readonly string[];
}): PendingResponse {
  const { puts = [], removed = [], asked = [], missing = [] } = what;
  const segment = {
    puts: puts.map((name) => resource(ENDPOINTS, name, "1")),
    removed: [...removed, ...asked],
    missing,
  };
  const body = { variant: "delta" as const, type: ENDPOINTS, version: "1", segments: [segment] };
  return { body, isInOrder: true, news: [], asked: new Set(asked) };
}

const at = (revision: number, to: number | undefined, more: Partial<AbsenceFlush> = {}): (() => AbsenceFlush) => {
  const bounds = { to, overruledTo: -1, isUnmet: () => false, isAwaited: () => false };
  return () => ({ bounds, revision, mayWait: () => true, isUnused: () => true, mustAnswer: false, ...more });
};
const said = (answers: readonly PendingResponse[]): unknown =>
  answers.map(({ body }) =>
    body.segments.map(({ puts, removed, missing }) => [puts.map(({ name }) => name), removed, missing]),
  );
const due = (all: UntoldAbsences, to: number | undefined, revision: number, overruledTo = -1): readonly string[] => [
  ...all.takeDue(() => ({ to, overruledTo, isUnmet: () => false, isAwaited: () => false }), {
    revision,
    isUnused: () => true,
  }),
];

test("S-ORD-10 what was asked for and does not exist is left out, nothing else", () => {
  const all = new UntoldAbsences();
  const answer = answering({ puts: ["a"], removed: ["b"], asked: ["c", "used"], missing: ["d"] });
  const isUnused = (name: string): boolean => name !== "used";
  expect(said(all.withhold([answer], at(5, 4, { isUnused })))).toEqual([[[["a"], ["b", "used"], []]]]);
  expect(["a", "b", "c", "used", "d"].map((name) => all.has(name))).toEqual([false, false, true, false, true]);
  expect([all.isEmpty, all.oldest, due(all, 4, 6), due(all, 5, 6), all.isEmpty, all.oldest]).toEqual([
    ...[false, 5, [], ["c", "d"], true, Number.POSITIVE_INFINITY],
  ]);
});

test("S-ORD-10 what has no body is left out beside nothing else, too", () => {
  const all = new UntoldAbsences();
  expect([said(all.withhold([answering({ missing: ["a"] })], at(5, 4))), due(all, 5, 6)]).toEqual([[], ["a"]]);
});

test("for answers without absences it is not determined what the client has", () => {
  const all = new UntoldAbsences();
  const answers = [answering({ puts: ["a"], removed: ["b"] })];
  const flush = vi.fn(at(5, 4));
  expect([all.withhold(answers, flush) === answers, flush.mock.calls]).toEqual([true, []]);
});

test("nothing is left out for a client that has what there is, or was waited for in vain", () => {
  const all = new UntoldAbsences();
  const answers = [answering({ asked: ["a"] })];
  const overruled = at(5, undefined, {
    bounds: { to: undefined, overruledTo: 5, isUnmet: () => false, isAwaited: () => false },
  });
  expect([said(all.withhold(answers, at(5, 5))), said(all.withhold(answers, overruled)), all.isEmpty]).toEqual([
    ...[[[[[], ["a"], []]]], [[[[], ["a"], []]]], true],
  ]);
});

test("an answer of which nothing is left is none, unless one is due", () => {
  const all = new UntoldAbsences();
  const answers = [answering({ asked: ["a"] })];
  expect([said(all.withhold(answers, at(5, 4))), said(all.withhold(answers, at(5, 4, { mustAnswer: true })))]).toEqual([
    [],
    [[[[], [], []]]],
  ]);
});

test("one that was noticed keeps its revision; a timeout up to it, a resource and the client end it", () => {
  const all = new UntoldAbsences();
  for (const revision of [5, 7]) all.withhold([answering({ asked: ["a", "b", "c"] })], at(revision, 4));
  all.forget("b");
  all.withhold([answering({ puts: ["c"] })], at(8, 8));
  expect([all.oldest, due(all, 4, 8, 4), due(all, 4, 8, 5), all.isEmpty]).toEqual([5, [], ["a"], true]);
});

test("as long as a removal waits or something is under way, the client has to have what comes after", () => {
  const all = new UntoldAbsences();
  expect(all.withhold([answering({ asked: ["a"] })], at(0, undefined))).toEqual([]);
  all.forget("a");
  all.withhold([answering({ asked: ["a"] })], at(5, undefined));
  expect([due(all, undefined, 7), due(all, 6, 8), all.oldest, due(all, 7, 8)]).toEqual([[], [], 5, ["a"]]);
});

test("what a Cluster in use waits for is not told before a timeout; nor what it no longer refers to, before the client knows", () => {
  const all = new UntoldAbsences();
  const isUsed = { isUnused: () => false };
  const bounds = { to: 5, overruledTo: -1, isUnmet: (name: string) => name !== "told", isAwaited: () => false };
  const waits = at(5, 5, { ...isUsed, bounds, mayWait: (name) => name !== "due" });
  expect(said(all.withhold([answering({ asked: ["a", "told", "due"] })], waits))).toEqual([
    [[[], ["told", "due"], []]],
  ]);
  const dueAt = (revision: number, now: Partial<typeof bounds>, isUnused: boolean): readonly string[] => [
    ...all.takeDue(() => ({ ...bounds, ...now }), { revision, isUnused: () => isUnused }),
  ];
  expect([dueAt(5, {}, false), dueAt(6, {}, true), dueAt(6, { to: 6 }, true)]).toEqual([[], [], ["a"]]);
  all.withhold([answering({ asked: ["a"] })], waits);
  expect([dueAt(6, { overruledTo: 4 }, false), dueAt(6, { overruledTo: 5 }, false)]).toEqual([[], ["a"]]);
  all.withhold([answering({ asked: ["a"] })], waits);
  expect(dueAt(6, { isUnmet: () => false, isAwaited: () => false }, false)).toEqual(["a"]);
});
