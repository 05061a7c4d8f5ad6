import { expect, test } from "vitest";
import { joinNewest, type Records } from "../src/join-newest.ts";

type Page = Records<{ readonly number: number }>;

const PAGE = 3;

/** The records from `newest` down, as many as a page has. */
function pageAt(newest: number): Page {
  const items = Array.from({ length: PAGE }, (_, index) => ({ number: newest - index }));
  return { items, next: newest - PAGE + 1 };
}

function numbers({ items, next }: Page): readonly (number | undefined)[] {
  return [...items.map(({ number }) => number), next];
}

test("a page that stays open shows as many records as before, however many come", () => {
  let shown = pageAt(100);
  for (let newest = 101; newest <= 1_000; newest++) shown = joinNewest(pageAt(newest), shown);
  expect(numbers(shown)).toEqual([1_000, 999, 998, 998]);
});

test("records that were asked for stay as many as they were", () => {
  const known: Page = { items: [9, 8, 7, 6, 5, 4].map((number) => ({ number })), next: 4 };
  expect(numbers(joinNewest(pageAt(10), known))).toEqual([10, 9, 8, 7, 6, 5, 5]);
});

test("nothing new leaves everything as it is", () => {
  const known: Page = { items: [9, 8, 7, 6].map((number) => ({ number })), next: undefined };
  expect(numbers(joinNewest(pageAt(9), known))).toEqual([9, 8, 7, 6, undefined]);
});

test("the newest page replaces what is known if something may be between them", () => {
  expect(numbers(joinNewest(pageAt(50), pageAt(10)))).toEqual([50, 49, 48, 48]);
});
