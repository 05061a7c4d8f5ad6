import { describe, expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, resource, traits } from "../../../test/support/resources.ts";
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
    const known = traits(CLUSTER);
    if (known === undefined) throw new Error("no traits");
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false });
    subscription.replace(names);
    this.polled = new PolledSubscription({
      key: "k",
      current: new CurrentViews(this.responses).of(viewOf(this.base)),
      traits: known,
      subscription,
      resourceErrors: "off",
      digest,
    });
    this.responses.advance(1, undefined);
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
