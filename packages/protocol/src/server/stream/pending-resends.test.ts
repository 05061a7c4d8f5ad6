import { beforeEach, describe, expect, test } from "vitest";
import { delta, node } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, HOST, ROUTE, resource } from "../../../test/support/resources.ts";
import { toldAtOnce, typeStream } from "../../../test/support/type-streams.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { everythingRemovable } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { PendingResends } from "./pending-resends.ts";

const everything = {
  ...{ removable: () => everythingRemovable, heldBack: nothingHeldBack },
  absences: toldAtOnce,
};
const dialect = dialectFor(node("n"));
let clusters: TypeStream;
let resends: PendingResends;

beforeEach(() => {
  clusters = typeStream(CLUSTER);
  resends = new PendingResends(dialect);
});

/** A type that was sent everything, and has nothing pending. */
function sent(type: TypeUrl, ...names: readonly string[]): TypeStream {
  const stream = typeStream(type, names);
  const view = viewOf(new WrittenLayer("base"));
  stream.next(new CurrentViews(new SharedResponses(digest)).of(view), everything);
  return stream;
}

/** What these Clusters make resent on other streams. */
function collect(
  news: readonly Resource[],
  { here, isShared = false }: { readonly here?: TypeStream; readonly isShared?: boolean } = {},
): unknown {
  const types = new Map(here === undefined ? [] : [[here.traits.type, here]]);
  resends.collect(clusters, [news], { types, isShared });
  return [...resends.takeOwed()].map(([type, names]) => [type, [...names]]);
}

const pending = ({ sentState }: TypeStream): readonly string[] => [...sentState.pendingNames.keys()];
const taken = (type: TypeUrl): readonly string[] => [...resends.takeBeforehand(type)];

describe("S-WRM-08: the endpoints of new and changed Clusters", () => {
  const [a, b] = [resource(CLUSTER, "a", "1"), resource(CLUSTER, "b", "1")];

  test("are sent again on the same stream, as far as the client subscribes to them", () => {
    const endpoints = sent(ENDPOINTS, "a");
    const other = resource(CLUSTER, "c", "1", { references: [{ type: ROUTE, name: "r" }] });
    expect(collect([a, b, other], { here: endpoints })).toEqual([[ENDPOINTS, ["a", "b"]]]);
    expect(pending(endpoints)).toEqual(["a"]);
  });

  test("are not looked for where none were sent yet, unless other streams of the client may have them", () => {
    const fresh = typeStream(ENDPOINTS, ["a"]);
    const asked = pending(fresh);
    expect([collect([a]), collect([a], { here: fresh }), pending(fresh)]).toEqual([[], [], asked]);
    expect(collect([a], { isShared: true })).toEqual([[ENDPOINTS, ["a"]]]);
    expect(taken(ENDPOINTS)).toEqual([]);
  });

  test("are kept for a reconnecting client that subscribes to them later, and taken once", () => {
    resends.resume(CLUSTER);
    expect([resends.isResumed(clusters), resends.isResumed(sent(ENDPOINTS))]).toEqual([true, false]);
    expect([collect([a]), collect([b])]).toEqual([[[ENDPOINTS, ["a"]]], [[ENDPOINTS, ["b"]]]]);
    expect([taken(ROUTE), taken(ENDPOINTS), taken(ENDPOINTS)]).toEqual([[], ["a", "b"], []]);
    const endpoints = sent(ENDPOINTS, "a");
    collect([a], { here: endpoints });
    expect([taken(ENDPOINTS), pending(endpoints)]).toEqual([[], ["a"]]);
  });

  test("are added to what other types make resent", () => {
    const others = typeStream(ROUTE, [], { owes: [ENDPOINTS] });
    const route = resource(ROUTE, "r", "1", { references: [{ type: ENDPOINTS, name: "x" }] });
    resends.collect(others, [[route]], { types: new Map(), isShared: true });
    resends.collect(clusters, [[a], [b]], { types: new Map(), isShared: true });
    expect(resends.takeOwed()).toEqual(["x", "a", "b"].map((name) => [ENDPOINTS, new Set([name])]));
    expect(resends.takeOwed().length).toBe(0);
  });

  test("are not sent again where that is switched off; what other types make resent is", () => {
    resends = new PendingResends({ ...dialect, resendEdsOnClusterChange: false });
    expect(collect([a], { isShared: true })).toEqual([]);
    clusters = typeStream(ROUTE, [], { owes: [HOST] });
    const route = resource(ROUTE, "r", "1", { references: [{ type: HOST, name: "r/" }] });
    expect(collect([route], { isShared: true })).toEqual([[HOST, ["r/"]]]);
  });

  test("are of no interest to a type that makes nothing resent", () => {
    const routes = typeStream(ROUTE);
    resends.collect(routes, [[a]], { types: new Map(), isShared: true });
    expect(resends.takeOwed().length).toBe(0);
  });
});

test("S-REC-12 versions that come late leave what was sent as it is", () => {
  const endpoints = sent(ENDPOINTS, "a");
  const versions = [["a", "1"]] as const;
  const initialVersions = { size: 1, key: undefined, [Symbol.iterator]: () => versions.values() };
  expect(endpoints.onRequest(delta(ENDPOINTS, { initialVersions }))).toEqual({
    as: "repeat",
    anomaly: "late-initial-versions",
  });
  expect(endpoints.position).toBeDefined();
});
