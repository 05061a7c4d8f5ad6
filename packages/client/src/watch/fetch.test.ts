import type { HeldResource, WatchEvent } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FetchSetting, fetchAll } from "./fetch.ts";

const changed = (name: string): WatchEvent => ({
  kind: "changed",
  name,
  resource: {
    ...{ type: "type.googleapis.com/t", name, aliases: [], version: "1", bytes: new Uint8Array(), references: [] },
    ttlMs: undefined,
  },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Fetches from a delta server that tells things at these times, and returns when what was fetched, in milliseconds. */
async function fetchFrom(told: readonly { readonly at: number; readonly news: readonly WatchEvent[] }[]) {
  const begin = performance.now();
  let at: number | undefined;
  const fetched = fetchAll(settingOf(told, new AbortController())).finally(() => {
    at = performance.now() - begin;
  });
  await vi.runAllTimersAsync();
  return { names: await fetched, at };
}

function settingOf(
  told: readonly { readonly at: number; readonly news: readonly WatchEvent[] }[],
  closing: AbortController,
): FetchSetting {
  return {
    driver: { isJudging: () => false },
    watch: (listener: (news: WatchEvent) => void) => {
      for (const { at, news } of told) setTimeout(() => news.forEach(listener), at);
      return () => undefined;
    },
    views: { of: ({ name }: HeldResource) => name },
    vigil: { begin: () => undefined, end: () => undefined },
    source: { kind: "grpc", variant: "delta" },
    about: "all",
    closing: closing.signal,
  } as unknown as FetchSetting;
}

test("all in delta: as long as the first part took, another one is waited for", async () => {
  const parts = [
    { at: 400, news: [changed("a"), { kind: "synced" } as const] },
    { at: 750, news: [changed("b")] },
  ];
  expect(await fetchFrom(parts)).toEqual({ names: ["a", "b"], at: 1_150 });
});

test("all in delta: a tenth of a second at least", async () => {
  const parts = [
    { at: 10, news: [changed("a"), { kind: "synced" } as const] },
    { at: 100, news: [changed("b")] },
    { at: 300, news: [changed("c")] },
  ];
  expect(await fetchFrom(parts)).toEqual({ names: ["a", "b"], at: 210 });
});

test("all in delta: no other part is waited for after the client closed", async () => {
  const closing = new AbortController();
  const fetched = fetchAll(settingOf([{ at: 3_000, news: [changed("a"), { kind: "synced" }] }], closing));
  const failure = fetched.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(3_010);
  closing.abort(new Error("closed"));
  expect(await failure).toEqual(new Error("closed"));
  await vi.advanceTimersByTimeAsync(50);
  expect(vi.getTimerCount()).toBe(0);
});
