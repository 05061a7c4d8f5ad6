import type { WatchEvent } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { PendingEvents, type UnreadEvent } from "./pending-events.ts";

const none = new Uint8Array();

function absent(name: string): Extract<WatchEvent, { kind: "absent" }> {
  return { kind: "absent", name, why: "removed", held: undefined };
}

function failed(name: string | undefined): Extract<WatchEvent, { kind: "failed" }> {
  return { kind: "failed", name, why: "unreachable", error: { code: 14, message: "" }, held: undefined };
}

test("what is added while it is read is read in its turn", () => {
  const pending = new PendingEvents();
  for (const name of ["a", "b"]) pending.add(absent(name));
  expect(pending.take()).toEqual(absent("a"));
  for (const news of [absent("c"), failed("b"), failed(undefined), absent("a")]) pending.add(news);
  const read: unknown[] = [];
  for (let news = pending.take(); news !== undefined; news = pending.take()) read.push(news);
  expect(read).toEqual([absent("b"), absent("c"), failed("b"), failed(undefined), absent("a")]);
  pending.add(failed("b"));
  pending.add({ kind: "synced" });
  expect([pending.take(), pending.isEmpty, pending.take(), pending.take()]).toEqual([
    failed("b"),
    false,
    { kind: "synced" },
    undefined,
  ]);
});

test("an error of one name is not taken for a resource of another", () => {
  const pending = new PendingEvents();
  for (const news of [failed("a"), absent("error a"), failed("a")]) pending.add(news);
  expect([pending.take(), pending.take(), pending.take()]).toEqual([failed("a"), absent("error a"), undefined]);
});

test("of a connection only the last is read: that it is broken, or that it is back", () => {
  const pending = new PendingEvents();
  const refused: WatchEvent = { ...failed(undefined), why: "rejected" };
  for (const news of [absent("a"), failed(undefined), refused, { kind: "recovered" } as const]) pending.add(news);
  expect([pending.take(), pending.take(), pending.take(), pending.take()]).toEqual([
    absent("a"),
    { kind: "recovered" },
    refused,
    undefined,
  ]);
  for (const news of [absent("a"), { kind: "recovered" } as const, failed(undefined)]) pending.add(news);
  expect([pending.take(), pending.take(), pending.take()]).toEqual([absent("a"), failed(undefined), undefined]);
});

test("of errors and absences of ever other names only the last are kept, and nothing of what was told is lost", () => {
  const pending = new PendingEvents();
  const changed: UnreadEvent = {
    kind: "changed",
    name: "b",
    resource: { type: "type.googleapis.com/t", name: "b", aliases: [], version: "1", bytes: none, ttlMs: undefined },
  };
  const lasting = [absent("told"), changed, failed("b"), { kind: "synced" } as const];
  for (const news of lasting) pending.add(news, news.kind === "failed");
  for (let i = 0; i < 3_000; i++) {
    const news = i % 2 === 0 ? failed(`n${i}`) : absent(`n${i}`);
    pending.add(news, true);
  }
  const read: UnreadEvent[] = [];
  for (let news = pending.take(); news !== undefined; news = pending.take()) read.push(news);
  expect([read.slice(0, 4), read.length, read[4], read.at(-1)]).toEqual([
    lasting,
    4 + 1_000,
    failed("n2000"),
    absent("n2999"),
  ]);
});

test("what stays unread of one name does not keep the errors of others that were read", () => {
  const pending = new PendingEvents();
  pending.add({ kind: "synced" });
  for (let i = 0; i < 3; i++) pending.add(failed(`n${i}`), true);
  expect([pending.take(), pending.take()]).toEqual([{ kind: "synced" }, failed("n0")]);
  pending.add(failed("n0"), true);
  expect([pending.take(), pending.take(), pending.take(), pending.take()]).toEqual([
    failed("n1"),
    failed("n2"),
    failed("n0"),
    undefined,
  ]);
});
