import { setImmediate as nextTurn } from "node:timers/promises";
import type { Remembered } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { SharedHistory } from "./shared-history.ts";

const record = (node: string): Remembered => ({ kind: "clusters-elsewhere", node, isElsewhere: true });

/** How often, and at how many records, records are replaced by what they come to. */
async function compactions(records: number, comeTo: number): Promise<readonly number[]> {
  const at: number[] = [];
  const history = new SharedHistory(undefined, () => {
    at.push(history.records.length);
    return Array.from({ length: comeTo }, (_, index) => record(`n${index}`));
  });
  for (let i = 0; i < records; i++) {
    history.remember(record(`n${i % comeTo}`));
    await nextTurn();
  }
  return at;
}

test("records are replaced by what they come to once they are twice as many, also if that is much", async () => {
  expect(await compactions(10_000, 100)).toEqual([4_097, 4_097]);
  expect(await compactions(12_000, 4_100)).toEqual([4_097, 8_201]);
});
