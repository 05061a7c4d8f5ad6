import { beforeEach, describe, expect, test } from "vitest";
import { cluster, shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest } from "../../../test/support/resources.ts";
import { Subscription } from "../subscription/subscription.ts";
import { CurrentViews } from "./current-view.ts";
import { SharedResponses } from "./shared-responses.ts";

let everything: Subscription;

beforeEach(() => {
  everything = new Subscription({ legacyWildcard: true, wildcardSticky: false });
  everything.replace([]);
});

describe("the current state of a view", () => {
  test("is one object for all streams of the view, also for those that are sent TTLs", () => {
    const shared = new SharedResponses(digest);
    const views = new CurrentViews(shared);
    const timed = viewOf(new WrittenLayer("base", [{ ...cluster("a", "1"), ttlMs: 1000 }]));
    const plain = viewOf(new WrittenLayer("base", [cluster("a", "1")]));
    const current = views.of(timed);
    expect(views.of(timed)).toBe(current);
    expect(views.of(plain)).not.toBe(current);
    expect(current.forTtls(CLUSTER, "not-announced")).toBe(current);
    expect(views.of(plain).forTtls(CLUSTER, "told")).toBe(views.of(plain));
    const withTtls = current.forTtls(CLUSTER, "told");
    expect(current.forTtls(CLUSTER, "told")).toBe(withTtls);
    expect([current.ttls, withTtls.ttls, withTtls.view]).toEqual(["left-off", "told", timed]);
  });

  test("moves on with each transaction, and its positions stay", () => {
    const shared = new SharedResponses(digest);
    const layer = new WrittenLayer("base", [cluster("a", "1")]);
    const view = viewOf(layer);
    const current = new CurrentViews(shared).of(view);
    shared.advance(1, undefined);
    const before = current.toPosition();
    expect(current.select(CLUSTER, everything).puts.map(shown)).toEqual(["a@1"]);
    layer.put(2, cluster("a", "2"));
    shared.advance(2, undefined);
    expect([before.revision, current.revision, current.toPosition().view]).toEqual([1, 2, view]);
    expect(current.select(CLUSTER, everything).puts.map(shown)).toEqual(["a@2"]);
    expect([...current.namesSince(before, CLUSTER)]).toEqual(["a"]);
    expect([...current.namesSince(current.toPosition(), CLUSTER)]).toEqual([]);
  });
});
