import { describe, expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, failure, resource, traits } from "../../../test/support/resources.ts";
import type { Resource } from "../../resource/resource.ts";
import { formatTypeUrl, type TypeUrl } from "../../resource/type-url.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription } from "../subscription/subscription.ts";
import { type PolledResponse, PolledSubscription } from "./polled-subscription.ts";

/** Polls for these names, or for all, of a layer with Clusters a and b at revision 1. */
class Polls {
  readonly base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1")]);
  readonly responses = new SharedResponses(digest);
  readonly polled: PolledSubscription;

  constructor(...names: readonly string[]) {
    this.polled = this.withErrors("off", names);
    this.responses.advance(1, undefined);
  }

  /** The same for a client that is sent these errors. */
  withErrors(
    resourceErrors: PolledSubscription["resourceErrors"],
    names: readonly string[],
    type: TypeUrl = CLUSTER,
  ): PolledSubscription {
    const known = traits(CLUSTER);
    if (known === undefined) throw new Error("no traits");
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false });
    subscription.replace(names);
    const current = new CurrentViews(this.responses).of(viewOf(this.base));
    const options = { key: "k", current, traits: { ...known, type }, subscription, resourceErrors, digest };
    return new PolledSubscription(options);
  }

  putAll(revision: number, ...puts: readonly Resource[]): void {
    this.base.put(revision, ...puts);
    this.responses.advance(revision, undefined);
  }

  put(revision: number, ...names: readonly string[]): void {
    this.base.put(revision, ...names.map((name) => cluster(name, String(revision))));
    this.responses.advance(revision, undefined);
  }

  get response(): PolledResponse {
    return this.polled.response();
  }
}

describe("S-RST-13: what all who poll for the same names are sent", () => {
  test("is looked at once for each revision, and known until it is forgotten", () => {
    const { polled, response } = new Polls("a");
    expect([polled.isLookedAtAfter(1), polled.isLookedAtAfter(2)]).toEqual([true, false]);
    polled.passOver(2);
    expect(polled.isLookedAtAfter(2)).toBe(true);
    expect(polled.response()).toBe(response);
    polled.forget();
    expect(polled.isLookedAtAfter(1)).toBe(false);
    expect(polled.layers).toEqual(["base"]);
  });

  test("S-RST-11: takes memory for its names, and for an error of each name where missing ones are reported", () => {
    const bytes = (["off", "failed", "failed-and-missing"] as const).map(
      (errors) => new Polls().withErrors(errors, ["a", "none"]).bytes,
    );
    expect(bytes).toEqual([2 * 128 + 5, 2 * 128 + 5, 2 * 640 + 5]);
  });

  test("is the same object while none of its names changes", () => {
    const polls = new Polls("a", "none");
    const first = polls.response;
    polls.put(2, "b");
    expect(polls.response).toBe(first);
    polls.base.put(3, resource(ENDPOINTS, "a", "3"));
    polls.responses.advance(3, undefined);
    expect(polls.response).toBe(first);
    expect(polls.polled.isLookedAtAfter(3)).toBe(true);
    polls.put(4, "a");
    expect(polls.response).toMatchObject({
      summary: { names: ["a"], missing: ["none"], resources: 1, removed: 0, revision: 4 },
    });
  });

  test("is sent again when a name that did not exist does, and when one goes", () => {
    const polls = new Polls("a", "c");
    const first = polls.response;
    polls.put(2, "c");
    const second = polls.response;
    expect(second).toMatchObject({ summary: { names: ["a", "c"], missing: [] } });
    polls.base.delete(3, "c");
    polls.responses.advance(3, undefined);
    expect(polls.response).toMatchObject({ summary: { names: ["a"], missing: ["c"] } });
    expect(polls.response.body.version).toBe(first.body.version);
  });

  test("has the version of the type for a wildcard, and one of its own for names", () => {
    const [all, both] = [new Polls(), new Polls("a", "b")];
    const version = (polls: Polls): string => polls.response.body.version;
    expect(version(all)).toBe(all.polled.current.view.typeVersion(CLUSTER));
    expect(version(both)).toBe(version(new Polls("b", "a", "none")));
    expect(version(both)).not.toBe(version(new Polls("a")));
  });
});

describe("S-RST-13: a response is the same object", () => {
  test("for a wildcard too, as long as the content is", () => {
    const polls = new Polls();
    const first = polls.response;
    polls.put(2, "a");
    const second = polls.response;
    expect([second === first, polls.response === second]).toEqual([false, true]);
    polls.put(3, "a");
    polls.putAll(4, cluster("a", "2"));
    expect([polls.response === second, polls.polled.isLookedAtAfter(4)]).toEqual([true, true]);
  });

  test("where names stand beside a wildcard, which covers no resource that comes on demand", () => {
    const polls = new Polls("*", "a", "c");
    polls.putAll(2, cluster("c", "1", true), cluster("d", "1", true));
    expect(polls.response).toMatchObject({ summary: { names: ["a", "b", "c"], missing: [], resources: 3 } });
    const whole = new Polls();
    whole.putAll(2, cluster("d", "1", true));
    expect(whole.response).toMatchObject({ summary: { names: ["a", "b"], missing: [], resources: 2 } });
  });

  test("or another one where it is unknown what changed since, or an alias did", () => {
    const polls = new Polls("x");
    const first = polls.response;
    polls.putAll(2, resource(CLUSTER, "c", "1", { aliases: ["x"] }));
    const second = polls.response;
    expect([first.summary.missing, second.summary.names]).toEqual([["x"], ["c"]]);
    polls.putAll(3, cluster("c", "2"));
    expect(polls.response.summary).toMatchObject({ names: [], missing: ["x"] });
    polls.put(4, "x");
    polls.base.tableFor(CLUSTER).journal.trim(4);
    expect(polls.response.summary.names).toEqual(["x"]);
  });
});

describe("S-ERR-01: the errors of a poll", () => {
  const shownOf = ({ body, summary }: PolledResponse): unknown => [
    body.segments.flatMap(({ errors = [] }) => errors.map(({ name, error }) => `${name} ${error?.code}`)),
    summary.errors.map(({ name, error }) => `${name} ${error.code}`),
  ];
  const broken = (message = "why"): Resource => failure(CLUSTER, "x", 13, message);

  test("are all told with each response, whose version depends on them", () => {
    for (const names of [[], ["a", "b", "x"]]) {
      const polls = new Polls();
      const polled = polls.withErrors("failed", names);
      const without = polled.response();
      polls.putAll(2, broken());
      const first = polled.response();
      polls.put(3, "unrelated");
      const second = polled.response();
      expect([shownOf(without), shownOf(first), shownOf(second)]).toEqual([
        [[], []],
        [["x 13"], ["x 13"]],
        [["x 13"], ["x 13"]],
      ]);
      expect([first.body.version === without.body.version, second === first]).toEqual([false, names.length > 0]);
      polls.putAll(4, broken("another"));
      const third = polled.response();
      expect([third === second, third.body.version === second.body.version]).toEqual([false, false]);
      polls.base.delete(5, "x");
      polls.responses.advance(5, undefined);
      expect(shownOf(polled.response())).toEqual([[], []]);
    }
  });

  test("say what is missing where the client wants that, and nothing where it wants none", () => {
    const polls = new Polls();
    polls.putAll(2, broken());
    const responses = (["failed-and-missing", "failed", "off"] as const).map((which) =>
      polls.withErrors(which, ["a", "none", "x"]).response(),
    );
    expect(responses.map(shownOf)).toEqual([
      [
        ["x 13", "none 5"],
        ["x 13", "none 5"],
      ],
      [["x 13"], ["x 13"]],
      [[], []],
    ]);
    expect(new Set(responses.map(({ body }) => body.version)).size).toBe(3);
    const v2 = formatTypeUrl("envoy.api.v2.Cluster");
    polls.base.put(3, failure(v2, "x", 13));
    polls.responses.advance(3, undefined);
    expect(shownOf(polls.withErrors("failed-and-missing", ["x"], v2).response())).toEqual([[], []]);
  });

  test("are shown to people with the names, a hundred of each", () => {
    const polls = new Polls();
    const names = Array.from({ length: 101 }, (_, i) => `n${i}`);
    polls.putAll(2, ...names.map((name) => failure(CLUSTER, name, 13)));
    const { body, summary } = polls.withErrors("failed", names).response();
    expect([body.segments.at(-1)?.errors?.length, summary.errors.length, summary.missing.length]).toEqual([
      101, 100, 100,
    ]);
  });
});

describe("S-RST-13: the version of a type that a caller printed", () => {
  test("is that of everything, and is told apart for some names", () => {
    const polls = new Polls("a");
    polls.base.tableFor(CLUSTER).printVersion("v7");
    const [some, all] = [polls.response.body.version, polls.withErrors("off", []).response().body.version];
    expect([some.startsWith("v7+"), all]).toEqual([true, "v7"]);
  });
});
