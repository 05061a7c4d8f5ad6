import type { HeldResource, WatchEvent } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import type { Member } from "../resource/members.ts";
import { watchList } from "./follow-list.ts";

const resource = (name: string, byte = 0, version = "1"): HeldResource => ({
  type: "type.googleapis.com/t",
  name,
  aliases: [],
  version,
  bytes: Uint8Array.of(byte),
  ttlMs: undefined,
});

const inline = (name: string, byte = 0, version = "1"): Member => ({
  kind: "inline",
  name,
  resource: resource(name, byte, version),
});
const located = (...names: readonly string[]): Member => ({ kind: "located", names });
const told = (name: string, byte = 0): WatchEvent => ({ kind: "changed", name, resource: resource(name, byte) });
const absent = (name: string): WatchEvent => ({ kind: "absent", name, why: "removed", held: undefined });

/** A list that has what it is told to have. */
function start(entry?: string) {
  const watched = new Map<string, (news: WatchEvent) => void>();
  const heard: unknown[] = [];
  let has: readonly Member[] = [];
  const watchAs = (name: string) => (listener: (news: WatchEvent) => void) => {
    watched.set(name, listener);
    return () => void watched.delete(name);
  };
  const stop = watchList(
    {
      watch: watchAs("list"),
      membersOf: () => ({ members: has, problems: [] }),
      watchAt: ([first]) => (first === undefined ? undefined : watchAs(first)),
      problemAt: () => "nowhere",
      entry,
    },
    (news) =>
      heard.push(
        news.kind === "synced" || news.kind === "recovered"
          ? news.kind
          : [news.kind, news.name, "held" in news ? news.held?.name : news.resource.bytes[0]],
      ),
  );
  const hear = (name: string, news: WatchEvent): readonly unknown[] => {
    watched.get(name)?.(news);
    return heard.splice(0);
  };
  return {
    stop,
    watched,
    hear,
    list: (...members: readonly Member[]): readonly unknown[] => {
      has = members;
      return hear("list", told("list"));
    },
  };
}

test("B-XTP-07 all is known when everything that is elsewhere was answered", () => {
  const { list, hear } = start();
  expect(list(inline("a"), located("b"), located("x/c"))).toEqual([["changed", "a", 0]]);
  const unreachable: WatchEvent = {
    kind: "failed",
    name: undefined,
    why: "unreachable",
    error: { code: 14, message: "" },
    held: undefined,
  };
  expect(hear("b", unreachable)).toEqual([["failed", undefined, undefined]]);
  expect(hear("b", told("b"))).toEqual([["changed", "b", 0]]);
  expect(hear("x/c", absent("x/c"))).toEqual([["absent", "x/c", undefined], "synced"]);
});

test("B-XTP-07 a glob collection that is listed was answered when all of it was told", () => {
  const { list, hear } = start();
  const glob = "xdstp://a/t/*";
  list(located(glob));
  expect(hear(glob, told("b"))).toEqual([["changed", "b", 0]]);
  expect(hear(glob, { kind: "synced" })).toEqual(["synced"]);
});

test("B-XTP-07 a list collection that is listed was answered when all of it was told, or it was refused", () => {
  const { list, hear } = start();
  const [one, other] = ["xdstp://a/tCollection/one", "xdstp://a/tCollection/other"];
  list(located(one), located(other));
  expect(hear(one, told("b"))).toEqual([["changed", "b", 0]]);
  expect(hear(one, { kind: "synced" })).toEqual([]);
  const failed = { kind: "failed", why: "rejected", error: { code: 3, message: "" }, held: undefined } as const;
  expect(hear(other, { ...failed, name: "c" })).toEqual([["failed", "c", undefined]]);
  expect(hear(other, { ...failed, name: other, why: "resource-error" })).toEqual([["failed", other, undefined]]);
  expect(hear(other, { ...failed, name: undefined, why: "timeout" })).toEqual([["failed", undefined, undefined]]);
  expect(hear(other, { ...failed, name: other })).toEqual([["failed", other, undefined], "synced"]);
});

test("B-XTP-07 one entry of another list collection was answered when it was told", () => {
  const { list, hear } = start();
  const entry = "xdstp://a/tCollection/one#entry=b";
  list(located(entry));
  expect(hear(entry, told("b"))).toEqual([["changed", "b", 0], "synced"]);
});

test("C-CLI-03 what two members of a list tell of one name is told once", () => {
  const { list, hear } = start();
  list(located("b"), located("c"));
  expect(hear("b", told("same"))).toEqual([["changed", "same", 0]]);
  expect(hear("c", told("same"))).toEqual(["synced"]);
  expect(hear("c", told("same", 1))).toEqual([["changed", "same", 1]]);
  expect(hear("b", told("same", 1))).toEqual([]);
});

test("C-DEL-10 what is elsewhere and held though it is gone is told as that, and again when it is back", () => {
  const { list, hear } = start();
  list(located("b"));
  hear("b", told("b"));
  const gone: WatchEvent = { kind: "absent", name: "b", why: "removed", held: resource("b") };
  expect(hear("b", gone)).toEqual([["absent", "b", "b"]]);
  expect(hear("b", told("b"))).toEqual([["changed", "b", 0]]);
});

test("B-XTP-07 nothing is gone that is listed twice, and nothing new in equal content", () => {
  const { list, hear } = start();
  list(inline("a"), located("b"), located("c"));
  hear("b", told("same"));
  hear("c", told("same"));
  expect(hear("c", absent("same"))).toEqual([]);
  hear("c", told("same"));
  expect(list(inline("a", 0, "2"), located("b"))).toEqual([]);
  expect(list(inline("a", 1))).toEqual([
    ["absent", "same", undefined],
    ["changed", "a", 1],
  ]);
});

test("B-XTP-07 C-WRM-04 what stands in the list is confirmed with it", () => {
  const { list, hear } = start();
  list(inline("a"), located("b"));
  hear("b", told("b"));
  expect(hear("list", { kind: "confirmed", name: "list", resource: resource("list") })).toEqual([
    ["confirmed", "a", 0],
  ]);
});

test("B-XTP-07 a list that is gone, but held, holds its members; one that is not takes them along", () => {
  const { list, hear } = start();
  list(inline("a"));
  const held = resource("list");
  expect(hear("list", { kind: "absent", name: "list", why: "removed", held })).toEqual([
    ["absent", "a", "a"],
    ["absent", "list", undefined],
  ]);
  expect(hear("list", absent("list"))).toEqual([
    ["absent", "a", undefined],
    ["absent", "list", undefined],
  ]);
});

test("B-XTP-07 an error of the list leaves its members, unless nothing is held of it", () => {
  const { list, hear } = start();
  list(inline("a"));
  const failed = { kind: "failed", name: "list", why: "rejected", error: { code: 3, message: "" } } as const;
  expect(hear("list", { ...failed, held: resource("list") })).toEqual([["failed", "list", undefined]]);
  expect(hear("list", { ...failed, held: undefined })).toEqual([
    ["absent", "a", undefined],
    ["failed", "list", undefined],
  ]);
});

test("B-XTP-07 only the entry that is asked for is told", () => {
  const { list, watched } = start("b");
  expect(list(inline("list#entry=a"), located("c"))).toEqual([["absent", "list#entry=b", undefined], "synced"]);
  expect([...watched.keys()]).toEqual(["list"]);
  expect(list(inline("list#entry=b"))).toEqual([["changed", "list#entry=b", 0]]);
  expect(list()).toEqual([["absent", "list#entry=b", undefined]]);
});

test("B-XTP-07 that an entry is missing is told once, whatever becomes of its list", () => {
  const { list, hear } = start("b");
  const missing = ["absent", "list#entry=b", undefined];
  expect([list(), list(inline("list#entry=a")), hear("list", absent("list"))]).toEqual([[missing, "synced"], [], []]);
  list(inline("list#entry=b"));
  expect([hear("list", absent("list")), list()]).toEqual([[missing], []]);
});

test("B-XTP-07 what is not listed any more, or by nobody, is not watched", () => {
  const { list, watched, stop } = start();
  expect(list(located("b"), located())).toEqual([["failed", "list", undefined]]);
  expect([...watched.keys()]).toEqual(["list", "b"]);
  list(located("c"));
  expect([...watched.keys()]).toEqual(["list", "c"]);
  stop();
  expect([...watched.keys()]).toEqual([]);
});
