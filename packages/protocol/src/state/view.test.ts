import { describe, expect, test } from "vitest";
import { cluster, namesOf, shown, viewOf, WrittenLayer } from "../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource } from "../../test/support/resources.ts";

const puts = (segments: readonly { puts: readonly Parameters<typeof shown>[0][] }[]): unknown =>
  segments.map((segment) => segment.puts.map(shown));

describe("a view", () => {
  test("shows the top-most holder of a name", () => {
    const top = new WrittenLayer("top", [cluster("a", "top")]);
    const middle = new WrittenLayer("middle", [cluster("a", "middle"), cluster("b", "middle")]);
    const base = new WrittenLayer("base", [cluster("a", "base"), cluster("b", "base"), cluster("c", "base")]);
    const view = viewOf(top, middle, base);
    expect(["a", "b", "c", "d"].map((name) => shown(view.holder(CLUSTER, name)))).toEqual([
      "a@top",
      "b@middle",
      "c@base",
      "nothing",
    ]);
    expect(shown(view.holder(ENDPOINTS, "a"))).toBe("nothing");
    expect(namesOf(view)).toEqual(["a@top", "b@middle", "c@base"]);
    expect(namesOf(view, ENDPOINTS)).toEqual([]);
    expect(view.coveredBy(CLUSTER)).toBe(3);
  });

  test("shows what was hidden once nothing hides it", () => {
    const top = new WrittenLayer("top", [cluster("a", "top")]);
    const base = new WrittenLayer("base", [cluster("a", "base")]);
    const view = viewOf(top, base);
    top.delete(2, "a");
    expect(namesOf(view)).toEqual(["a@base"]);
  });

  test("knows the last change of a type in any of its layers", () => {
    const top = new WrittenLayer("top");
    const base = new WrittenLayer("base", [cluster("a", "1")], 3);
    const view = viewOf(top, base);
    expect([view.changedAt(CLUSTER), view.changedAt(ENDPOINTS)]).toEqual([3, 0]);
    top.put(7, cluster("b", "1"));
    expect(view.changedAt(CLUSTER)).toBe(7);
  });

  test("finds by name first, then by an alias of who is not hidden", () => {
    const aliased = (name: string, label: string, ...aliases: string[]) => resource(ROUTE, name, label, { aliases });
    const top = new WrittenLayer("top", [aliased("r", "top")]);
    const base = new WrittenLayer("base", [
      aliased("r", "base", "x"),
      aliased("s", "base", "y", "r"),
      aliased("t", "1"),
    ]);
    const view = viewOf(top, base);
    expect(["r", "y", "s", "t", "x", "u"].map((term) => shown(view.find(ROUTE, term)))).toEqual([
      "r@top",
      "s@base",
      "s@base",
      "t@1",
      "nothing",
      "nothing",
    ]);
    top.tableFor(ROUTE).delete("r", 2);
    expect(shown(view.find(ROUTE, "x"))).toBe("r@base");
    expect(shown(view.find(CLUSTER, "x"))).toBe("nothing");
  });

  test("knows whether anything in any layer refers to a name", () => {
    const listener = resource(LISTENER, "l", "1", { references: [{ type: ROUTE, name: "r" }] });
    const view = viewOf(new WrittenLayer("top", [cluster("a", "1")]), new WrittenLayer("base", [listener]));
    expect(view.refersTo(ROUTE, "r")).toBe(true);
    expect(view.refersTo(ENDPOINTS, "a")).toBe(true);
    expect(view.refersTo(ROUTE, "a")).toBe(false);
  });
});

describe("the version of a type", () => {
  test("is equal for equal content, whatever layers it stands in and whatever is hidden", () => {
    const flat = viewOf(new WrittenLayer("base", [cluster("a", "1"), cluster("b", "2")]));
    const stacked = viewOf(
      new WrittenLayer("top", [cluster("b", "2")]),
      new WrittenLayer("middle", [cluster("a", "1"), cluster("b", "9")]),
      new WrittenLayer("base", [cluster("a", "8"), cluster("b", "7", true)]),
    );
    expect(stacked.typeVersion(CLUSTER)).toBe(flat.typeVersion(CLUSTER));
    expect(stacked.coveredBy(CLUSTER)).toBe(2);
    expect(flat.typeVersion(ENDPOINTS)).not.toBe(flat.typeVersion(CLUSTER));
  });

  test("is kept up change by change: what hides, what is hidden, what goes", () => {
    const top = new WrittenLayer("top", [cluster("a", "1")]);
    const base = new WrittenLayer("base", [cluster("a", "0"), cluster("b", "1"), cluster("c", "1", true)]);
    const view = viewOf(top, base);
    const asCounted = (): unknown => {
      const afresh = viewOf(top, base);
      return [afresh.typeVersion(CLUSTER), afresh.coveredBy(CLUSTER)];
    };
    const asKept = (): unknown => [view.typeVersion(CLUSTER), view.coveredBy(CLUSTER)];
    expect(asKept()).toEqual(asCounted());
    const steps: (() => void)[] = [
      () => base.put(2, cluster("a", "5")),
      () => top.put(3, cluster("b", "2")),
      () => top.put(4, cluster("c", "2")),
      () => {
        base.delete(5, "c");
        top.delete(5, "c", "b");
      },
      () => top.put(6, cluster("a", "1", true), cluster("d", "1")),
      () => top.delete(7, "a"),
      () => {
        base.delete(8, "a", "b");
        base.put(8, cluster("b", "3"), cluster("e", "1", true));
      },
      () => base.put(9, cluster("e", "1")),
    ];
    for (const step of steps) {
      const before = asKept();
      step();
      expect([before, asKept()]).toEqual([before, asCounted()]);
    }
    expect(namesOf(view)).toEqual(["b@3", "d@1", "e@1"]);
    expect(view.coveredBy(CLUSTER)).toBe(3);
  });

  test("is counted anew where a journal does not reach back", () => {
    const base = new WrittenLayer("base", [cluster("a", "1")]);
    const view = viewOf(base);
    view.typeVersion(CLUSTER);
    base.put(2, cluster("b", "1"));
    base.put(3, cluster("c", "1"));
    base.tableFor(CLUSTER).journal.trim(2);
    expect(view.typeVersion(CLUSTER)).toBe(viewOf(base).typeVersion(CLUSTER));
    expect(view.coveredBy(CLUSTER)).toBe(3);
  });

  test("is the one that was set, in the top-most layer that has one", () => {
    const top = new WrittenLayer("top", [cluster("a", "1")]);
    const base = new WrittenLayer("base", [cluster("b", "1")]);
    const view = viewOf(top, base);
    const made = view.typeVersion(CLUSTER);
    base.tableFor(CLUSTER).printVersion("v1");
    expect(view.typeVersion(CLUSTER)).toBe("v1");
    top.tableFor(CLUSTER).printVersion("v2");
    expect(view.typeVersion(CLUSTER)).toBe("v2");
    top.tableFor(CLUSTER).printVersion(undefined);
    base.tableFor(CLUSTER).printVersion(undefined);
    expect(view.typeVersion(CLUSTER)).toBe(made);
  });
});

describe("everything of a type", () => {
  test("is a segment a layer; one in which nothing is hidden is shared by every view", () => {
    const one = new WrittenLayer("one", [cluster("a", "one")]);
    const two = new WrittenLayer("two", [cluster("b", "two")]);
    const empty = new WrittenLayer("empty");
    const base = new WrittenLayer("base", [cluster("a", "base"), cluster("c", "base"), cluster("d", "base", true)]);
    const hiding = viewOf(one, empty, base);
    const plain = viewOf(two, empty, base);
    expect(puts(hiding.whole(CLUSTER))).toEqual([["a@one"], ["c@base"]]);
    expect(puts(plain.whole(CLUSTER))).toEqual([["b@two"], ["a@base", "c@base"]]);
    expect(plain.whole(CLUSTER)[1]).toBe(base.tableFor(CLUSTER).whole.segments[0]);
    expect(hiding.whole(CLUSTER)[0]).toBe(one.tableFor(CLUSTER).whole.segments[0]);
    expect(hiding.whole(ENDPOINTS)).toEqual([]);
  });

  test("is hidden by a small layer over a large one, and by a large one over a small one", () => {
    const large = new WrittenLayer("large", [cluster("a", "l"), cluster("b", "l"), cluster("c", "l")]);
    const small = new WrittenLayer("small", [cluster("c", "s"), cluster("d", "s")]);
    expect(puts(viewOf(large, small).whole(CLUSTER))).toEqual([["a@l", "b@l", "c@l"], ["d@s"]]);
    expect(puts(viewOf(small, large).whole(CLUSTER))).toEqual([
      ["c@s", "d@s"],
      ["a@l", "b@l"],
    ]);
  });

  test("is made once until something changes", () => {
    const base = new WrittenLayer("base", [cluster("a", "1")]);
    const view = viewOf(base);
    const whole = view.whole(CLUSTER);
    expect(view.whole(CLUSTER)).toBe(whole);
    base.put(2, cluster("b", "1"));
    expect(puts(view.whole(CLUSTER))).toEqual([["a@1", "b@1"]]);
    base.delete(3, "a", "b");
    expect(view.whole(CLUSTER)).toEqual([]);
  });
});
