import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Load } from "./loaded-state.ts";
import { untilReturn } from "./watch-iterator.ts";

const load: Load = { state: undefined, problems: [] };

async function* oneLoad(): AsyncGenerator<Load, undefined> {
  yield await Promise.resolve(load);
}

// biome-ignore lint/correctness/useYield: it fails before
async function* failing(): AsyncGenerator<Load, undefined> {
  await Promise.reject(new Error("out of memory"));
}

test("a watch that ends by itself leaves no listener at the signal", async () => {
  const { signal } = new AbortController();
  const loads: Load[] = [];
  const watch = untilReturn(signal, oneLoad);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for await (const one of watch) loads.push(one);
  expect(loads).toEqual([load]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a watch that fails leaves no listener at the signal", async () => {
  const { signal } = new AbortController();
  await expect(untilReturn(signal, failing).next()).rejects.toThrow("out of memory");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a watch that is left leaves no listener at the signal", async () => {
  const { signal } = new AbortController();
  for await (const one of untilReturn(signal, oneLoad)) {
    expect(one).toBe(load);
    break;
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
