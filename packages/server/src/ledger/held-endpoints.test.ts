import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { HeldEndpoints } from "./held-endpoints.ts";

const type = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

test("any number of endpoints is held back", () => {
  const until = 2 ** 40;
  const held = new HeldEndpoints({
    emptied: { dueIn: () => [], endOf: () => until },
    content: { of: () => Promise.resolve(new Map()) },
    release: () => undefined,
  });
  const emptied = Array.from({ length: 200_000 }, (_, index) => {
    const change = { layer: "base", type, name: `e${index}`, before: undefined, after: undefined };
    return { number: 1, since: 0, writer: "directory", change };
  });
  held.follow({ emptied });
  expect(held.list.length).toBe(200_000);
  expect(held.list[0]).toEqual({ layer: "base", type, name: "e0", number: 1, until: new Date(until) });
  held.close();
});
