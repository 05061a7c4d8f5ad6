import { describe, expect, test } from "vitest";
import { sotw } from "../../../test/support/conversation.ts";
import { ENDPOINTS } from "../../../test/support/resources.ts";
import type { SotwRequest } from "../../message/request.ts";
import { locatedTerm } from "../../resource/variant-name.ts";
import { SotwSubscription } from "./sotw-subscription.ts";
import { Subscription } from "./subscription.ts";

/** A client's requests, and what their names mean. */
class Client {
  readonly subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false });
  readonly #listed: SotwSubscription;

  constructor(rules: { readonly ignoreHints?: boolean; readonly prefixGlob?: boolean } = {}) {
    this.#listed = new SotwSubscription(this.subscription, { ignoreHints: false, prefixGlob: false, ...rules });
  }

  get namesBeside(): number {
    return this.#listed.namesBeside;
  }

  /** What needs an answer: what the change adds, and what is doubted. */
  list(names: readonly string[], what: Partial<SotwRequest> = {}): unknown {
    const { change, again, isWildcardAgain } = this.#listed.list(sotw(ENDPOINTS, { names, ...what }));
    const news = change && [...change.asked, ...(change.joinedWildcard ? ["*"] : [])];
    return [news, [...again, ...(isWildcardAgain ? ["all"] : [])]];
  }

  doubt(...names: readonly string[]): this {
    this.#listed.doubt(names);
    return this;
  }
}

describe("S-SUB-23: the names of a State of the World request", () => {
  test("replace the ones before; an ACK that repeats the list changes nothing", () => {
    const client = new Client();
    const names = ["a", "b"];
    expect([client.list(names), client.list(names), client.list(["a", "b"])]).toEqual([
      [["a", "b"], []],
      [undefined, []],
      [[], []],
    ]);
    expect([client.list(["b", "c"]), [...client.subscription.names]]).toEqual([
      [["c"], []],
      ["b", "c"],
    ]);
  });

  test("may be prefixes where those are enabled", () => {
    const [plain, globs] = [new Client(), new Client({ prefixGlob: true })];
    for (const one of [plain, globs]) one.list(["foo/*"]);
    expect([plain, globs].map(({ subscription }) => subscription.isNamed("foo/a"))).toEqual([false, true]);
    globs.doubt("foo/*").list(["foo/*"]);
    expect(globs.doubt("foo/*").list(["foo/*", "a"])).toEqual([["a"], []]);
  });

  test("B-LOC-11: become terms with parameters once the client uses those, and are answered again", () => {
    const client = new Client();
    client.list(["a", "b"]);
    const [a, b] = [locatedTerm("a"), locatedTerm("b", new Map([["env", "x"]]))];
    expect(client.list(["a", b], { hasLocators: true })).toEqual([[b], [a, locatedTerm("b")]]);
    expect(client.doubt(b).list(["a", b])).toEqual([[], [a]]);
  });
});

test("a list that repeats most of its names is not kept", () => {
  const client = new Client();
  const [few, many] = [2, 20].map((repeated) => ["a", "b", ...Array<string>(repeated).fill("a")]);
  if (few === undefined || many === undefined) throw new Error("expected two lists");
  expect([few, few, many, many].map((names) => client.list(names))).toEqual([
    [["a", "b"], []],
    [undefined, []],
    [[], []],
    [[], []],
  ]);
});

describe("S-SUB-06: a name that a stale request left out", () => {
  test("counts as new when it is listed again, once", () => {
    const client = new Client();
    client.list(["a", "b", "c"]);
    expect(client.doubt("a").list(["a", "b"])).toEqual([[], ["b"]]);
    expect(client.list(["a", "b", "c"])).toEqual([["c"], []]);
    expect(client.doubt("a", "b", "c").list(["a", "b", "c"])).toEqual([[], []]);
    expect(client.doubt("a").doubt("b").list(["c", "b", "a"])).toEqual([[], ["c", "b", "a"]]);
  });

  test("counts as new though the list is the one before, unless the stale request had it too", () => {
    const client = new Client();
    const names = ["a", "b"];
    client.list(names);
    expect(client.doubt("b").list(names)).toEqual([undefined, ["a"]]);
    const listing = new SotwSubscription(client.subscription, { ignoreHints: false, prefixGlob: false });
    listing.list(sotw(ENDPOINTS, { names }));
    names.pop();
    listing.doubt(names);
    expect(listing.list(sotw(ENDPOINTS, { names })).again).toEqual([]);
  });

  test("may be the wildcard, whose return is answered with everything, once", () => {
    const client = new Client();
    expect(client.list([])).toEqual([["*"], []]);
    expect(client.doubt().list([])).toEqual([[], []]);
    expect(client.doubt("a").list([])).toEqual([[], ["all"]]);
    expect(client.list([])).toEqual([[], []]);
    expect(client.doubt("a").doubt().list(["*"])).toEqual([[], ["all"]]);
    expect(client.doubt("*", "a").list(["*"])).toEqual([[], []]);
    expect(client.doubt("a").list(["a"])).toEqual([["a"], ["all"]]);
    expect(client.doubt("b").list(["b"])).toEqual([["b"], []]);
  });
});

describe("S-SUB-03: where names are hints", () => {
  const hinted = (): Client => new Client({ ignoreHints: true });

  test("everything is subscribed to, and a name that was not hinted before is answered again", () => {
    const client = hinted();
    expect([client.list(["a"]), client.subscription.isSoleWildcard]).toEqual([[["*"], ["a"]], true]);
    expect([client.list(["a", "b"]), client.list(["b"]), client.list(["a"])]).toEqual([
      [[], ["b"]],
      [[], []],
      [[], ["a"]],
    ]);
    expect(client.list([])).toEqual([[], []]);
    expect(client.list(["*", "b"])).toEqual([[], ["*", "b", "all"]]);
    expect(client.list(["b", "c"])).toEqual([[], []]);
  });

  test("the newest ones count", () => {
    const client = hinted();
    const counts = [["a", "b", "a"], ["c"], ["l".repeat(257)], []].map((names) => {
      client.list(names);
      return client.namesBeside;
    });
    expect(counts).toEqual([2, 1, 2, 0]);
  });

  test("S-SUB-14: a first request without names hints at everything", () => {
    const client = hinted();
    expect([client.list([]), client.list(["a"]), client.list(["a", "b"])]).toEqual([
      [["*"], ["*", "all"]],
      [[], []],
      [[], ["b"]],
    ]);
  });

  test("S-SUB-06: a hint that a stale request left out is answered again, and nothing else", () => {
    const client = hinted();
    client.list(["a", "b"]);
    expect(client.doubt("a").list(["a", "b"])).toEqual([[], ["b"]]);
    const names = ["*", "a"];
    client.list(names);
    expect([client.doubt("a").list(names), client.list(names)]).toEqual([
      [undefined, ["*", "all"]],
      [undefined, []],
    ]);
  });
});
