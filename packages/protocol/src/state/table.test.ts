import { describe, expect, test } from "vitest";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource } from "../../test/support/resources.ts";
import type { Resource } from "../resource/resource.ts";
import { Table } from "./table.ts";

const a1 = resource(CLUSTER, "a", "1");
const a2 = resource(CLUSTER, "a", "2");
const b1 = resource(CLUSTER, "b", "1");

function tableOf(...puts: readonly Resource[]): Table {
  const table = new Table(false);
  for (const [i, put] of puts.entries()) table.put(put, i + 1);
  return table;
}

describe("a table", () => {
  test("is empty at first", () => {
    const table = new Table(true);
    expect([table.resources.size, table.sum, table.changedAt, table.onDemand, table.printedVersion]).toEqual([
      0,
      0n,
      0,
      0,
      undefined,
    ]);
    expect(table.whole.segments).toEqual([]);
    expect(table.changeAfter(0)).toBeUndefined();
  });

  test("is changed by what is new or differs, not by the same once more", () => {
    const table = tableOf(a1);
    expect(table.put(resource(CLUSTER, "a", "1"), 2)).toBe(false);
    expect(table.changedAt).toBe(1);
    expect(table.resources.get("a")).toBe(a1);
    expect(table.put(a2, 3)).toBe(true);
    expect(table.changedAt).toBe(3);
    expect(table.delete("b", 4)).toBe(false);
    expect(table.changedAt).toBe(3);
    expect(table.delete("a", 5)).toBe(true);
    expect(table.changedAt).toBe(5);
    expect(table.journal.length).toBe(3);
  });

  test("is changed by another ttl or demand at the same version, without news for those who hold it", () => {
    const table = tableOf(a1);
    const withTtl = { ...a1, ttlMs: 1_000 };
    expect(table.put(withTtl, 2)).toBe(true);
    expect(table.resources.get("a")).toBe(withTtl);
    expect(table.put({ ...withTtl }, 3)).toBe(false);
    expect(table.changeAfter(1)?.segment).toEqual({ puts: [], removed: [], missing: [] });
    expect(table.put({ ...withTtl, onDemand: true }, 4)).toBe(true);
    expect(table.changeAfter(2)?.segment).toEqual({ puts: [], removed: ["a"], missing: [] });
  });

  test("is changed by other references at the same version, without news for those who hold it", () => {
    const table = tableOf({ ...a1, references: [{ type: ROUTE, name: "old" }] });
    expect(table.refersTo(ROUTE, "old")).toBe(true);
    const references = [{ type: ROUTE, name: "new" }];
    expect(table.put({ ...a1, references }, 2)).toBe(true);
    expect([table.refersTo(ROUTE, "old"), table.refersTo(ROUTE, "new")]).toEqual([false, true]);
    expect(table.changeAfter(1)?.segment).toEqual({ puts: [], removed: [], missing: [] });
    expect(table.put({ ...a1, references: [...references] }, 3)).toBe(false);
  });

  test("sums up its members, whatever the way they came", () => {
    const table = tableOf(b1, a1, a2);
    table.delete("b", 9);
    expect(table.sum).toBe(tableOf(a2).sum);
    expect(tableOf(a1, b1).sum).toBe(tableOf(b1, a1).sum);
    expect(tableOf(a1).sum).toBe(a1.sum);
    table.delete("a", 10);
    expect(table.sum).toBe(0n);
  });

  test("counts what no wildcard covers", () => {
    const table = tableOf({ ...a1, onDemand: true }, b1);
    expect(table.onDemand).toBe(1);
    table.put(a1, 3);
    expect(table.onDemand).toBe(0);
    table.put({ ...a1, onDemand: true }, 4);
    table.delete("a", 5);
    expect(table.onDemand).toBe(0);
  });

  test("prints a version that was set, until it is taken back", () => {
    const table = tableOf(a1);
    expect(table.printVersion("v7")).toBe(true);
    expect(table.printedVersion).toBe("v7");
    expect(table.printVersion("v7")).toBe(false);
    expect(table.printVersion(undefined)).toBe(true);
    expect(table.printedVersion).toBeUndefined();
    expect(table.printVersion(undefined)).toBe(false);
  });
});

describe("the aliases of a table", () => {
  const aliased = (name: string, ...aliases: readonly string[]): Resource =>
    resource(ROUTE, name, aliases.join(), { aliases });

  test("find the resource that lists them, of several the first by name", () => {
    const table = tableOf(aliased("c", "x"), aliased("b", "x", "y"), aliased("a", "y"));
    expect(table.aliased("x")?.name).toBe("b");
    expect(table.aliased("y")?.name).toBe("a");
    expect(table.aliased("a")).toBeUndefined();
  });

  test("follow every change", () => {
    const table = tableOf(aliased("b", "x"));
    expect(table.aliased("x")?.name).toBe("b");
    table.put(aliased("a", "x"), 2);
    expect(table.aliased("x")?.name).toBe("a");
    table.put(aliased("a", "y"), 3);
    expect(table.aliased("x")?.name).toBe("b");
    expect(table.aliased("y")?.name).toBe("a");
    table.delete("b", 4);
    expect(table.aliased("x")).toBeUndefined();
    table.put(aliased("a"), 5);
    expect(table.aliased("y")).toBeUndefined();
  });
});

describe("the references in a table", () => {
  const listener = (name: string, ...routes: readonly string[]): Resource =>
    resource(LISTENER, name, routes.join(), { references: routes.map((route) => ({ type: ROUTE, name: route })) });

  test("are known by type and name, as long as anybody refers", () => {
    const table = tableOf(listener("l", "r"), listener("m", "r", "s"));
    expect(table.refersTo(ROUTE, "r")).toBe(true);
    expect(table.refersTo(ROUTE, "s")).toBe(true);
    expect(table.refersTo(ROUTE, "t")).toBe(false);
    expect(table.refersTo(CLUSTER, "r")).toBe(false);
    table.delete("m", 3);
    expect(table.refersTo(ROUTE, "r")).toBe(true);
    expect(table.refersTo(ROUTE, "s")).toBe(false);
    table.put(listener("l", "t"), 4);
    expect(table.refersTo(ROUTE, "r")).toBe(false);
    expect(table.refersTo(ROUTE, "t")).toBe(true);
  });

  test("are counted even if one resource refers twice", () => {
    const table = tableOf(listener("l", "r", "r"));
    expect(table.refersTo(ROUTE, "r")).toBe(true);
    table.put(listener("l", "r"), 2);
    expect(table.refersTo(ROUTE, "r")).toBe(true);
    table.delete("l", 3);
    expect(table.refersTo(ROUTE, "r")).toBe(false);
  });
});

describe("what changed in a table", () => {
  test("is told from then to now: new, changed, gone, and not what came and went or was changed back", () => {
    const table = tableOf(a1, b1);
    table.put(a2, 3);
    table.put(resource(CLUSTER, "c", "1"), 4);
    table.delete("c", 5);
    table.delete("b", 6);
    const d1 = resource(CLUSTER, "d", "1");
    table.put(d1, 7);
    expect(table.changeAfter(2)?.segment).toEqual({ puts: [a2, d1], removed: ["b"], missing: [] });
    table.put(a1, 8);
    expect(table.changeAfter(2)?.segment).toEqual({ puts: [d1], removed: ["b"], missing: [] });
    expect(table.changeAfter(7)?.segment).toEqual({ puts: [a1], removed: [], missing: [] });
    expect(table.changeAfter(8)).toBeUndefined();
    expect(table.changeAfter(9)).toBeUndefined();
  });

  test("is one object for all who stand between the same two changes, until the next one", () => {
    const table = tableOf(a1);
    table.put(a2, 5);
    const change = table.changeAfter(1);
    expect(change).toBeDefined();
    expect(table.changeAfter(4)).toBe(change);
    expect(table.changeAfter(0)).not.toBe(change);
    table.put(b1, 6);
    expect(table.changeAfter(4)).not.toBe(change);
  });

  test("is news when a resource enters or leaves what a wildcard covers", () => {
    const table = tableOf(a1, { ...b1, onDemand: true });
    table.put({ ...a1, onDemand: true }, 3);
    table.put(b1, 4);
    expect(table.changeAfter(2)?.segment).toEqual({ puts: [b1], removed: ["a"], missing: [] });
    table.put({ ...a2, onDemand: true }, 5);
    table.delete("a", 6);
    expect(table.changeAfter(4)?.segment).toEqual({ puts: [], removed: [], missing: [] });
  });

  test("is kept without bodies, but for a type whose clients may go on using them", () => {
    const slim = tableOf(a1, a2);
    expect(slim.journal.bytes).toBe(0);
    expect(slim.changeAfter(1)?.past.get("a")).toEqual({
      name: "a",
      version: a1.version,
      sum: a1.sum,
      aliases: [],
      onDemand: false,
      references: a1.references,
    });
    const whole = new Table(true);
    whole.put(a1, 1);
    expect(whole.journal.bytes).toBe(0);
    whole.put(a2, 2);
    expect(whole.journal.bytes).toBe(a1.bytes.length);
    expect(whole.changeAfter(1)?.past.get("a")).toBe(a1);
  });
});

describe("all of a table", () => {
  test("is one object until something changes, without what no wildcard covers", () => {
    const table = tableOf(a1, { ...b1, onDemand: true }, resource(ENDPOINTS, "c", "1"));
    const { whole } = table;
    const names = (): unknown => table.whole.segments.map(({ puts }) => puts.map((put) => put.name));
    expect(names()).toEqual([["a", "c"]]);
    expect(table.whole).toBe(whole);
    table.put(a1, 4);
    expect(table.whole).toBe(whole);
    table.put(b1, 5);
    expect(names()).toEqual([["a", "b", "c"]]);
  });
});
