import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { type LoadedState, transactionBetween } from "./loaded-state.ts";

function resource(name: string, content = name, ttlMs?: number): Resource {
  const bytes = new TextEncoder().encode(content);
  return createResource(
    { type: formatTypeUrl("a.B"), name, bytes, ...(ttlMs !== undefined && { ttlMs }) },
    contentDigest,
  );
}

function state(layers: Readonly<Record<string, readonly Resource[]>>): LoadedState {
  const nothing = { settings: {}, clients: [], listeners: [], groups: [], nodeMapping: () => [] };
  return { layers: new Map(Object.entries(layers)), ...nothing, files: 1, resources: 1 };
}

const a = resource("a");
const b = resource("b");
const type = a.type;

test("from nothing, everything is put", () => {
  expect(transactionBetween(undefined, state({ base: [a, b], "group/g": [a] }))).toEqual({
    changes: [
      { layer: "base", puts: [a, b] },
      { layer: "group/g", puts: [a] },
    ],
  });
});

test("the same content is no change, even in other objects and another order", () => {
  expect(transactionBetween(state({ base: [a, b] }), state({ base: [resource("b"), resource("a")] }))).toBeUndefined();
});

test("what changed is put, what is gone is deleted, a new time to live is a change", () => {
  const [c, changed, withTtl] = [resource("c"), resource("a", "other"), resource("b", "b", 1000)];
  expect(transactionBetween(state({ base: [a, b, c] }), state({ base: [changed, withTtl] }))).toEqual({
    changes: [{ layer: "base", puts: [changed, withTtl], deletes: [{ type, name: "c" }] }],
  });
});

test("a layer that is gone is emptied", () => {
  expect(transactionBetween(state({ base: [a], "node/n": [b] }), state({ base: [a] }))).toEqual({
    changes: [{ layer: "node/n", deletes: [{ type, name: "b" }] }],
  });
});

test("a change back and forth is none", () => {
  expect(transactionBetween(state({ base: [] }), state({ base: [] }))).toBeUndefined();
  expect(transactionBetween(undefined, state({ base: [] }))).toBeUndefined();
});
