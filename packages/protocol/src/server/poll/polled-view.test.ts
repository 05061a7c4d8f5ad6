import { expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, traits } from "../../../test/support/resources.ts";
import { wholeGrant } from "../../access/access-policy.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { LayerSet } from "../../state/layer-set.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { type PolledView, PolledViews } from "./polled-view.ts";

test("S-RST-13: equal names of one type in one view share a subscription; a view is watched while it has any", () => {
  const layers = new LayerSet<PolledView>({ keepsBodies: () => false }, { lines: 1_000, bytes: 1e9 });
  const responses = new SharedResponses(digest);
  const views = new PolledViews({ digest, currentViews: new CurrentViews(responses), layers });
  const placed = { layers: ["base"], grant: wholeGrant };
  const polled = (type: TypeUrl, ...names: readonly string[]): ReturnType<PolledViews["polled"]> => {
    const known = traits(type);
    if (known === undefined) throw new Error(`no traits of ${type}`);
    return views.polled(placed, { traits: known, names, resourceErrors: "off" });
  };
  let revision = 0;
  const watched = (): number => {
    const changes = [{ layer: "base", puts: [cluster("a", String(++revision))] }];
    const touched = [...(layers.apply({ changes }, revision)?.views ?? [])];
    responses.advance(revision, undefined);
    return touched.length;
  };
  const [some, all] = [polled(CLUSTER, "a", "b"), polled(CLUSTER)];
  const endpoints = polled(ENDPOINTS, "a", "b");
  expect([polled(CLUSTER, "b", "a") === some, polled(CLUSTER) === all, polled(CLUSTER, "a") === some]).toEqual([
    true,
    true,
    false,
  ]);
  expect(views.polledLike(some, placed)).toBe(some);
  expect(watched()).toBe(1);
  endpoints.response();
  expect([...views.changed(all.current.view)]).toEqual([some, all, polled(CLUSTER, "a")]);
  all.response();
  some.response();
  expect([...views.changed(all.current.view)]).toEqual([polled(CLUSTER, "a")]);
  for (const one of [some, polled(CLUSTER, "a"), endpoints]) views.drop(one);
  expect(watched()).toBe(1);
  views.drop(all);
  expect([watched(), [...views.changed(all.current.view)]]).toEqual([0, []]);
  views.drop(all);
  expect(polled(CLUSTER)).not.toBe(all);
});
