import { describe, expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, resource, traits } from "../../../test/support/resources.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { Subscription } from "../subscription/subscription.ts";
import { type PolledResponse, PolledSubscription } from "./polled-subscription.ts";

/** Polls for these names, or for all, of a layer with Clusters a and b at revision 1. */
class Polls {
  readonly base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1")]);
  readonly responses = new SharedResponses(digest);
  readonly topic: PolledSubscription;

  constructor(...names: readonly string[]) {
    const known = traits(CLUSTER);
    if (known === undefined) throw new Error("no traits");
    const subscription = new Subscription({ legacyWildcard: true, wildcardSticky: false });
    subscription.replace(names);
    this.topic = new PolledSubscription({
      key: "k",
      view: viewOf(this.base),
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

  get told(): PolledResponse {
    return this.topic.told(this.responses);
  }
}

describe("S-RST-13: what all who poll for the same names are told", () => {
  test("is looked at once for each revision, and known until it is forgotten", () => {
    const { topic, responses, told } = new Polls("a");
    expect([topic.isLookedAtAfter(1), topic.isLookedAtAfter(2)]).toEqual([true, false]);
    topic.passOver(2);
    expect(topic.isLookedAtAfter(2)).toBe(true);
    expect(topic.told(responses)).toBe(told);
    topic.forget();
    expect(topic.isLookedAtAfter(1)).toBe(false);
    expect(topic.layers).toEqual(["base"]);
  });

  test("is the same object while none of its names changes", () => {
    const polls = new Polls("a", "none");
    const first = polls.told;
    polls.put(2, "b");
    expect(polls.told).toBe(first);
    polls.base.put(3, resource(ENDPOINTS, "a", "3"));
    polls.responses.advance(3, undefined);
    expect(polls.told).toBe(first);
    expect(polls.topic.isLookedAtAfter(3)).toBe(true);
    polls.put(4, "a");
    expect(polls.told).toMatchObject({
      summary: { names: ["a"], missing: ["none"], resources: 1, removed: 0, revision: 4 },
    });
  });

  test("is told again when a name that did not exist does, and when one goes", () => {
    const polls = new Polls("a", "c");
    const first = polls.told;
    polls.put(2, "c");
    const second = polls.told;
    expect(second).toMatchObject({ summary: { names: ["a", "c"], missing: [] } });
    polls.base.delete(3, "c");
    polls.responses.advance(3, undefined);
    expect(polls.told).toMatchObject({ summary: { names: ["a"], missing: ["c"] } });
    expect(polls.told.body.version).toBe(first.body.version);
  });

  test("has the version of the type for a wildcard, and one of its own for names", () => {
    const [all, both] = [new Polls(), new Polls("a", "b")];
    const version = (polls: Polls): string => polls.told.body.version;
    expect(version(all)).toBe(all.topic.view.typeVersion(CLUSTER));
    expect(version(both)).toBe(version(new Polls("b", "a", "none")));
    expect(version(both)).not.toBe(version(new Polls("a")));
  });
});
