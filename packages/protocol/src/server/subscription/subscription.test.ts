import { describe, expect, test } from "vitest";
import { ROUTE, resource } from "../../../test/support/resources.ts";
import { emptyNameSet, NameSets } from "./name-set.ts";
import { classifyChange, Subscription, type SubscriptionChange } from "./subscription.ts";

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

test("a request is understood by what it changed", () => {
  expect(classifyChange(nothing)).toBe("repeat");
  expect(classifyChange({ ...nothing, asked: ["a"], dropped: ["b"] })).toBe("subscribe");
  expect(classifyChange({ ...nothing, joinedWildcard: true })).toBe("subscribe");
  expect(classifyChange({ ...nothing, dropped: ["b"] })).toBe("unsubscribe");
  expect(classifyChange({ ...nothing, leftWildcard: true })).toBe("unsubscribe");
});
