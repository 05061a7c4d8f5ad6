import { beforeEach, describe, expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, failure, ROUTE } from "../../../test/support/resources.ts";
import type { Body, Segment } from "../../message/body.ts";
import { type ErrorSet, noErrors } from "../../resource/error-set.ts";
import type { Resource } from "../../resource/resource.ts";
import type { View } from "../../state/view.ts";
import { NameSets } from "../subscription/name-set.ts";
import { Subscription } from "../subscription/subscription.ts";
import { replaceNames, SharedErrors } from "./error-difference.ts";

const setOf = (...errors: readonly Resource[]): ErrorSet => new Map(errors.map((one) => [one.name, one]));
const failed = (name: string, code = 13): Resource => failure(CLUSTER, name, code);

function subscribed(...names: readonly string[]): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.replace(names);
  return subscription;
}

describe("the errors that a subscription covers", () => {
  const glob = "xdstp://authority/envoy.config.cluster.v3.Cluster/*";
  let view: View;
  let shared: SharedErrors;
  let sets: NameSets;

  beforeEach(() => {
    view = viewOf(new WrittenLayer("base", [cluster("a", "1"), failed("b"), failed("c"), failed(glob)]));
    [shared, sets] = [new SharedErrors(), new NameSets()];
  });

  const of = (...names: readonly string[]): ErrorSet => shared.of(view, CLUSTER, subscribed(...names), sets);

  test("B-ERR-12: are those of its names; of a wildcard, all but those of glob collections", () => {
    const shown = [["b"], ["a", "b", "c"], ["*"], ["*", glob], [glob], ["a"]].map((names) => [...of(...names).keys()]);
    expect(shown).toEqual([["b"], ["b", "c"], ["b", "c"], ["b", "c", glob], [glob], []]);
  });

  test("are one object for equal subscriptions, and that of the view where it covers all of them", () => {
    expect(of("b", "x")).toBe(of("x", "b"));
    expect(of("*", glob)).toBe(view.errors(CLUSTER));
    expect([of("a"), shared.of(view, ROUTE, subscribed("*"), sets)]).toEqual([noErrors, noErrors]);
    expect(of("a")).toBe(noErrors);
  });

  test("are kept for the names that were subscribed to last, however many these are", () => {
    shared = new SharedErrors(10);
    for (let i = 0; i < 100; i++) of("b", `x${i}`);
    expect(shared.keptOf(view.errors(CLUSTER))).toBe(10);
    expect(of("b", "x99")).toBe(of("x99", "b"));
  });

  test("with parameters are those of the plain names", () => {
    const subscription = subscribed("b", "x");
    subscription.speakOfParameters();
    expect([...shared.of(view, CLUSTER, subscription, sets).keys()]).toEqual(["b"]);
  });
});

describe("the difference between two sets of errors", () => {
  let shared: SharedErrors;

  beforeEach(() => {
    shared = new SharedErrors();
  });

  test("is what is new or differs, and what was lifted", () => {
    const [same, other] = [failed("same"), failed("other", 14)];
    const [before, now] = [setOf(same, failed("other"), failed("gone")), setOf(failed("same"), other, failed("new"))];
    expect(shared.between(before, now)).toEqual({ errors: [other, failed("new")], lifted: ["gone"] });
    expect(shared.between(now, now)).toEqual({ errors: [], lifted: [] });
  });

  test("is one object for the same two sets", () => {
    const [one, two, three] = [setOf(failed("a")), setOf(failed("b")), setOf(failed("c"))];
    const difference = shared.between(one, two);
    expect(shared.between(one, three)).toEqual({ errors: [failed("c")], lifted: ["a"] });
    expect(shared.between(one, two)).toBe(difference);
    expect(shared.between(three, two)).toEqual({ errors: [failed("b")], lifted: ["c"] });
  });

  test("is added to a body once for each way to do it", () => {
    const bodies = [bodyOf({ removed: ["a"] }), bodyOf({ removed: ["b"] })] as const;
    const [one, two] = [shared.between(noErrors, setOf(failed("a"))), shared.between(noErrors, setOf(failed("b")))];
    const made: string[] = [];
    const body = (which: Body, errors: typeof one, how: string): Body =>
      shared.body(which, errors, how, () => {
        made.push(how);
        return { ...which };
      });
    const first = body(bodies[0], one, "1");
    const others = [body(bodies[0], one, "2"), body(bodies[0], two, "3"), body(bodies[1], one, "4")];
    expect(body(bodies[0], one, "1")).toBe(first);
    expect(new Set([first, ...others]).size).toBe(4);
    expect(made).toEqual(["1", "2", "3", "4"]);
  });
});

const nothing: Segment = { puts: [], removed: [], missing: [] };

function bodyOf(...segments: readonly Partial<Segment>[]): Body {
  return {
    variant: "delta",
    type: CLUSTER,
    version: "v",
    segments: segments.map((segment) => ({ ...nothing, ...segment })),
  };
}

describe("S-ERR-03: a delta body with errors", () => {
  const [a, b, c] = [failed("a"), failed("b"), failed("c")] as const;
  const dropsName = { news: [], lifted: [], isKept: () => false };

  test("has an error in place of a removed or missing name", () => {
    const body = bodyOf({ removed: ["a", "x"], missing: ["b", "y"] }, { puts: [cluster("p", "1")] });
    expect(replaceNames(body, setOf(a, b, c), dropsName).segments).toEqual([
      { puts: [], removed: ["x"], missing: ["y"] },
      { puts: [cluster("p", "1")], removed: [], missing: [] },
      { puts: [], removed: [], missing: [], errors: [a, b] },
    ]);
  });

  test("keeps a name beside its error where the client needs both; a missing name then says it all", () => {
    const body = bodyOf({ removed: ["a"], missing: ["b"] });
    const kept = replaceNames(body, setOf(a, b), { ...dropsName, isKept: () => true });
    expect(kept.segments).toEqual([
      { puts: [], removed: ["a"], missing: ["b"] },
      { puts: [], removed: [], missing: [], errors: [a] },
    ]);
    expect(kept.segments[0]).toBe(body.segments[0]);
  });

  test("has new errors too, unless it has the name as missing", () => {
    const news = { ...dropsName, news: [a, b] };
    expect(replaceNames(bodyOf({ missing: ["b"] }), setOf(), news).segments).toEqual([
      { puts: [], removed: [], missing: ["b"] },
      { puts: [], removed: [], missing: [], errors: [a] },
    ]);
    const onlyMissing = bodyOf({ missing: ["a"] });
    expect(replaceNames(onlyMissing, setOf(), { ...news, news: [a] })).toEqual(onlyMissing);
  });

  test("removes names whose error was lifted, each once", () => {
    const lifted = { ...dropsName, lifted: ["a", "b"] };
    expect(replaceNames(bodyOf({ removed: ["b"] }), setOf(), lifted).segments).toEqual([
      { puts: [], removed: ["b"], missing: [] },
      { puts: [], removed: ["a"], missing: [], errors: [] },
    ]);
  });

  test("is the same body if nothing changes", () => {
    const body = bodyOf({ removed: ["x"], missing: ["y"] });
    expect(replaceNames(body, setOf(a), dropsName)).toBe(body);
  });
});
