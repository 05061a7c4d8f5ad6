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

const nothing = { settings: {}, clients: [], listeners: [], groups: [] };

function state(layers: Readonly<Record<string, readonly Resource[]>>, rest: Partial<LoadedState> = {}): LoadedState {
  return { layers: new Map(Object.entries(layers)), ...nothing, files: 1, resources: 1, ...rest };
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
    nodeMapping: { groups: [] },
    clientOverrides: [],
  });
});

test("groups, access rules and client rules go together with the resources, as far as they changed", () => {
  const groups = [{ name: "g", match: { id: ["edge-*"] } }];
  const access = { rules: [{ identities: ["anyone"] }] };
  const before = state({ base: [a] });
  expect(transactionBetween(before, state({ base: [a, b] }, { groups, access, clients: [{ match: {} }] }))).toEqual({
    changes: [{ layer: "base", puts: [b] }],
    nodeMapping: { groups },
    access,
    clientOverrides: [{ match: {} }],
  });
  expect(transactionBetween(state({ base: [a] }, { access }), before)).toEqual({ changes: [], access: "default" });
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
});
