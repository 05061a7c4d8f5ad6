import { describe, expect, test } from "vitest";
import { HOST, ROUTE, resource } from "../../../test/support/resources.ts";
import { termsOf } from "../../resource/resource-name.ts";
import { locatedTerm } from "../../resource/variant-name.ts";
import { virtualHostTerms } from "../../resource/virtual-host-name.ts";
import { emptyNameSet, NameSets } from "./name-set.ts";
import { classifyChange, coversName, Subscription, type SubscriptionChange } from "./subscription.ts";

const newest = { legacyWildcard: true, wildcardSticky: false };
const strict = { legacyWildcard: false, wildcardSticky: false };
const sticky = { legacyWildcard: true, wildcardSticky: true };

/** `*`, `*+a`, `a,b`, or `nothing`. */
function standing({ isWildcard, names, isSoleWildcard }: Subscription): string {
  const list = [...names].sort().join();
  if (isSoleWildcard) return "*";
  if (isWildcard) return `*+${list}`;
  return list === "" ? "nothing" : list;
}

/** What stands after each list of a State of the World client. */
function afterLists(rules: typeof newest, ...lists: readonly (readonly string[])[]): readonly string[] {
  const subscription = new Subscription(rules);
  return lists.map((list) => {
    subscription.replace(list);
    return standing(subscription);
  });
}

/** What stands after each request of a delta client: `+a` subscribes, `-a` gives up. */
function afterUpdates(rules: typeof newest, ...requests: readonly string[]): readonly string[] {
  const subscription = new Subscription(rules);
  return requests.map((request) => {
    update(subscription, request);
    return standing(subscription);
  });
}

function update(subscription: Subscription, request: string): SubscriptionChange {
  const terms = request.split(" ");
  const those = (sign: string): string[] => terms.filter((term) => term.startsWith(sign)).map((term) => term.slice(1));
  return subscription.update(those("+"), those("-"));
}

const nothing: SubscriptionChange = { asked: [], dropped: [], joinedWildcard: false, leftWildcard: false };

describe("a State of the World subscription", () => {
  test.each([
    ["S-SUB-09: naming nothing at first is everything", [[], []], ["*", "*"]],
    ["S-SUB-10: naming nothing after a name is nothing", [["a"], [], []], ["a", "nothing", "nothing"]],
    ["S-SUB-10: naming nothing after `*` is nothing", [["*"], []], ["*", "nothing"]],
    ["S-SUB-11", [[], ["*", "a"], ["a"], []], ["*", "*+a", "a", "nothing"]],
    ["S-SUB-13: a name alone ends the wildcard of old", [[], ["a"]], ["*", "a"]],
    ["naming everything from nothing", [["a"], [], ["*"]], ["a", "nothing", "*"]],
    ["a name twice is a name", [["a", "a", "b"]], ["a,b"]],
  ])("%s", (_, lists, stands) => {
    expect(afterLists(newest, ...lists)).toEqual(stands);
  });

  test("S-SUB-08: names nothing and means nothing where that is not the custom", () => {
    expect(afterLists(strict, [], [], ["a"], ["*"])).toEqual(["nothing", "nothing", "a", "*"]);
  });

  test("S-SUB-14: stays everything for good where that is the custom", () => {
    expect(afterLists(sticky, [], ["a"], ["*", "b"], [])).toEqual(["*", "*", "*", "*"]);
    expect(afterLists(sticky, ["a"], [])).toEqual(["a", "nothing"]);
    expect(afterLists(sticky, ["*"], ["a"])).toEqual(["*", "a"]);
    const subscription = new Subscription(sticky);
    subscription.replace([]);
    expect(subscription.replace(["a"])).toEqual(nothing);
  });

  test("tells what each request changed", () => {
    const subscription = new Subscription(newest);
    expect(subscription.replace([])).toEqual({ ...nothing, joinedWildcard: true });
    expect(subscription.replace([])).toEqual(nothing);
    expect(subscription.replace(["*", "a"])).toEqual({ ...nothing, asked: ["a"] });
    expect(subscription.replace(["*", "a"])).toEqual(nothing);
    expect(subscription.replace(["b", "a"])).toEqual({ ...nothing, asked: ["b"], leftWildcard: true });
    expect(subscription.replace(["*"])).toEqual({ ...nothing, dropped: ["b", "a"], joinedWildcard: true });
    expect(subscription.replace([])).toEqual({ ...nothing, leftWildcard: true });
    expect(new Subscription(strict).replace([])).toEqual(nothing);
  });
});

describe("S-SUB-09: a wildcard", () => {
  const keeps = (rules: typeof newest, first: readonly string[], given: readonly string[]): boolean => {
    const subscription = new Subscription(rules);
    subscription.replace(first);
    return subscription.keepsWildcard(given);
  };

  test("of a first request without names lasts until there are names, or for good where that is the custom", () => {
    const rows = [[], ["a"], ["*", "a"]];
    expect(rows.map((given) => keeps(newest, [], given))).toEqual([true, false, true]);
    expect(rows.map((given) => keeps(sticky, [], given))).toEqual([true, true, true]);
  });

  test("by its name lasts as long as it is listed", () => {
    const rows = [[], ["a"], ["*", "a"]];
    for (const rules of [newest, sticky])
      expect(rows.map((given) => keeps(rules, ["*"], given))).toEqual([false, false, true]);
  });

  test("that there is not is not kept", () => {
    for (const given of [[], ["*"]])
      expect([keeps(newest, ["a"], given), keeps(strict, [], given)]).toEqual([false, false]);
  });
});

describe("a delta subscription", () => {
  test.each([
    ["S-SUB-09: naming nothing at first is everything, once", ["", "", "+a"], ["*", "*", "*+a"]],
    ["S-SUB-10: giving up the last name leaves nothing", ["+a", "-a", ""], ["a", "nothing", "nothing"]],
    ["S-SUB-12", ["", "+a", "-*", "-a"], ["*", "*+a", "a", "nothing"]],
    ["S-SUB-13: a name beside the wildcard of old keeps it", ["", "+a"], ["*", "*+a"]],
    ["S-SUB-15: giving up at first is not naming nothing", ["-x", ""], ["nothing", "nothing"]],
    ["S-SUB-16: giving up `*` ends the wildcard of old", ["", "-*", ""], ["*", "nothing", "nothing"]],
    ["naming `*` and giving it up again", ["+*", "-*", "+*"], ["*", "nothing", "*"]],
    ["B-UNS-11: what is given up in the same request is given up", ["+a +b -a"], ["b"]],
    ["`*` in both lists is given up", ["+* -*", "+a"], ["nothing", "a"]],
    ["a name under a wildcard", ["+* +a", "-a"], ["*+a", "*"]],
    ["a name that was never named is given up", ["+a", "-b"], ["a", "a"]],
  ])("%s", (_, requests, stands) => {
    expect(afterUpdates(newest, ...requests)).toEqual(stands);
  });

  test("S-SUB-08: names nothing and means nothing where that is not the custom", () => {
    expect(afterUpdates(strict, "", "", "+a", "+*")).toEqual(["nothing", "nothing", "a", "*+a"]);
  });

  test("S-SUB-14: stays everything for good where that is the custom", () => {
    expect(afterUpdates(sticky, "", "+a", "-*")).toEqual(["*", "*", "*"]);
    expect(afterUpdates(sticky, "+*", "-*")).toEqual(["*", "nothing"]);
    const subscription = new Subscription(sticky);
    update(subscription, "");
    expect(update(subscription, "+a")).toEqual(nothing);
  });

  test("tells what each request changed", () => {
    const subscription = new Subscription(newest);
    expect(update(subscription, "")).toEqual({ ...nothing, joinedWildcard: true });
    expect(update(subscription, "+a")).toEqual({ ...nothing, asked: ["a"] });
    expect(update(subscription, "+a")).toEqual({ ...nothing, asked: ["a"] });
    expect(update(subscription, "")).toEqual(nothing);
    expect(update(subscription, "+*")).toEqual({ ...nothing, joinedWildcard: true });
    expect(update(subscription, "-b")).toEqual(nothing);
    expect(update(subscription, "+b -b -a")).toEqual({ ...nothing, dropped: ["b", "a"] });
    expect(update(subscription, "+c -*")).toEqual({ ...nothing, asked: ["c"], leftWildcard: true });
    expect(update(subscription, "-*")).toEqual(nothing);
    expect(update(subscription, "+* -*")).toEqual(nothing);
  });

  test.each([
    [["a", "b", "a"], []],
    [["*", "a"], []],
    [["a", "b"], ["a"]],
    [["a", "b"], ["*"]],
  ])("is the same whether or not %j, without %j, come with the set of the names", (given, givenUp) => {
    const changes = [undefined, new Set(given)].map((distinct) => {
      const subscription = new Subscription(newest);
      subscription.update(["*", "c"], []);
      const change = subscription.update(given, givenUp, distinct);
      return [change, standing(subscription)];
    });
    expect(changes[1]).toEqual(changes[0]);
  });

  test("takes the set of the names as it comes", () => {
    const distinct = new Set(["a", "b"]);
    const subscription = new Subscription(newest);
    expect(subscription.update(["a", "b", "a"], [], distinct)).toEqual({ ...nothing, asked: ["a", "b"] });
    distinct.add("c"); // which no reader does
    expect(standing(subscription)).toBe("a,b,c");
  });
});

describe("what a subscription covers", () => {
  const route = resource(ROUTE, "r", "1", { aliases: ["x", "y"] });
  const hidden = { ...route, onDemand: true };
  const covers = (list: readonly string[], one = route): boolean => {
    const subscription = new Subscription(strict);
    subscription.replace(list);
    return subscription.covers(one);
  };

  test("is what it names, by name or by alias, or everything", () => {
    expect([["r"], ["x"], ["y", "z"], ["*"], ["*", "z"]].map((list) => covers(list))).toEqual(Array(5).fill(true));
    expect([[], ["z"], ["R"]].map((list) => covers(list))).toEqual([false, false, false]);
  });

  test("is not, for a wildcard, what comes on demand only", () => {
    expect([["r"], ["x"], ["*", "r"]].map((list) => covers(list, hidden))).toEqual([true, true, true]);
    expect([["*"], ["*", "z"], []].map((list) => covers(list, hidden))).toEqual([false, false, false]);
  });
});

describe("the names of a subscription", () => {
  test("are one object for all who ask for the same, and a new one after a change", () => {
    const sets = new NameSets();
    const [one, other] = [new Subscription(newest), new Subscription(newest)];
    expect(one.nameSet(sets)).toBe(emptyNameSet);
    one.replace(["a", "b"]);
    update(other, "+b +a");
    const shared = one.nameSet(sets);
    expect(other.nameSet(sets)).toBe(shared);
    expect(other.names).toBe(one.names);
    one.replace(["b", "a"]);
    expect(one.nameSet(sets)).toBe(shared);
    update(other, "+c");
    expect(other.nameSet(sets)).not.toBe(shared);
    expect([...one.names]).toEqual(["a", "b"]);
    one.replace(["a"]);
    expect([...one.nameSet(sets).names]).toEqual(["a"]);
    update(other, "-c");
    expect(other.nameSet(sets)).toBe(shared);
  });
});

describe("the key of a subscription", () => {
  const subscribed = (...names: readonly string[]): Subscription => {
    const subscription = new Subscription(newest);
    subscription.update(names, []);
    return subscription;
  };

  test("is equal for equal ones, and tells the wildcard apart", () => {
    const sets = new NameSets();
    const key = (...names: readonly string[]): string | undefined => subscribed(...names).sharedKey(sets);
    expect([key("b", "a") === key("a", "b"), key("a", "b") === key("*", "a", "b")]).toEqual([true, false]);
    expect([key("*"), key("*", "a") === key("a", "*")]).toEqual([`* ${emptyNameSet.key}`, true]);
  });

  test("of many names is found again once requests and uses are worth it", () => {
    const sets = new NameSets();
    const many = subscribed(...Array.from({ length: 600 }, (_, i) => `n${i}`));
    const first = many.sharedKey(sets);
    many.update(["a"], []);
    expect([many.sharedNames(sets), many.sharedNames(sets), many.sharedNames(sets)]).toEqual(Array(3).fill(undefined));
    const keys = [many.sharedKey(sets), many.sharedKey(sets), many.sharedKey(sets)];
    expect([first === undefined, ...keys.map((key) => key === undefined), keys[2] === first]).toEqual([
      ...[false, true, true],
      ...[false, false],
    ]);
    expect(many.sharedNames(sets)).toBe(many.names);
    many.update([], ["a"]);
    expect(many.sharedKey(sets)).toBe(undefined);
    expect(many.nameSet(sets).key).toBe(first);
    const half = Array.from({ length: 301 }, (_, i) => `m${i}`);
    many.update(half, half.slice(1));
    expect([many.sharedNames(sets), many.sharedKey(sets)]).not.toContain(first);
  });
});

describe("the scope of a subscription", () => {
  test("stays as it was when the subscription changes, and is one object until then", () => {
    const subscription = new Subscription(newest);
    const steps = [["+a"], ["+*"], ["-*"], ["-a +b"]].map(([request = ""]) => {
      update(subscription, request);
      return subscription.scope;
    });
    expect(subscription.scope).toBe(steps[3]);
    const shown = steps.map(({ isWildcard, names }) => `${isWildcard ? "*" : ""}${[...names].join()}`);
    expect(shown).toEqual(["a", "*a", "a", "b"]);
    const route = resource(ROUTE, "r", "1");
    expect(steps.map((scope) => [[...scope.termsFor(route)], scope.locators, scope.terms])).toEqual(
      steps.map(() => [[], undefined, undefined]),
    );
  });

  test("S-VHD-03: of a type whose terms match by rules has the terms that a resource matches", () => {
    const subscription = new Subscription({ ...newest, terms: virtualHostTerms });
    const host = resource(HOST, "r/*.test", "1", { aliases: ["r/*.test", "r/b.test"] });
    const [exact, named] = [resource(HOST, "r/a.test", "1"), resource(HOST, "r/*.test", "1")];
    subscription.update(["r/a.test", "r/b.test", "r/c.other"], []);
    const { scope } = subscription;
    expect([...scope.termsFor(host), "|", ...scope.termsFor(exact), "|", ...scope.termsFor(named)]).toEqual([
      ...["r/a.test", "|", "|", "r/a.test", "r/b.test"],
    ]);
    expect([host, exact, named, resource(HOST, "q/*", "1")].map((one) => subscription.covers(one))).toEqual([
      ...[true, true, true, false],
    ]);
    subscription.update(["r/d.test"], ["r/a.test"]);
    expect([[...subscription.termsFor(host)], [...scope.termsFor(host)]]).toEqual([["r/d.test"], ["r/a.test"]]);
    expect([subscription.asksBroadly, scope.terms]).toEqual([true, virtualHostTerms]);
  });
});

describe("B-LOC-11: once a client uses parameters", () => {
  const [a, b] = [locatedTerm("a"), locatedTerm("b")];
  const inX = locatedTerm("b", new Map([["env", "x"]]));

  test("its plain names are terms without parameters, to be sent again; and so are later ones", () => {
    const subscription = new Subscription(newest);
    update(subscription, "+a");
    const before = subscription.scope;
    expect([subscription.speaksOfParameters, subscription.termsNamed("a"), subscription.termsNamed("b")]).toEqual([
      ...[false, ["a"], []],
    ]);
    expect([subscription.speakOfParameters(), subscription.speakOfParameters()]).toEqual([[a], []]);
    expect(update(subscription, "+b")).toEqual({ ...nothing, asked: [b] });
    subscription.update([inX], ["a"]);
    expect([[...subscription.names], [...before.names]]).toEqual([[b, inX], ["a"]]);
    expect([subscription.speaksOfParameters, subscription.termsNamed("b"), subscription.termsNamed("a")]).toEqual([
      ...[true, [b, inX], []],
    ]);
    expect([subscription.isNamed("b"), subscription.isNamed("a"), subscription.asksBroadly]).toEqual([
      ...[true, false, true],
    ]);
    const { scope } = subscription;
    expect([scope.locators?.termsOf("b"), before.locators, [...scope.termsFor(resource(ROUTE, "b", "1"))]]).toEqual([
      ...[[b, inX], undefined, []],
    ]);
  });

  test("it may ask for everything that matches some", () => {
    const subscription = new Subscription(newest);
    expect([subscription.speakOfParameters(), subscription.asksForAll, subscription.asksBroadly]).toEqual([
      ...[[], false, true],
    ]);
    subscription.update([locatedTerm("*", new Map([["env", "x"]]))], []);
    expect([subscription.isWildcard, subscription.asksForAll]).toEqual([false, true]);
  });

  test("rules of the type match no terms any more", () => {
    const subscription = new Subscription({ ...newest, terms: virtualHostTerms });
    update(subscription, "+r/a.test");
    const host = resource(HOST, "r/*.test", "1");
    const before = [...subscription.termsFor(host)];
    subscription.speakOfParameters();
    expect([before, [...subscription.termsFor(host)], [...subscription.scope.termsFor(host)]]).toEqual([
      ...[["r/a.test"], [], []],
    ]);
  });
});

describe("a name is subscribed to", () => {
  test("by itself, by its collection, by a prefix, or by the wildcard, whatever its aliases", () => {
    const named = (terms: readonly string[]): unknown => {
      const subscription = new Subscription(newest);
      subscription.update(terms, []);
      const names = ["a", "xdstp://x/t/d/m", "foo/bar"];
      return names.map((name) => [subscription.isNamed(name), coversName(subscription.scope, name)]);
    };
    const [yes, no, all] = [
      [true, true],
      [false, false],
      [false, true],
    ];
    expect([named(["a"]), named(["xdstp://x/t/d/*"]), named(termsOf(["foo/*"], true)), named(["*"])]).toEqual([
      [yes, no, no],
      [no, yes, no],
      [no, no, yes],
      [all, all, all],
    ]);
  });

  test("B-LOC-09: with parameters only if those are subscribed to", () => {
    const subscription = new Subscription(newest);
    subscription.speakOfParameters();
    const [x, y] = ["x", "y"].map((env) => locatedTerm("a", new Map([["env", env]])));
    subscription.update([x ?? ""], []);
    expect([x, y, "a", "b"].map((term) => coversName(subscription.scope, term ?? ""))).toEqual([
      ...[true, false, true, false],
    ]);
  });
});

test("a request is understood by what it changed", () => {
  expect(classifyChange(nothing)).toBe("repeat");
  expect(classifyChange({ ...nothing, asked: ["a"], dropped: ["b"] })).toBe("subscribe");
  expect(classifyChange({ ...nothing, joinedWildcard: true })).toBe("subscribe");
  expect(classifyChange({ ...nothing, dropped: ["b"] })).toBe("unsubscribe");
  expect(classifyChange({ ...nothing, leftWildcard: true })).toBe("unsubscribe");
});
