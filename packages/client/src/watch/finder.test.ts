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

test("B-XTP-07 list collections that all list each other do not lead a client on without end", () => {
  const ids = Array.from({ length: 10 }, (_, i) => `l${i}`);
  const source = grpcSource([server(1)]);
  const lists = new Map(ids.map((id) => [nameOf(id), listOf(nameOf(id), ids)]));
  let watches = 0;
  const answers: (() => void)[] = [];
  const told: WatchEvent[] = [];
  const finder = new Finder({
    api: testApi(),
    type: Listener.typeUrl,
    placesOf: (of, term) => [{ source, type: of, term }],
    driver: {
      watch({ term: name }: Interest, listener: (news: WatchEvent) => void) {
        watches++;
        answers.push(() => listener({ kind: "changed", name, resource: lists.get(name) ?? listOf(name, []) }));
        return () => void watches--;
      },
    },
  });
  const stop = finder.find(nameOf("l0"))?.((news) => told.push(news));
  for (let answer = answers.shift(); answer !== undefined && watches <= 20_000; answer = answers.shift()) answer();
  expect(watches).toBe(10_000);
  expect(told.filter(({ kind }) => kind === "synced")).toEqual([{ kind: "synced" }]);
  stop?.();
  expect(watches).toBe(0);
});
