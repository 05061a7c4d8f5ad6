import { describe, expect, test } from "vitest";
import { collectGarbage } from "../../test/support/garbage.ts";
import { CLUSTER, resource } from "../../test/support/resources.ts";
import type { Segment } from "../message/body.ts";
import type { Resource } from "../resource/resource.ts";
import { noParts, WholeParts } from "./whole-parts.ts";

/** A resource of about 20 KB, of which a part takes four. */
function large(name: string, label = "1"): Resource {
  return resource(CLUSTER, name, label.padEnd(20_000, "."));
}

const names = ({ segments }: WholeParts): string => segments.map(namesIn).join(" | ");
const namesIn = ({ puts }: Segment): string => puts.map(({ name }) => name).join("");
const kept = (before: WholeParts, after: WholeParts): readonly string[] =>
  after.segments.filter((segment) => before.segments.includes(segment)).map(namesIn);

/** A table of a higher layer that holds some of the resources. */
function upper(held: string, changedAt = 1): Parameters<WholeParts["without"]>[0] {
  return { resources: new Map([...held].map((name) => [name, large(name, "upper")])), changedAt };
}

const all = [..."abcdefghijkl"].map((name) => large(name));
const whole = WholeParts.of(all, noParts);

describe("all of a table, after a change", () => {
  const after = (change: (resources: readonly Resource[]) => readonly Resource[]): readonly unknown[] => {
    const next = WholeParts.of(change(all), whole.kept());
    return [names(next), kept(whole, next)];
  };

  test("is in the same parts but for what changed, came or went", () => {
    expect(names(whole)).toBe("abcd | efgh | ijkl");
    expect(after((resources) => resources)).toEqual(["abcd | efgh | ijkl", ["abcd", "efgh", "ijkl"]]);
    expect(after((resources) => resources.with(5, large("f", "2")))).toEqual(["abcd | efgh | ijkl", ["abcd", "ijkl"]]);
    expect(after((resources) => resources.toSpliced(5, 1))).toEqual(["abcd | egh | ijkl", ["abcd", "ijkl"]]);
    expect(after((resources) => resources.slice(1))).toEqual(["bcd | efgh | ijkl", ["efgh", "ijkl"]]);
    expect(after((resources) => [...resources, large("m")])).toEqual([
      "abcd | efgh | ijkl | m",
      ["abcd", "efgh", "ijkl"],
    ]);
    expect(after((resources) => resources.toSpliced(4, 0, large("x")))).toEqual([
      "abcd | x | efgh | ijkl",
      ["abcd", "efgh", "ijkl"],
    ]);
    expect(after((resources) => [...resources.slice(0, 4), ...[..."stuvwxy"].map((name) => large(name))])).toEqual([
      "abcd | stuv | wxy",
      ["abcd"],
    ]);
  });

  test("ends a part at a former one only if it is not too small, and without one at its size", () => {
    const small = resource(CLUSTER, "x", "1");
    expect(after((resources) => resources.toSpliced(4, 0, small))).toEqual(["abcd | xefgh | ijkl", ["abcd", "ijkl"]]);
    const many = [..."mnopqrst"].map((name) => large(name));
    expect(after((resources) => resources.toSpliced(4, 0, ...many))).toEqual([
      "abcd | mnop | qrst | efgh | ijkl",
      ["abcd", "efgh", "ijkl"],
    ]);
  });

  test("has no pile of small parts after resources came one by one", () => {
    const small = [..."abcdefgh"].map((name) => resource(CLUSTER, name, "1"));
    const wholes: WholeParts[] = [];
    for (const [i] of small.entries())
      wholes.push(WholeParts.of(small.slice(0, i + 1), wholes.at(-1)?.kept() ?? noParts));
    expect(wholes.map(names)).toEqual(["a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"]);
  });

  test("keeps nothing in memory that no response uses", async () => {
    const make = (): { used: Segment | undefined; former: ReturnType<WholeParts["kept"]> } => {
      const parts = WholeParts.of(all, noParts);
      return { used: parts.segments[0], former: parts.kept() };
    };
    const { used, former } = make();
    await collectGarbage();
    expect(former.map((ref) => ref.deref())).toEqual([used, undefined, undefined]);
  });
});

describe("all of a table, without what a higher layer holds", () => {
  test("shares the other parts, and what is left of one with those that hide the same", () => {
    const [one, two] = [whole.without(upper("f")), whole.without(upper("f"))];
    expect([names(one), kept(whole, one), kept(one, two)]).toEqual([
      "abcd | egh | ijkl",
      ["abcd", "ijkl"],
      ["abcd", "egh", "ijkl"],
    ]);
    const other = whole.without(upper("gfx"));
    expect([names(other), kept(one, other)]).toEqual(["abcd | eh | ijkl", ["abcd", "ijkl"]]);
    expect(kept(one, whole.without(upper("g")).without(upper("f")))).toEqual(["abcd", "ijkl"]);
  });

  test("has no part of which everything is hidden, and is the whole if nothing is", () => {
    expect(names(whole.without(upper("abcdefghj")))).toBe("ikl");
    expect(kept(whole, whole.without(upper("xyz")))).toEqual(["abcd", "efgh", "ijkl"]);
  });

  test("follows the higher layer", () => {
    const above = { ...upper("a") };
    const before = whole.without(above);
    expect(whole.without(above)).toBe(before);
    expect(names(whole.without(Object.assign(above, upper("b", 2))))).toBe("acd | efgh | ijkl");
  });

  test("keeps what is left of a part that does not change", () => {
    const above = upper("fk");
    const before = whole.without(above);
    const after = WholeParts.of(all.with(5, large("f", "2")).with(0, large("a", "2")), whole.kept());
    expect([names(after.without(above)), kept(before, after.without(above))]).toEqual(["abcd | egh | ijl", ["ijl"]]);
  });
});
