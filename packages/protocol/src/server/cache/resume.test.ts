import { describe, expect, test } from "vitest";
import { cluster, shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, ROUTE, resource } from "../../../test/support/resources.ts";
import type { InitialVersions } from "../../message/request.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import { Subscription } from "../subscription/subscription.ts";
import { Comparison } from "./resume.ts";

function initialVersions(pairs: readonly (readonly [string, string])[]): InitialVersions {
  return { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() };
}

function subscriptionTo(...terms: readonly string[]): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.replace(terms);
  return subscription;
}

const trusting = { trustsVersions: true, namesPerStep: 10_000 };

interface Asking {
  readonly terms: readonly string[];
  readonly holds: Readonly<Record<string, string>>;
  readonly trusts?: boolean;
  readonly type?: TypeUrl;
}

/** What a client that asks for these terms and holds these labels (or versions) is told. */
function compared(view: View, { terms, holds, trusts = true, type = CLUSTER }: Asking): unknown {
  const pairs = Object.entries(holds).map(([name, label]) => [name, resource(type, name, label).version] as const);
  const is = new Comparison({ view, revision: 1 }, type, subscriptionTo(...terms), initialVersions(pairs), {
    trustsVersions: trusts,
    namesPerStep: 10_000,
  });
  expect(is.isDone).toBe(false);
  is.step(1);
  expect(is.isDone).toBe(true);
  return { puts: [...is.puts].map(shown).sort(), removed: [...is.removed], missing: is.missing };
}

describe("a client that comes back", () => {
  const view = (): View =>
    viewOf(
      new WrittenLayer("top", [cluster("a", "2")]),
      new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1"), cluster("c", "1"), cluster("d", "1", true)]),
    );

  test("hears nothing if it holds what it should", () => {
    const nothing = { puts: [], removed: [], missing: [] };
    expect(compared(view(), { terms: ["*"], holds: { a: "2", b: "1", c: "1" } })).toEqual(nothing);
    expect(compared(view(), { terms: ["a", "d"], holds: { a: "2", d: "1" } })).toEqual(nothing);
    expect(compared(view(), { terms: ["*", "d"], holds: { a: "2", b: "1", c: "1", d: "1" } })).toEqual(nothing);
  });

  test("hears what changed, what is new and what is gone", () => {
    expect(compared(view(), { terms: ["*"], holds: { a: "1", b: "1", gone: "1" } })).toEqual({
      puts: ["a@2", "c@1"],
      removed: ["gone"],
      missing: [],
    });
    expect(compared(view(), { terms: ["a", "c", "gone", "never"], holds: { a: "1", gone: "1" } })).toEqual({
      puts: ["a@2", "c@1"],
      removed: ["gone"],
      missing: ["never"],
    });
  });

  test("hears as much of one thing as it lacks of another", () => {
    expect(compared(view(), { terms: ["*"], holds: { a: "2", b: "1", gone: "1" } })).toEqual({
      puts: ["c@1"],
      removed: ["gone"],
      missing: [],
    });
  });

  test("hears nothing of what it does not ask for", () => {
    expect(compared(view(), { terms: ["a"], holds: { a: "2", b: "0", gone: "1" } })).toEqual({
      puts: [],
      removed: [],
      missing: [],
    });
  });

  test("loses under a wildcard what comes on demand only, but keeps it by name", () => {
    const holds = { a: "2", b: "1", c: "1", d: "1" };
    expect(compared(view(), { terms: ["*"], holds })).toEqual({ puts: [], removed: ["d"], missing: [] });
    expect(compared(view(), { terms: ["*", "d"], holds: { a: "2", b: "1", c: "1" } })).toEqual({
      puts: ["d@1"],
      removed: [],
      missing: [],
    });
  });

  test("hears everything once more if its versions are not to be trusted", () => {
    expect(compared(view(), { terms: ["*"], holds: { a: "2", b: "1", c: "1" }, trusts: false })).toEqual({
      puts: ["a@2", "b@1", "c@1"],
      removed: [],
      missing: [],
    });
  });

  test("may ask by an alias for what it holds by name", () => {
    const aliased = viewOf(new WrittenLayer("base", [resource(ROUTE, "r", "1", { aliases: ["x", "y"] })]));
    const { version } = resource(ROUTE, "r", "1", { aliases: ["x", "y"] });
    const pairs = initialVersions([["r", version]]);
    const is = new Comparison({ view: aliased, revision: 1 }, ROUTE, subscriptionTo("x"), pairs, trusting);
    is.step(1);
    expect([[...is.puts], [...is.removed], is.missing]).toEqual([[], [], []]);
    expect(compared(aliased, { terms: ["x", "y", "z"], holds: {}, type: ROUTE })).toEqual({
      puts: ["r@1"],
      removed: [],
      missing: ["z"],
    });
  });
});

describe("a comparison of many names", () => {
  const total = 25_000;

  test("takes a step for each ten thousand that are compared and added", () => {
    const puts = Array.from({ length: total }, (_, i) => cluster(`c${i}`, "1"));
    const view = viewOf(new WrittenLayer("base", puts));
    const pairs = puts.slice(0, 20_000).map(({ name, version }, i) => [name, i % 5_000 === 0 ? "" : version] as const);
    const is = new Comparison({ view, revision: 1 }, CLUSTER, subscriptionTo("*"), initialVersions(pairs), trusting);
    const stages = Array.from({ length: 5 }, () => {
      is.step(1);
      return [is.isDone, [...is.puts].length];
    });
    expect(stages).toEqual([
      [false, 2],
      [false, 4],
      [false, 4],
      [false, 4],
      [true, 4 + 5_000],
    ]);
  });

  test("S-SUB-02 is done anew for what changed meanwhile, by whichever alias it is subscribed to", () => {
    const route = (label: string, ...aliases: readonly string[]): ReturnType<typeof resource> =>
      resource(ROUTE, "r", label, { aliases });
    const base = new WrittenLayer("base", [route("1", "x")]);
    const steps = { trustsVersions: true, namesPerStep: 1 };
    const terms = subscriptionTo("x", "y");
    const is = new Comparison({ view: viewOf(base), revision: 1 }, ROUTE, terms, initialVersions([]), steps);
    is.step(1);
    base.put(2, route("2", "y"));
    while (!is.isDone) is.step(2);
    expect([[...is.puts].map(shown), [...is.removed], is.missing]).toEqual([["r@2"], [], ["x"]]);
  });

  test("says nothing more however often it is asked once it is done", () => {
    const view = viewOf(new WrittenLayer("base", [cluster("c1", "1")]));
    const is = new Comparison({ view, revision: 1 }, CLUSTER, subscriptionTo("c1"), initialVersions([]), trusting);
    is.step(1);
    is.step(1);
    expect([...is.puts].map(shown)).toEqual(["c1@1"]);
  });
});
