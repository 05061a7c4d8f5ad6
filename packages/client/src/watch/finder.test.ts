import { Listener } from "@xdskit/envoy-api/resources";
import { formatTypeUrl } from "@xdskit/protocol";
import type { HeldResource, WatchEvent } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { grpcSource, server, testApi } from "../../test/support/sources.ts";
import type { Interest } from "../driver/driver.ts";
import { Finder } from "./finder.ts";

const COLLECTION = "envoy.config.listener.v3.ListenerCollection";
const type = formatTypeUrl(COLLECTION);

function nameOf(id: string): string {
  return `xdstp://a/${COLLECTION}/${id}`;
}

/** A list collection of others. */
function listOf(name: string, ids: readonly string[]): HeldResource {
  const entries = ids.map((id) => ({ locator: { authority: "a", resourceType: COLLECTION, id } }));
  const { input } = testApi().readResource({ "@type": type, entries }, { name });
  return { type, name, version: "1", aliases: [], ttlMs: undefined, bytes: input?.bytes ?? new Uint8Array() };
}

/** A finder at a server that has these lists, and answers when it is told to. */
function start(lists: ReadonlyMap<string, HeldResource>) {
  const source = grpcSource([server(1)]);
  const answers: (() => void)[] = [];
  const open = { count: 0 };
  const finder = new Finder({
    api: testApi(),
    type: Listener.typeUrl,
    placesOf: (of, term) => [{ source, type: of, term }],
    driver: {
      watch({ term: name }: Interest, listener: (news: WatchEvent) => void) {
        open.count++;
        answers.push(() => listener({ kind: "changed", name, resource: lists.get(name) ?? listOf(name, []) }));
        return () => void open.count--;
      },
    },
  });
  return { finder, answers, open };
}

test("B-XTP-07 list collections that all list each other do not lead a client on without end", () => {
  const ids = Array.from({ length: 10 }, (_, i) => `l${i}`);
  const { finder, answers, open } = start(new Map(ids.map((id) => [nameOf(id), listOf(nameOf(id), ids)])));
  const told: WatchEvent[] = [];
  const stop = finder.find(nameOf("l0"))?.((news) => told.push(news));
  for (let answer = answers.shift(); answer !== undefined && open.count <= 20_000; answer = answers.shift()) answer();
  expect(open.count).toBe(10_000);
  expect(told.filter(({ kind }) => kind === "synced")).toEqual([{ kind: "synced" }]);
  const problems = told.flatMap((news) => (news.kind === "failed" ? news.error.message : []));
  expect([...new Set(problems.map((problem) => problem.replace(/xdstp:\S+/, "ONE")))].sort()).toEqual([
    "expected a list that does not lead back to itself, got ONE again",
    "expected a list that leads to at most 10000 lists, got ONE besides them",
  ]);
  stop?.();
  expect(open.count).toBe(0);
});

test("B-XTP-07 a list collection below eight others is not followed, and said to be too deep", () => {
  const names = Array.from({ length: 10 }, (_, i) => `l${i}`);
  const { finder, answers } = start(new Map(names.map((id, i) => [nameOf(id), listOf(nameOf(id), [`l${i + 1}`])])));
  const told: WatchEvent[] = [];
  finder.find(nameOf("l0"))?.((news) => told.push(news));
  for (let answer = answers.shift(); answer !== undefined; answer = answers.shift()) answer();
  const message = `expected at most 8 lists below one another, got ${nameOf("l8")} below them`;
  expect(told).toEqual([
    { kind: "failed", name: nameOf("l7"), why: "resource-error", error: { code: 5, message }, held: undefined },
    { kind: "synced" },
  ]);
});
