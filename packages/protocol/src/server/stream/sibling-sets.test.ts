import { beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  HOST,
  LISTENER,
  ROUTE,
  resource,
  SECRET,
  traits,
  UNKNOWN,
} from "../../../test/support/resources.ts";
import { openStream, requestOn } from "../../../test/support/streams.ts";
import { answer } from "../../../test/support/type-streams.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { formatTypeUrl, type TypeUrl } from "../../resource/type-url.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { ClusterSources } from "../order/cluster-sources.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { SiblingSets } from "./sibling-sets.ts";
import type { Stream } from "./stream.ts";

const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const twins = new Map([
  [CLUSTER, CLUSTER_V2],
  [CLUSTER_V2, CLUSTER],
]);

function traitsOf(type: TypeUrl): TypeTraits | undefined {
  const known = traits(type === CLUSTER_V2 ? CLUSTER : type);
  const twin = twins.get(type);
  return known && { ...known, type, ...(twin !== undefined && { twin }) };
}

const aggregated = undefined;
let sets: SiblingSets;
let clusterSources: ClusterSources;
let lastStream: number;

beforeEach(() => {
  clusterSources = new ClusterSources({ listsNews: false });
  sets = new SiblingSets(traitsOf, (type) => type === CLUSTER, clusterSources);
  lastStream = 0;
});

function open(onlyType: TypeUrl | undefined, connection: number, nodeId = "n"): Stream {
  const current = new CurrentViews(new SharedResponses(digest)).of(viewOf(new WrittenLayer("base")));
  return openStream(sets, current, { stream: ++lastStream, onlyType, connection }, node(nodeId));
}

function subscribe(stream: Stream, type: TypeUrl, ...names: readonly string[]): void {
  requestOn(stream, type, { subscribe: names }, traitsOf);
}

/** Numbers of the streams, one list for each set, in the order in which the sets came. */
function grouped(...streams: readonly Stream[]): readonly (readonly number[])[] {
  const found = new Set(streams.map(({ identity }) => identity.siblings));
  return [...found].map((set) => [...set.streams].map(({ opened }) => opened.stream));
}

describe("S-WRM-12: the streams of one client", () => {
  test("are the per-type streams of one node on one connection, and an aggregated stream is alone", () => {
    const all = [
      ...[open(CLUSTER, 1), open(ENDPOINTS, 1), open(CLUSTER, 1)],
      ...[open(aggregated, 1), open(aggregated, 1), open(ROUTE, 1, "other")],
    ];
    expect(grouped(...all)).toEqual([[1, 2, 3], [4], [5], [6]]);
  });

  test("are on several connections, as long as none of the types comes on two", () => {
    const first = [open(CLUSTER, 1), open(ENDPOINTS, 2), open(ENDPOINTS, 2), open(ROUTE, 3)];
    expect(grouped(...first)).toEqual([[1, 2, 3, 4]]);
    const second = [open(CLUSTER, 2), open(LISTENER, 2), open(LISTENER, 3)];
    expect(grouped(...first, ...second)).toEqual([[1, 2, 3, 4], [5, 6], [7]]);
  });

  test("are of two clients if one has the twin of the other's type", () => {
    expect(grouped(open(CLUSTER, 1), open(CLUSTER_V2, 2))).toEqual([[1], [2]]);
    expect(grouped(open(UNKNOWN, 1, "m"), open(ROUTE, 2, "m"))).toEqual([[3, 4]]);
  });

  test("are on one connection if the node has no id", () => {
    expect(grouped(open(CLUSTER, 1, ""), open(ENDPOINTS, 1, ""), open(ROUTE, 2, ""))).toEqual([[1, 2], [3]]);
  });

  test("that closed count no more", () => {
    const [clusters, endpoints] = [open(CLUSTER, 1), open(ENDPOINTS, 1)];
    const { siblings } = endpoints.identity;
    for (const one of [clusters, endpoints]) siblings.waiting.add(one);
    sets.leave(clusters);
    expect([[...siblings.streams], [...siblings.waiting]]).toEqual([[endpoints], [endpoints]]);
    const moved = open(CLUSTER, 2);
    expect(grouped(endpoints, moved)).toEqual([[2, 3]]);
    sets.leave(endpoints);
    sets.leave(moved);
    const again = [open(CLUSTER, 1), open(CLUSTER, 2)];
    expect(again.map(({ identity }) => identity.siblings === siblings)).toEqual([false, false]);
    expect(grouped(...again)).toEqual([[4], [5]]);
    // One of several clients is left: others may belong to it again.
    sets.leave(again[0] as Stream);
    expect(grouped(open(ENDPOINTS, 3))).toEqual([[5, 6]]);
  });

  test("have one key, which an aggregated stream shares with the streams beside it", () => {
    const streams = [
      open(aggregated, 1),
      open(CLUSTER, 1),
      open(ENDPOINTS, 2),
      open(aggregated, 2),
      open(aggregated, 3),
    ];
    const other = [open(CLUSTER, 4), open(aggregated, 4), open(aggregated, 4, "other")];
    expect([...streams, ...other].map((stream) => sets.clientOf(stream))).toEqual([
      ...["1 n", "1 n", "1 n", "1 n", "3 n"],
      ...["4 n", "4 n", "4 other"],
    ]);
  });
});

describe("S-ORD-06: the order of a client", () => {
  test("follows what may use Clusters, and secrets: not virtual hosts, which come one by one, nor unknown types", () => {
    const waitsFor = (type: TypeUrl): boolean => {
      const stream = open(aggregated, 1);
      for (const one of [CLUSTER, LISTENER]) subscribe(stream, one);
      const { order } = stream.identity.siblings;
      const listener = resource(LISTENER, "l", "1", { references: [{ type, name: "x" }] });
      order.used(stream.types.get(LISTENER) as TypeStream, answer(LISTENER, 1, [listener]), () => true);
      return !order.isAtRest;
    };
    expect([ROUTE, SECRET, HOST, ENDPOINTS, UNKNOWN].map(waitsFor)).toEqual([true, true, false, false, false]);
  });

  test("has the Clusters of every stream until that stream closes", () => {
    const [clusters, routes] = [open(CLUSTER, 1), open(ROUTE, 1)];
    subscribe(clusters, CLUSTER);
    subscribe(routes, ROUTE, "r");
    const { order } = routes.identity.siblings;
    expect([order.hasClusters, order.hasUsers]).toEqual([true, true]);
    sets.leave(clusters);
    expect([order.hasClusters, order.hasUsers]).toEqual([false, true]);
    sets.leave(routes);
    expect(order.hasUsers).toBe(false);
  });

  test("of an aggregated stream does not await Clusters that come on a stream beside it", () => {
    const [clusters, beside] = [open(CLUSTER, 1), open(aggregated, 2)];
    const stranger = open(aggregated, 2, "other");
    for (const one of [beside, stranger]) one.identity.siblings.order.returns(true);
    const awaited = (): unknown => [beside, stranger].map(({ identity }) => identity.siblings.order.awaitsClusters);
    expect(awaited()).toEqual(["came-back", "came-back"]);
    subscribe(clusters, CLUSTER);
    expect(awaited()).toEqual([undefined, "came-back"]);
    sets.leave(clusters);
    expect(awaited()).toEqual(["came-back", "came-back"]);
  });

  test("awaits Clusters on the client's per-type streams, and remembers a node that gets them elsewhere", () => {
    const clusters = open(CLUSTER, 1);
    const another = open(CLUSTER, 2);
    subscribe(clusters, CLUSTER);
    another.identity.siblings.order.returns(true);
    expect(another.identity.siblings.order.awaitsClusters).toBe("came-back");
    for (const one of [open(aggregated, 1, "a"), open(ROUTE, 1, "b")])
      one.identity.siblings.order.stopAwaitingClusters();
    const elsewhere = [...clusterSources.current()].filter(({ isElsewhere }) => isElsewhere);
    expect(elsewhere.map(({ node }) => node)).toEqual(["a", "b"]);
  });
});
