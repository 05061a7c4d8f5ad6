import { beforeEach, describe, expect, test } from "vitest";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, HOST, ROUTE, resource, traits } from "../../../test/support/resources.ts";
import { termsOf } from "../../resource/resource-name.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { locatedTerm, shownName } from "../../resource/variant-name.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription } from "../subscription/subscription.ts";
import { candidatesFor, termsBehind } from "./terms.ts";

const collection = "xdstp://x/envoy.config.route.v3.RouteConfiguration/d";
const [prefix = ""] = termsOf(["foo/*"], true);

/** A layer that is written one revision after the other, and a client that was sent the first. */
class World {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));

  put(revision: number, ...puts: readonly ReturnType<typeof resource>[]): void {
    this.base.put(revision, ...puts);
    for (const { type } of puts) this.base.tableFor(type).settle(revision);
    this.responses.advance(revision, undefined);
  }

  delete(revision: number, type: TypeUrl, name: string): void {
    this.base.tableFor(type).delete(name, revision);
    this.responses.advance(revision, undefined);
  }

  /** The names that a term may match, and whether they changed since revision 1. */
  candidates(term: string, type = ROUTE): unknown {
    const from = { view: this.current.view, revision: 1 };
    const { names, isTouched } = candidatesFor(term, traits(type) ?? opaqueTraits(type), from, this.current);
    return [[...names].map(shownName).sort().join(" "), isTouched];
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

describe("B-XTP-05: the names that a term matches, or matched when the client was last sent something", () => {
  test("are its own, and that of which it is an alias", () => {
    world.put(1, resource(ROUTE, "a", "1"), resource(ROUTE, "b", "1", { aliases: ["x"] }), resource(ROUTE, "c", "1"));
    expect(["a", "x", "none"].map((term) => world.candidates(term))).toEqual([
      ["a", false],
      ["b", false],
      ["", false],
    ]);
    world.put(2, resource(ROUTE, "a", "2"), resource(ROUTE, "b", "2"));
    world.delete(3, ROUTE, "c");
    expect(["a", "x", "c", "none"].map((term) => world.candidates(term))).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
      ["", false],
    ]);
  });

  test("are the members of a collection, and the names with a prefix", () => {
    world.put(1, ...[`${collection}/a`, "foo/a", "bar/a"].map((name) => resource(ROUTE, name, "1")));
    expect([world.candidates(`${collection}/*`), world.candidates(prefix)]).toEqual([
      [`${collection}/a`, false],
      ["foo/a", false],
    ]);
    world.put(2, resource(ROUTE, "bar/a", "2"));
    expect(world.candidates(prefix)).toEqual(["foo/a", false]);
    world.put(3, ...[`${collection}/b`, "foo/b"].map((name) => resource(ROUTE, name, "3")));
    world.delete(4, ROUTE, "foo/a");
    expect([world.candidates(`${collection}/*`), world.candidates(prefix)]).toEqual([
      [`${collection}/a ${collection}/b`, true],
      ["foo/a foo/b", true],
    ]);
  });

  test("S-VHD-03: are the virtual hosts whose domain is the term or broader", () => {
    world.put(1, resource(HOST, "r/*.test", "1"), resource(HOST, "r/*", "1"), resource(HOST, "q/*", "1"));
    expect(world.candidates("r/a.test", HOST)).toEqual(["r/* r/*.test", false]);
    world.put(2, resource(HOST, "q/*", "2"));
    expect(world.candidates("r/a.test", HOST)).toEqual(["r/* r/*.test", false]);
    world.delete(3, HOST, "r/*.test");
    expect(world.candidates("r/a.test", HOST)).toEqual(["r/* r/*.test", true]);
  });

  test("B-LOC-04: are the variants that its parameters match", () => {
    const variant = (name: string, label: string, value: string): ReturnType<typeof resource> =>
      resource(ROUTE, name, label, { constraints: { kind: "value", key: "env", value } });
    const inX = (name: string): string => locatedTerm(name, new Map([["env", "x"]]));
    world.put(1, variant("a", "1", "x"), variant("a", "1", "y"), resource(ROUTE, "b", "1"));
    expect([world.candidates(inX("a")), world.candidates(inX("b")), world.candidates(inX("*"))]).toEqual([
      ['a [env = "x"]', false],
      ["b", false],
      ['a [env = "x"] b', false],
    ]);
    world.put(2, variant("a", "2", "y"));
    expect([world.candidates(inX("a")), world.candidates(inX("*"))]).toEqual([
      ['a [env = "x"]', false],
      ['a [env = "x"] b', false],
    ]);
    world.put(3, variant("a", "3", "x"));
    world.put(4, resource(ROUTE, "c", "4"));
    expect([world.candidates(inX("a")), world.candidates(inX("b")), world.candidates(inX("*"))]).toEqual([
      ['a [env = "x"]', true],
      ["b", false],
      ['a [env = "x"] b c', true],
    ]);
  });
});

describe("S-VHD-04: the terms to answer for the collection of a route configuration", () => {
  const behind = (type: TypeUrl, terms: readonly string[], ...subscribed: readonly string[]): readonly string[] => {
    const known = traits(type) ?? opaqueTraits(type);
    const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false, terms: known.terms });
    subscription.update(subscribed, []);
    return [...termsBehind(terms, known, subscription, world.current)];
  };

  test("are its members that are subscribed to and exist", () => {
    world.put(1, resource(HOST, "r/a", "1"), resource(HOST, "r/b", "1"), resource(HOST, "q/a", "1"));
    expect(behind(HOST, ["x", "r/"], "r/a", "r/none", "q/a")).toEqual(["x", "r/a"]);
    expect(behind(HOST, ["r/a"], "r/a")).toEqual(["r/a"]);
  });

  test("are the name of the collection too where it is subscribed to", () => {
    world.put(1, resource(HOST, "r/a", "1"));
    expect([behind(HOST, ["r/"], "r/"), behind(HOST, ["r/"], "r/", "r/a")]).toEqual([["r/"], ["r/", "r/a"]]);
  });

  test("are the terms themselves for a type without collections", () => {
    expect(behind(ROUTE, ["r/", "a"], "r/a")).toEqual(["r/", "a"]);
  });
});
