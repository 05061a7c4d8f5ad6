import { expect, test } from "vitest";
import { HOST, resource } from "../../../test/support/resources.ts";
import type { Resource } from "../../resource/resource.ts";
import type { View } from "../../state/view.ts";
import type { PendingResource } from "../cache/shared-selections.ts";
import { Takeovers } from "./takeovers.ts";

const host = (name: string, ...aliases: readonly string[]): Resource => resource(HOST, name, "1", { aliases });
const change = (before: Resource | undefined, resource: Resource): PendingResource => ({ resource, replaces: before });

/** The names that wait, if this one does. */
function waitingWith(first: string, changes: readonly PendingResource[]): readonly string[] {
  const after = changes.map(({ resource }) => resource);
  const view = { find: (_: string, alias: string) => after.find((one) => one.aliases.includes(alias)) };
  const takeovers = new Takeovers(view as unknown as View);
  const waiting = new Map(changes.flatMap((one) => (one.resource.name === first ? [[first, one] as const] : [])));
  for (const one of changes) if (one.resource.name !== first) takeovers.add(one);
  takeovers.holdBack(waiting);
  return [...waiting.keys()];
}

test("S-ORD-06 a virtual host waits with the one that takes over its domain, and so on", () => {
  const a = change(host("a", "1", "2"), host("a", "2"));
  const b = change(host("b", "3"), host("b", "1"));
  const c = change(host("c", "4"), host("c", "3"));
  expect(waitingWith("b", [a, b, c])).toEqual(["b", "a"]);
  expect(waitingWith("c", [a, b, c])).toEqual(["c", "b", "a"]);
  expect(waitingWith("a", [a, b, c])).toEqual(["a"]);
});

test("a virtual host that keeps its domains, gives one up to nobody, or is new does not wait", () => {
  const taker = change(undefined, host("t", "1"));
  const kept = change(host("k", "2"), host("k", "2", "3"));
  const dropped = change(host("d", "4"), host("d"));
  const added = change(undefined, host("n", "5"));
  expect(waitingWith("t", [taker, kept, dropped, added])).toEqual(["t"]);
});
