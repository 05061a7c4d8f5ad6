import { beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "../../../test/support/resources.ts";
import { openStream, requestOn } from "../../../test/support/streams.ts";
import type { Resource } from "../../resource/resource.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { ClusterSources } from "../order/cluster-sources.ts";
import { SiblingSets } from "./sibling-sets.ts";
import type { FlushResult, Stream } from "./stream.ts";

const no = { code: 3, message: "no" };
const e = (name: string, label: string, ttlMs?: number): Resource =>
  resource(ENDPOINTS, name, label, ttlMs === undefined ? {} : { ttlMs });
const c = (name: string, label: string): Resource => resource(CLUSTER, name, label);

/** Streams of one node in a view of one layer. */
class World {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly #sets = new SiblingSets(traits, (type) => type === CLUSTER, new ClusterSources({ listsNews: false }));
  readonly #current = new CurrentViews(this.responses).of(viewOf(this.base));
  #streams = 0;
  #revision = 0;

  put(...puts: readonly Resource[]): void {
    this.base.put(++this.#revision, ...puts);
    this.responses.advance(this.#revision, undefined);
  }

  open(onlyType?: typeof CLUSTER, clientFeatures: readonly string[] = []): Stream {
    const opened = { stream: ++this.#streams, onlyType };
    return openStream(this.#sets, this.#current, opened, { ...node("n"), clientFeatures });
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

/** What a flush sends, in short. */
function said({ effects }: Pick<FlushResult, "effects">): readonly string[] {
  return effects.flatMap((effect) =>
    effect.kind === "send"
      ? [`${effect.nonce} ${effect.body.segments.flatMap(({ puts }) => puts.map(({ name }) => name)).join()}`]
      : [],
  );
}

const ack = (stream: Stream, type: typeof CLUSTER, nonce: string): unknown => requestOn(stream, type, { nonce });

describe("S-GRP-03: a flush", () => {
  test("sends what was asked for, types in their order, and leaves the stream settled", () => {
    world.put(c("c", "1"), e("a", "1"), resource(LISTENER, "l", "1"));
    const stream = world.open();
    expect([stream.isSettled, stream.isAggregated, said(stream.flush()), stream.isSettled]).toEqual([
      ...[false, true, [], true],
    ]);
    requestOn(stream, LISTENER);
    requestOn(stream, ENDPOINTS, { subscribe: ["a", "none"] });
    requestOn(stream, CLUSTER, { subscribe: ["c"] });
    expect([stream.isSettled, stream.namesAskedFor]).toEqual([false, 3]);
    expect([said(stream.flush()), stream.isSettled, said(stream.flush())]).toEqual([
      ...[["1 c", "2 a", "3 l"], true, []],
    ]);
    stream.unsettle();
    expect([stream.isSettled, said(stream.flush()), stream.isSettled]).toEqual([false, [], true]);
    world.put(e("a", "2"));
    stream.unsettle();
    expect([said(stream.flush()), stream.isSettled]).toEqual([[], false]);
    ack(stream, ENDPOINTS, "2");
    expect([said(stream.flush()), stream.isSettled]).toEqual([["4 a"], true]);
  });

  test("tells the other streams of the client whether anything moved", () => {
    const moved = (stream: Stream): readonly boolean[] => [stream.flush().hasMoved, stream.flush().hasMoved];
    const alone = world.open();
    requestOn(alone, ENDPOINTS, { subscribe: ["a"] });
    expect(moved(alone)).toEqual([false, false]);
    const [endpoints, routes] = [world.open(ENDPOINTS), world.open(ROUTE)];
    requestOn(endpoints, ENDPOINTS, { subscribe: ["a"] });
    expect([endpoints.isAggregated, moved(endpoints)]).toEqual([false, [true, false]]);
    ack(endpoints, ENDPOINTS, "1");
    world.put(e("b", "1"));
    endpoints.unsettle();
    const passed = endpoints.flush();
    expect([said(passed), passed.hasMoved, routes.flush().hasMoved]).toEqual([[], true, false]);
  });

  test("S-WRM-12: names the endpoints that the client's other streams have to be sent again", () => {
    world.put(c("a", "1"));
    const [clusters, endpoints] = [world.open(CLUSTER), world.open(ENDPOINTS)];
    requestOn(clusters, CLUSTER);
    requestOn(endpoints, ENDPOINTS, { subscribe: ["a"] });
    expect([...clusters.flush().owed]).toEqual([[ENDPOINTS, new Set(["a"])]]);
    const alone = world.open();
    requestOn(alone, CLUSTER);
    expect([...alone.flush().owed]).toEqual([]);
  });
});

describe("a settled stream", () => {
  test("passes over changes that do not concern it; one that is not has to look", () => {
    const stream = world.open();
    requestOn(stream, ENDPOINTS, { subscribe: ["a"] });
    stream.flush();
    const at = (): number | undefined => stream.types.get(ENDPOINTS)?.position?.revision;
    world.put(e("b", "1"));
    stream.catchUp(1);
    expect(at()).toBe(1);
    world.put(e("b", "2"));
    stream.unsettle();
    stream.catchUp(2);
    expect(at()).toBe(1);
  });

  test("stays so after an ACK of all it was sent, and not after anything else", () => {
    world.put(e("a", "1"));
    const stream = world.open();
    const settledAfter = (request: Parameters<typeof requestOn>[2]): boolean => {
      requestOn(stream, ENDPOINTS, request);
      const { isSettled } = stream;
      stream.flush();
      return isSettled;
    };
    expect(settledAfter({ subscribe: ["a"] })).toBe(false);
    expect([settledAfter({ nonce: "1" }), settledAfter({ nonce: "1" }), settledAfter({})]).toEqual([
      true,
      false,
      false,
    ]);
    expect(settledAfter({ subscribe: ["a"] })).toBe(false);
    expect(settledAfter({ nonce: "2", subscribe: ["b"] })).toBe(false);
    expect(settledAfter({ nonce: "3", error: no })).toBe(false);
    world.put(e("a", "2"));
    stream.unsettle();
    stream.flush();
    world.put(e("a", "3"));
    stream.unsettle();
    stream.flush();
    expect(settledAfter({ nonce: "4" })).toBe(false);
  });

  test("S-TTL-14: is flushed after an ACK if it is sent TTLs, for the next heartbeat", () => {
    world.put(e("a", "1", 3_000), c("c", "1"));
    const settled = (features: readonly string[], type = ENDPOINTS): unknown => {
      const stream = world.open(undefined, features);
      requestOn(stream, type);
      stream.flush();
      ack(stream, type, "1");
      return [stream.tellsTtls, stream.isSettled];
    };
    const knowsTtls = ["xds.config.supports-resource-ttl"];
    expect([settled([]), settled(knowsTtls), settled(knowsTtls, CLUSTER)]).toEqual([
      [false, true],
      [true, false],
      [true, true],
    ]);
  });
});

describe("S-TTL-09: a heartbeat", () => {
  test("is sent in the flush after it is due, of a type that the client is sent TTLs of", () => {
    world.put(e("a", "1", 3_000));
    const stream = world.open(undefined, ["xds.config.supports-resource-ttl"]);
    const silent = world.open();
    for (const one of [stream, silent]) requestOn(one, ENDPOINTS);
    expect([stream, silent].map((one) => [one.expectBeat(ENDPOINTS), one.expectBeat(CLUSTER)])).toEqual([
      [true, false],
      [false, false],
    ]);
    const heartbeats = (): readonly string[] =>
      stream.flush().effects.flatMap((effect) => (effect.kind === "report" ? [effect.report.kind] : []));
    expect(heartbeats()).toEqual(["response-sent"]);
    expect([...stream.needsBeats()]).toEqual([{ type: ENDPOINTS, ms: 1_000 }]);
    expect([stream.expectBeat(ENDPOINTS), stream.isSettled, heartbeats(), stream.isSettled]).toEqual([
      ...[true, false, ["heartbeat-sent"], true],
    ]);
    expect(heartbeats()).toEqual([]);
  });

  test("S-TTL-16: that is NACKed makes its resources resent in full, once", () => {
    world.put(e("a", "1", 3_000), e("b", "1", 3_000));
    const stream = world.open(undefined, ["xds.config.supports-resource-ttl"]);
    requestOn(stream, ENDPOINTS, { subscribe: ["a", "b"] });
    stream.flush();
    ack(stream, ENDPOINTS, "1");
    for (const _ of [1, 2]) {
      stream.expectBeat(ENDPOINTS);
      stream.flush();
    }
    requestOn(stream, ENDPOINTS, { nonce: "2", error: no });
    expect([said(stream.flush()), said(stream.flush())]).toEqual([["3 a,b"], []]);
  });
});

describe("how far a client is", () => {
  test("is how far it is with the type that it is furthest behind in", () => {
    world.put(e("a", "1"), c("c", "1"));
    const stream = world.open();
    const progress = (): unknown => [stream.reached, stream.standing(1), stream.behind(1).map(({ state }) => state)];
    expect(progress()).toEqual([Number.POSITIVE_INFINITY, "deployed", []]);
    requestOn(stream, CLUSTER);
    requestOn(stream, ENDPOINTS, { subscribe: ["a"] });
    expect(progress()).toEqual([-1, "pending", ["not-sent", "not-sent"]]);
    stream.flush();
    expect(progress()).toEqual([-1, "pending", ["pending", "pending"]]);
    requestOn(stream, CLUSTER, { nonce: "1", error: no });
    expect(progress()).toEqual([-1, "pending", ["nacked", "pending"]]);
    ack(stream, ENDPOINTS, "2");
    expect(progress()).toEqual([-1, "nacked", ["nacked"]]);
    world.put(c("c", "2"));
    stream.unsettle();
    stream.flush();
    ack(stream, CLUSTER, "3");
    stream.flush();
    expect(progress()).toEqual([Number.POSITIVE_INFINITY, "deployed", []]);
  });
});
