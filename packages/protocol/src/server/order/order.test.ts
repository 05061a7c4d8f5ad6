import { describe, expect, test } from "vitest";
import { delta } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  EXTENSION,
  LISTENER,
  plain,
  ROUTE,
  resource,
} from "../../../test/support/resources.ts";
import { toldAtOnce, typeStream } from "../../../test/support/type-streams.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { Delivery } from "../ack/delivery.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { everythingRemovable } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { ClusterSources } from "./cluster-sources.ts";
import { Order } from "./order.ts";
import type { OrderedStream } from "./order-members.ts";

const no = { code: 3, message: "no" };
const ofClusters = { areClusters: true };
const everything = {
  ...{ removable: () => everythingRemovable, heldBack: nothingHeldBack },
  absences: toldAtOnce,
};

const using = (type: TypeUrl, name: string, label: string, uses: TypeUrl, ...names: readonly string[]): Resource =>
  resource(type, name, label, { references: names.map((one) => ({ type: uses, name: one })) });

/** One client with an order, on one stream or on one for each type. Every delta response is sent and ACKed by hand. */
class Client {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly stream: OrderedStream;
  readonly clusterSources = new ClusterSources({ listsNews: false });
  readonly order: Order;
  hasElsewhere = false;
  #revision = 0;
  #lastNonce = 0;

  constructor({ isAggregated = true }: { readonly isAggregated?: boolean } = {}) {
    this.stream = { current: this.current, isAggregated, asksForAllClusters: true };
    this.order = this.another();
  }

  /** The order of another connection. */
  another(): Order {
    return new Order({
      areAwaited: (type) => type === LISTENER || type === ROUTE,
      isCluster: (type) => type === CLUSTER,
      hasClustersElsewhere: () => this.hasElsewhere,
      clusterSource: this.clusterSources.sourceOf("n", this.stream.isAggregated),
    });
  }

  get isElsewhere(): boolean {
    return this.clusterSources.sourceOf("n", false).isElsewhere;
  }

  put(...puts: readonly Resource[]): number {
    this.base.put(++this.#revision, ...puts);
    this.responses.advance(this.#revision, undefined);
    return this.#revision;
  }

  drop(...names: readonly string[]): number {
    this.base.delete(++this.#revision, ...names);
    this.responses.advance(this.#revision, undefined);
    return this.#revision;
  }

  join(type: TypeUrl, ...names: readonly string[]): TypeStream {
    const one = typeStream(type, names);
    this.order.join(one, this.stream);
    return one;
  }

  /** Subscribes to a type, which is sent and ACKed. */
  has(type: TypeUrl, ...names: readonly string[]): TypeStream {
    const one = this.join(type, ...names);
    this.accept(one, this.send(one));
    return one;
  }

  /** Sends what there is of a type. `isUse`: the client held something before. */
  send(type: TypeStream, isUse = false): Delivery {
    const before = type.position?.revision;
    const [answer] = type.next(this.current, everything);
    if (answer === undefined) throw new Error("nothing to send");
    const delivery: Delivery = {
      ...{ nonce: String(++this.#lastNonce), body: answer.body, revision: this.#revision, at: this.order.count() },
      ...{ from: before, isInTurn: answer.isInOrder, asked: type.subscription.scope },
    };
    type.deliveries.open(delivery);
    if (isUse) this.order.used(type, delivery, () => false);
    return delivery;
  }

  accept(type: TypeStream, delivery: Delivery): void {
    type.onRequest(delta(type.traits.type, { nonce: delivery.nonce }));
    this.order.accepted(type, this.stream, delivery);
  }

  refuse(type: TypeStream, delivery: Delivery): void {
    type.onRequest(delta(type.traits.type, { nonce: delivery.nonce, error: no }));
  }

  /** What a type waits for, and which of its names. */
  waits(type: TypeStream): unknown {
    const waits = this.order.waitsOf(type, this.current);
    return waits && [waits.first, [...waits.names.keys()], waits.maySpeak];
  }
}

describe("S-ORD-06: a client that may subscribe to Clusters soon", () => {
  test("is one whose stream of all Clusters closed, and not one that closed another", () => {
    const after = (type: TypeUrl, ...names: readonly string[]): unknown => {
      const client = new Client({ isAggregated: false });
      client.order.leave(client.join(type, ...names));
      return client.order.awaitsClusters;
    };
    expect([after(CLUSTER), after(CLUSTER, "a"), after(LISTENER), after(ROUTE, "r")]).toEqual([
      ...["came-back", undefined, undefined, undefined],
    ]);
  });

  test("has reconnected, unless it gets them elsewhere or does not subscribe to all of them", () => {
    const client = new Client();
    expect([client.order.isReturning, client.order.awaitsClusters, client.order.awaitsReturn]).toEqual([
      false,
      undefined,
      false,
    ]);
    client.order.returns(false);
    expect([client.order.isReturning, client.order.awaitsClusters]).toEqual([true, undefined]);
    client.order.returns(true);
    expect([client.order.awaitsClusters, client.order.awaitsReturn]).toEqual(["came-back", true]);
    client.hasElsewhere = true;
    expect(client.order.awaitsClusters).toBeUndefined();
    client.hasElsewhere = false;
    client.order.endReturn();
    expect([client.order.isReturning, client.order.awaitsReturn, client.order.awaitsClusters]).toEqual([
      false,
      false,
      "came-back",
    ]);
    client.join(CLUSTER);
    expect([client.order.hasClusters, client.order.awaitsClusters]).toEqual([true, undefined]);
  });

  test("S-ORD-06 uses the newest Listeners, whatever it has of other types: routes that none names do not come back", () => {
    const client = new Client({ isAggregated: false });
    client.put(plain("a"), using(LISTENER, "l", "1", ROUTE, "r"), using(ROUTE, "r", "1", CLUSTER, "a"));
    client.has(CLUSTER);
    const listeners = client.has(LISTENER);
    client.order.leave(client.has(ROUTE, "r"));
    client.join(EXTENSION, "e");
    client.put(using(LISTENER, "l", "2", ROUTE));
    const sent = client.send(listeners);
    expect(client.order.awaitsReturn).toBe(true);
    client.accept(listeners, sent);
    expect(client.order.awaitsReturn).toBe(false);
  });

  test("has reconnected if it asks for endpoints first and lists some, or asked for Clusters here before", () => {
    const met = (holdsSome: boolean, what: "known" | "elsewhere" | "new", asksForAll = true): unknown => {
      const client = new Client({ isAggregated: false });
      if (what === "known") client.order.leave(client.join(CLUSTER));
      if (what === "elsewhere") client.order.stopAwaitingClusters();
      const order = client.another();
      order.meetsEndpoints(asksForAll, holdsSome);
      return [order.isReturning, order.awaitsClusters];
    };
    const [returning, nothing] = [
      [true, "came-back"],
      [false, undefined],
    ];
    expect([met(true, "new"), met(false, "known"), met(false, "new"), met(true, "elsewhere")]).toEqual([
      ...[returning, returning, nothing, nothing],
    ]);
    expect(met(true, "new", false)).toEqual(nothing);
    const client = new Client({ isAggregated: false });
    client.join(CLUSTER);
    client.order.meetsEndpoints(true, true);
    expect(client.order.isReturning).toBe(false);
  });

  test("is not told what is absent of what Clusters refer to before it asked for them", () => {
    const toldTo = (isAggregated: boolean, ...joined: readonly TypeUrl[]): unknown => {
      const client = new Client({ isAggregated });
      client.order.returns(true);
      for (const type of joined) client.has(type);
      return [ENDPOINTS, ROUTE].map((type) => client.order.absencesOf(client.join(type, "x")).to);
    };
    expect([toldTo(false), toldTo(true), toldTo(false, CLUSTER)]).toEqual([
      [undefined, Infinity],
      [undefined, Infinity],
      [0, Infinity],
    ]);
  });

  test("is not told before it asked for them, on one stream or more, what is absent that the newest ones refer to", () => {
    const isUnmet = (isAggregated: boolean, ...joined: readonly TypeUrl[]): unknown => {
      const client = new Client({ isAggregated });
      client.order.returns(true);
      client.order.endReturn();
      for (const type of joined) client.has(type);
      return [ENDPOINTS, ROUTE].map((type) => client.order.absencesOf(client.join(type, "x")).isUnmet("x"));
    };
    expect([isUnmet(true), isUnmet(false), isUnmet(true, CLUSTER)]).toEqual([
      [true, false],
      [false, false],
      [false, false],
    ]);
  });

  test("subscribed to something that it can only know from a Listener or a Cluster, and to neither of them", () => {
    const met = (asksForAll: boolean, ...types: readonly TypeUrl[]): unknown => {
      const client = new Client();
      for (const type of types) client.join(type);
      client.order.meetsUnannounced(asksForAll);
      return client.order.awaitsClusters;
    };
    expect([met(true), met(false), met(true, LISTENER), met(true, ROUTE), met(true, EXTENSION)]).toEqual([
      "unannounced",
      undefined,
      undefined,
      "unannounced",
      "unannounced",
    ]);
    const client = new Client();
    client.order.returns(true);
    client.order.meetsUnannounced(true);
    expect(client.order.awaitsClusters).toBe("came-back");
  });

  test("may do so all the same on an aggregated stream if its node is known to have them elsewhere", () => {
    const client = new Client();
    client.order.returns(true);
    client.order.stopAwaitingClusters();
    expect([client.order.awaitsClusters, client.isElsewhere]).toEqual([undefined, true]);
    const met = (meet: (order: Order) => void): unknown => {
      const order = client.another();
      meet(order);
      return order.awaitsClusters;
    };
    expect([met((order) => order.returns(true)), met((order) => order.meetsUnannounced(true))]).toEqual([
      ...["unannounced", "unannounced"],
    ]);
  });

  test("does not any more once its time is over; on per-type streams its node is known to have them elsewhere", () => {
    const client = new Client({ isAggregated: false });
    client.order.returns(true);
    client.order.stopAwaitingClusters();
    expect([client.order.awaitsClusters, client.isElsewhere]).toEqual([undefined, true]);
    client.order.returns(true);
    client.order.meetsUnannounced(true);
    expect([client.order.awaitsClusters, client.order.isReturning]).toEqual([undefined, true]);
    client.join(CLUSTER);
    expect(client.isElsewhere).toBe(false);
  });

  test("lost its stream of Clusters, if that was a wildcard and nothing else has them", () => {
    const left = (...names: readonly string[]): unknown => {
      const client = new Client({ isAggregated: false });
      const [clusters, others] = [client.join(CLUSTER, ...names), client.join(CLUSTER, ...names)];
      client.order.leave(clusters);
      const between = client.order.awaitsClusters;
      client.order.leave(others);
      return [between, client.order.awaitsClusters, client.order.hasClusters];
    };
    expect([left(), left("a")]).toEqual([
      [undefined, "came-back", false],
      [undefined, undefined, false],
    ]);
  });

  test("has them elsewhere if it ACKed a user of Clusters without them, and is neither back nor awaited", () => {
    const accepted = (type: TypeUrl, prepare: (client: Client) => void = () => undefined): boolean => {
      const client = new Client({ isAggregated: false });
      client.put(resource(type, "x", "1", { references: [] }));
      prepare(client);
      client.has(type, "x");
      return client.isElsewhere;
    };
    expect([
      accepted(ROUTE),
      accepted(ENDPOINTS),
      accepted(ROUTE, ({ order }) => order.returns(false)),
      accepted(ROUTE, ({ order }) => order.meetsUnannounced(true)),
      accepted(ROUTE, (client) => client.join(CLUSTER)),
      accepted(ROUTE, (client) => Object.assign(client.stream, { asksForAllClusters: false })),
    ]).toEqual([true, false, false, false, false, false]);
  });

  test("holds back users of the Clusters that exist, until then", () => {
    const client = new Client();
    client.put(plain("a"), using(ROUTE, "r", "1", CLUSTER, "a"), using(ROUTE, "s", "1", CLUSTER, "none"));
    const routes = client.join(ROUTE, "r", "s");
    expect(client.waits(routes)).toBeUndefined();
    client.order.returns(true);
    expect(client.waits(routes)).toEqual([{ for: "cluster", name: "a" }, ["r"], false]);
    client.order.stopAwaitingClusters();
    expect(client.waits(routes)).toBeUndefined();
  });
});

describe("S-ORD-05: a deleted Cluster may be removed", () => {
  test("at once if nothing is subscribed to that may use it, but not while the client is expected back", () => {
    const client = new Client();
    client.put(plain("a"));
    client.has(CLUSTER);
    const revision = client.drop("a");
    expect([client.order.hasUsers, client.order.removable(revision, ofClusters)]).toEqual([
      false,
      { to: revision, namedTo: revision, goesAtOnce: undefined },
    ]);
    expect(client.order.removalWaitOf(revision, ofClusters)).toBeUndefined();
    client.order.returns(true);
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [-1, { for: "return" }],
    );
  });

  test("once its users are sent without it and ACKed, or their wait timed out", () => {
    const client = new Client();
    client.put(plain("a"), using(ROUTE, "r", "1", CLUSTER, "a"));
    client.has(CLUSTER);
    const routes = client.has(ROUTE, "r");
    client.put(using(ROUTE, "r", "2", CLUSTER));
    const revision = client.drop("a");
    const wait = { for: "users", type: ROUTE, isNacked: false };
    expect([
      client.order.hasUsers,
      client.order.removable(revision, ofClusters).to,
      client.order.removalWaitOf(revision, ofClusters),
    ]).toEqual([true, 1, wait]);
    const sent = client.send(routes);
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [1, wait],
    );
    client.accept(routes, sent);
    expect([client.order.removable(revision, ofClusters), client.order.removalWaitOf(revision, ofClusters)]).toEqual([
      { to: revision, namedTo: -1, goesAtOnce: undefined },
      undefined,
    ]);
    client.order.overruleRemovals(2);
    client.order.overruleRemovals(1);
    expect(client.order.removable(revision, ofClusters)).toEqual({ to: revision, namedTo: 2, goesAtOnce: undefined });
  });

  test("despite users without an ACK once the wait timed out, but not if they were NACKed", () => {
    const client = new Client();
    client.put(plain("a"), using(ROUTE, "r", "1", CLUSTER, "a"));
    client.has(CLUSTER);
    const routes = client.has(ROUTE, "r");
    client.put(using(ROUTE, "r", "2", CLUSTER));
    const revision = client.drop("a");
    const sent = client.send(routes);
    client.order.overruleRemovals(revision);
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [revision, undefined],
    );
    client.refuse(routes, sent);
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [1, { for: "users", type: ROUTE, isNacked: true }],
    );
  });

  test("once what its users reference in turn is there too: routes that a Listener brought", () => {
    const client = new Client();
    client.put(plain("a"), using(LISTENER, "l", "1", ROUTE, "r"), using(ROUTE, "r", "1", CLUSTER, "a"));
    client.has(CLUSTER);
    const listeners = client.has(LISTENER);
    const routes = client.has(ROUTE, "r");
    client.put(using(LISTENER, "l", "2", ROUTE, "s"), using(ROUTE, "s", "1", CLUSTER));
    client.accept(listeners, client.send(listeners, true));
    const revision = client.drop("a");
    const wait = { for: "users", type: ROUTE, isNacked: false };
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [1, wait],
    );
    routes.onRequest(delta(ROUTE, { subscribe: ["s"], unsubscribe: ["r"] }));
    expect(client.order.removable(revision, ofClusters).to).toBe(1);
    const sent = client.send(routes);
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [1, wait],
    );
    client.accept(routes, sent);
    expect([client.order.removable(revision, ofClusters).to, client.order.removalWaitOf(revision, ofClusters)]).toEqual(
      [revision, undefined],
    );
  });

  test("at once if it is a new one that the client cannot use yet", () => {
    const client = new Client();
    const clusters = client.has(CLUSTER);
    client.put(plain("a"), plain("b"));
    client.join(ROUTE, "r");
    const sent = client.send(clusters);
    client.order.brought(clusters, sent, ({ name }) => (name === "a" ? "new" : undefined));
    const goesAtOnce = (): unknown =>
      ["a", "b"].map((name) => client.order.removable(9, ofClusters).goesAtOnce?.(name));
    expect(goesAtOnce()).toEqual([true, false]);
    client.order.sentClusters(clusters, {
      ...sent,
      body: { ...sent.body, segments: [{ puts: [], removed: ["a"], missing: [] }] },
    });
    expect(goesAtOnce()).toEqual([undefined, undefined]);
  });
});

describe("S-ORD-02: a user of a Cluster waits", () => {
  /** A client with a route that newly uses Cluster b, which was put with it. */
  function changed(): { readonly client: Client; readonly clusters: TypeStream; readonly routes: TypeStream } {
    const client = new Client();
    client.put(plain("a"), using(ROUTE, "r", "1", CLUSTER, "a"), using(ROUTE, "s", "1", CLUSTER, "a"));
    const [clusters, routes] = [client.has(CLUSTER), client.has(ROUTE, "r", "s")];
    client.put(plain("b"), using(ROUTE, "r", "2", CLUSTER, "b"), using(ROUTE, "s", "2", CLUSTER, "a"));
    return { client, clusters, routes };
  }

  test("until the Cluster was sent and ACKed, while others are sent", () => {
    const { client, clusters, routes } = changed();
    const wait = [{ for: "cluster", name: "b" }, ["r"], true];
    expect([client.waits(routes), client.waits(clusters)]).toEqual([wait, undefined]);
    const sent = client.send(clusters);
    client.order.brought(clusters, sent, ({ name }) => (name === "b" ? "new" : undefined));
    expect(client.waits(routes)).toEqual(wait);
    client.accept(clusters, sent);
    expect(client.waits(routes)).toBeUndefined();
    client.send(routes);
    expect(client.waits(routes)).toBeUndefined();
  });

  test("no longer once the wait timed out, or the client unsubscribed from Clusters", () => {
    const { client, clusters, routes } = changed();
    client.waits(routes);
    expect([client.order.overruleUser(routes, 1, client.current), client.waits(routes) === undefined]).toEqual([
      false,
      false,
    ]);
    expect([client.order.overruleUser(routes, 2, client.current), client.waits(routes)]).toEqual([true, undefined]);
    expect(client.waits(routes)).not.toBeUndefined();
    client.order.leave(clusters);
    expect(client.waits(routes)).toEqual([{ for: "cluster", name: "b" }, ["r", "s"], true]);
  });

  test("for a set of Clusters that the client holds in part, for all of them", () => {
    const { client, clusters, routes } = changed();
    client.order.broughtUnknown(client.send(clusters));
    expect(client.waits(routes)).toEqual([{ for: "cluster", name: "b" }, ["r", "s"], true]);
    client.order.countGiven();
    expect(client.waits(routes)).toBeUndefined();
  });

  test("for nothing if its type uses no Clusters, or nothing of it changed", () => {
    const { client } = changed();
    const [extensions, endpoints] = [client.join(EXTENSION, "x"), client.join(ENDPOINTS, "b")];
    expect([client.waits(extensions), client.waits(endpoints)]).toEqual([undefined, undefined]);
  });
});

describe("the first responses to a reconnected client", () => {
  test("count as changes of what it holds until it was sent its Clusters", () => {
    const client = new Client();
    client.put(plain("a"));
    expect(client.order.isTakenUp).toBe(false);
    client.order.returns(true);
    expect(client.order.isTakenUp).toBe(true);
    const clusters = client.join(CLUSTER);
    expect(client.order.isTakenUp).toBe(true);
    client.accept(clusters, client.send(clusters));
    expect(client.order.isTakenUp).toBe(false);
  });
});

test("answers are numbered over all streams of the order", () => {
  const { order } = new Client();
  expect([order.count(), order.count(), order.count()]).toEqual([1, 2, 3]);
});
