import type { HeldResource, WatchEvent } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { type Watching, watchFollowing } from "./follow.ts";

const LOCATOR = "type.googleapis.com/xds.core.v3.ResourceLocator";

const resource = (name: string, more: Partial<HeldResource> = {}): HeldResource => ({
  ...{ type: "type.googleapis.com/t", name, aliases: [], version: "1", bytes: new Uint8Array(), references: [] },
  ttlMs: undefined,
  ...more,
});
const changed = (one: HeldResource, name = one.name): WatchEvent => ({ kind: "changed", name, resource: one });
const locator = (version: string): HeldResource => resource("here", { version, bodyType: LOCATOR });
const absent = (name: string, held?: HeldResource): WatchEvent => ({ kind: "absent", name, why: "removed", held });
const failed = (why: Extract<WatchEvent, { kind: "failed" }>["why"], held?: HeldResource): WatchEvent => ({
  ...{ kind: "failed", name: held?.name, why, error: { code: 14, message: "" } },
  held,
});

/** Places that can be told things, and what is heard of them. A locator leads to the place that its version names. */
function follow(...places: readonly string[]) {
  const watched = new Map<string, (news: WatchEvent) => void>();
  const heard: unknown[] = [];
  const opened: string[] = [];
  const place = (name: string): Watching => {
    return (listener) => {
      watched.set(name, listener);
      opened.push(name);
      return () => void watched.delete(name);
    };
  };
  const stop = watchFollowing(
    places.map(place),
    ({ version }) => (version === "nowhere" ? undefined : place(version)),
    (news) => {
      if (news.kind === "synced" || news.kind === "recovered") heard.push(news.kind);
      else heard.push([news.kind, news.name, "held" in news ? news.held?.name : news.resource.name]);
    },
  );
  const tell = (name: string, ...all: readonly WatchEvent[]): readonly unknown[] => {
    for (const news of all) watched.get(name)?.(news);
    return heard.splice(0);
  };
  return { stop, tell, opened, watched: () => [...watched.keys()] };
}

test("C-XTP-11 the next place is asked while the first cannot be reached, and what it told goes with it", () => {
  const { tell, watched, opened, stop } = follow("first", "second", "third");
  expect(watched()).toEqual(["first"]);
  tell("first", failed("unreachable"), failed("unreachable"));
  expect(watched()).toEqual(["first", "second"]);
  tell("second", failed("unreachable"));
  expect(watched()).toEqual(["first", "second", "third"]);
  // That it is back is no answer yet.
  expect(tell("first", { kind: "recovered" })).toEqual(["recovered"]);
  expect(watched()).toEqual(["first", "second", "third"]);
  tell("third", changed(resource("a")), changed(resource("b")), changed(resource("c")), absent("c"));
  expect(tell("first", changed(resource("a")))).toEqual([
    ["absent", "b", undefined],
    ["changed", "a", "a"],
  ]);
  expect(watched()).toEqual(["first"]);
  expect(tell("first", failed("unreachable"))).toEqual([["failed", undefined, undefined]]);
  expect(watched()).toEqual(["first"]);
  stop();
  expect([watched(), opened]).toEqual([[], ["first", "second", "third"]]);
});

test("C-XTP-11 what the first place says to be gone is gone once", () => {
  const { tell } = follow("first", "second");
  tell("first", failed("unreachable"));
  tell("second", changed(resource("a")));
  expect(tell("first", absent("a"))).toEqual([["absent", "a", undefined]]);
});

test("S-XTP-10 what a locator leads to is told under the name of that, and nothing twice", () => {
  const { tell, watched, stop } = follow("place");
  const there = resource("there");
  expect(tell("place", changed(locator("one")))).toEqual([]);
  expect(tell("one", changed(there), { kind: "synced" })).toEqual([["changed", "here", "there"]]);
  expect(tell("place", changed(locator("two")))).toEqual([]);
  expect(watched()).toEqual(["place", "two"]);
  expect(tell("two", changed(there))).toEqual([]);
  expect(tell("two", { kind: "confirmed", name: "there", resource: there })).toEqual([["confirmed", "here", "there"]]);
  expect(tell("two", changed(locator("three"), "there"))).toEqual([["failed", "here", "there"]]);
  stop();
  expect(watched()).toEqual([]);
});

test("S-XTP-10 what is held is what was told, and never a locator", () => {
  const { tell, watched } = follow("place");
  const confirmation: WatchEvent = { kind: "confirmed", name: "here", resource: locator("one") };
  tell("place", changed(locator("one")));
  expect(tell("place", confirmation, failed("rejected", locator("one")))).toEqual([["failed", "here", undefined]]);
  tell("one", changed(resource("there")));
  expect(tell("place", confirmation, failed("rejected", locator("one")), absent("here", locator("one")))).toEqual([
    ["confirmed", "here", "there"],
    ["failed", "here", "there"],
    ["absent", "here", "there"],
  ]);
  expect(tell("place", changed(locator("nowhere")))).toEqual([["failed", "here", "there"]]);
  expect(watched()).toEqual(["place"]);
  tell("place", changed(locator("one")));
  expect(tell("place", absent("here"))).toEqual([["absent", "here", undefined]]);
  expect(watched()).toEqual(["place"]);
});

test("S-XTP-10 C-ERR-09 a locator that an error ends leads nowhere any more", () => {
  const { tell, watched } = follow("place");
  tell("place", changed(locator("one")));
  tell("one", changed(resource("there")));
  expect(tell("place", { ...failed("rejected"), name: "here" } as WatchEvent)).toEqual([["failed", "here", undefined]]);
  expect(watched()).toEqual(["place"]);
});
