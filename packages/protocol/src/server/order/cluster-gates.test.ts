import { formatTypeUrl } from "@xdskit/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { delta } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, plain, ROUTE, resource } from "../../../test/support/resources.ts";
import { answer, toldAtOnce, typeStream } from "../../../test/support/type-streams.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { everythingRemovable, PendingRemovals } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { BlockedDependents } from "./blocked-dependents.ts";
import { ClusterGates } from "./cluster-gates.ts";
import { OrderMembers } from "./order-members.ts";
import { keyOf } from "./pinned-targets.ts";
import { WarmingClusters } from "./warming-clusters.ts";

/** No Cluster needs anything beside endpoints. */
const needsNothing = { areLacking: () => false };

const SECRET: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const everything = {
  ...{ removable: () => everythingRemovable, heldBack: nothingHeldBack },
  absences: toldAtOnce,
};

const withEndpoints = (name: string): Resource => resource(CLUSTER, name, "1");
const withSecret = (name: string): Resource =>
  resource(CLUSTER, name, "1", { references: [{ type: SECRET, name: `${name} secret` }] });
const route = (...names: readonly string[]): Resource =>
  resource(ROUTE, "r", names.join(), { references: names.map((name) => ({ type: CLUSTER, name })) });

/** A client with the gates of its Clusters; nothing is in flight. */
class Client {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly members = new OrderMembers();
  readonly warming = new WarmingClusters(needsNothing);
  readonly unready = new BlockedDependents((type) => type === ROUTE);
  readonly gates = new ClusterGates({
    members: this.members,
    warmingClusters: this.warming,
    unready: this.unready,
  });
  #revision = 0;

  put(...puts: readonly Resource[]): void {
    this.base.put(++this.#revision, ...puts);
    this.responses.advance(this.#revision, undefined);
  }

  drop(...names: readonly string[]): void {
    this.base.delete(++this.#revision, ...names);
    this.responses.advance(this.#revision, undefined);
  }

  join(type: TypeUrl, names: readonly string[] = [], isAggregated = true): TypeStream {
    const traits = type === SECRET ? ({ type, kind: "sds" } as const) : {};
    const one = typeStream(type === SECRET ? ENDPOINTS : type, names, traits);
    this.members.join(one, { current: this.current, isAggregated, asksForAllClusters: true });
    return one;
  }

  /** Sends all there is of a type, and waits for no ACK. */
  has(type: TypeUrl, names: readonly string[] = [], isAggregated = true): TypeStream {
    const one = this.join(type, names, isAggregated);
    one.next(this.current, everything);
    return one;
  }

  /** What a resource waits for that replaces another one; undefined in place of that: it is new. */
  wait(user: TypeStream, now: Resource, replaces?: Resource, isReturning = false): unknown {
    const waitOf = this.gates.waitOf(user, this.current, isReturning);
    const wait = waitOf?.({ resource: now, replaces });
    return waitOf === undefined ? "nothing waits" : wait && ("name" in wait ? `${wait.for} ${wait.name}` : wait.for);
  }
}

let client: Client;

beforeEach(() => {
  client = new Client();
});

describe("S-ORD-02: a resource that uses a Cluster waits", () => {
  test("until the client was sent the Cluster, if that exists and is subscribed to", () => {
    client.put(plain("a"), plain("b"));
    const user = client.join(ROUTE, ["r"]);
    client.join(CLUSTER, ["a"]);
    expect([
      client.wait(user, route("a")),
      client.wait(user, route("b")),
      client.wait(user, route("none")),
      client.wait(user, route("b", "a")),
      client.wait(user, resource(ROUTE, "r", "x", { references: [{ type: ENDPOINTS, name: "a" }] })),
    ]).toEqual(["cluster a", undefined, undefined, "cluster a", undefined]);
  });

  test("for no Cluster that the client has, but for a new one, whether or not it was used before", () => {
    client.put(plain("a"), plain("gone"));
    const [user] = [client.has(ROUTE, ["r"]), client.has(CLUSTER)];
    client.put(plain("b"), plain("a", "2"), route("a"));
    expect([
      client.wait(user, route("a", "b"), route("a")),
      client.wait(user, route("a", "b"), route("b")),
      client.wait(user, route("a"), route()),
      client.wait(user, route("a")),
    ]).toEqual(["cluster b", "cluster b", undefined, undefined]);
  });

  test("not at all while the client has every Cluster and was sent no user", () => {
    client.put(plain("a"), route("a"));
    const user = client.join(ROUTE, ["r"]);
    client.has(CLUSTER);
    expect(client.wait(user, route("a"))).toBe("nothing waits");
    client.unready.send(
      client.join(LISTENER),
      {
        ...answer(LISTENER, 1, [resource(LISTENER, "l", "1", { references: [{ type: ROUTE, name: "r" }] })]),
      },
      () => false,
    );
    expect(client.wait(user, route("a"))).toBeUndefined();
  });

  test("while the Cluster warms, or any may", () => {
    client.put(plain("a"), plain("b"));
    const user = client.has(ROUTE, ["r"]);
    const clusters = client.has(CLUSTER);
    client.warming.bring(clusters, answer(CLUSTER, 1, [plain("a")]), () => "new");
    expect([client.wait(user, route("a")), client.wait(user, route("b"))]).toEqual(["cluster a", undefined]);
    client.warming.clear();
    client.warming.bringUnknown(answer(CLUSTER, 1, [plain("a")]));
    expect([client.wait(user, route("a")), client.wait(user, route("b"))]).toEqual(["cluster a", "cluster b"]);
  });

  test("for the endpoints of a Cluster that it uses anew, where there are none", () => {
    client.put(withEndpoints("a"), plain("b"));
    const user = client.has(ROUTE, ["r"]);
    client.has(CLUSTER);
    expect([
      client.wait(user, route("a"), route("b")),
      client.wait(user, route("a"), route("a")),
      client.wait(user, route("a")),
      client.wait(user, route("b"), route("a")),
    ]).toEqual(["endpoints a", undefined, undefined, undefined]);
    client.put(resource(ENDPOINTS, "a", "1"));
    expect(client.wait(user, route("a"), route("b"))).toBeUndefined();
  });

  test("for a secret of a Cluster that it uses anew, if the client asked for the secret and there is none", () => {
    client.put(withSecret("a"), plain("b"));
    const user = client.has(ROUTE, ["r"]);
    client.has(CLUSTER);
    expect(client.wait(user, route("a"), route("b"))).toBeUndefined();
    client.join(SECRET, ["other"]);
    expect(client.wait(user, route("a"), route("b"))).toBeUndefined();
    client.join(SECRET, ["a secret"]);
    expect([client.wait(user, route("a"), route("b")), client.wait(user, route("a"), route("a"))]).toEqual([
      "secret a",
      undefined,
    ]);
    client.put(resource(SECRET, "a secret", "1"));
    expect(client.wait(user, route("a"), route("b"))).toBeUndefined();
  });

  test("until endpoints that the client asked for are sent, and ACKed on a stream of their own", () => {
    const ready = (isAggregated: boolean, asks: readonly string[]): unknown => {
      const one = new Client();
      one.put(withEndpoints("a"), plain("b"), resource(ENDPOINTS, "a", "1"));
      const user = one.has(ROUTE, ["r"], isAggregated);
      one.has(CLUSTER, [], isAggregated);
      const endpoints = one.join(ENDPOINTS, asks, isAggregated);
      const waits = [one.wait(user, route("a"), route("b"))];
      const [sent] = endpoints.next(one.current, everything);
      if (sent !== undefined) endpoints.deliveries.open({ ...answer(ENDPOINTS, 9, []), body: sent.body });
      waits.push(one.wait(user, route("a"), route("b")));
      endpoints.onRequest(delta(ENDPOINTS, { nonce: "9" }));
      return [...waits, one.wait(user, route("a"), route("b"))];
    };
    expect([ready(true, ["a"]), ready(false, ["a"]), ready(false, []), ready(true, ["x"])]).toEqual([
      ["cluster a", undefined, undefined],
      ["cluster a", "cluster a", undefined],
      ["cluster a", "cluster a", undefined],
      [undefined, undefined, undefined],
    ]);
  });

  test("S-ORD-06: after a reconnect, for endpoints that the client may yet ask for on a stream of their own", () => {
    const returning = (isAggregated: boolean): unknown => {
      const one = new Client();
      one.put(withEndpoints("a"), plain("b"), resource(ENDPOINTS, "a", "1"));
      const user = one.has(ROUTE, ["r"], isAggregated);
      one.has(CLUSTER, [], isAggregated);
      return [one.wait(user, route("a"), undefined, true), one.wait(user, route("b"), undefined, true)];
    };
    expect([returning(false), returning(true)]).toEqual([
      ["cluster a", undefined],
      [undefined, undefined],
    ]);
    client.put(withEndpoints("a"), resource(ENDPOINTS, "a", "1"));
    const user = client.has(ROUTE, ["r"]);
    client.has(CLUSTER);
    client.join(ENDPOINTS, ["a"]);
    expect([client.wait(user, route("a"), undefined, true), client.wait(user, route("a"))]).toEqual([
      "cluster a",
      undefined,
    ]);
  });
});

describe("S-ORD-06: an older state of a resource leads nowhere", () => {
  const nowhere = (target: Resource, replaces?: Resource, dangling: readonly string[] = []): boolean =>
    client.gates.leadsNowhere(
      { resource: target, replaces },
      new Set(dangling.map((name) => keyOf({ type: CLUSTER, name }))),
      client.current,
    );

  test("if something that it uses is deleted by now, unless that was so when its wait began", () => {
    client.put(plain("a"));
    client.has(CLUSTER);
    expect([nowhere(route("a")), nowhere(route("a", "x")), nowhere(route("x"), undefined, ["x"])]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("unless the client used it before and still holds it", () => {
    client.put(plain("a"), plain("b"));
    const clusters = client.has(CLUSTER);
    client.drop("a");
    expect([nowhere(route("a"), route("a")), nowhere(route("a"), route("b")), nowhere(route("a"))]).toEqual([
      false,
      true,
      true,
    ]);
    client.warming.bring(clusters, answer(CLUSTER, 1, [plain("a")]), () => "new");
    expect(nowhere(route("a"), route("a"))).toBe(true);
    client.warming.clear();
    const held = (since: number): void => {
      Object.assign(clusters, { pendingRemovals: new PendingRemovals(new Map([["a", { since }]])) });
    };
    held(2);
    expect(nowhere(route("a"), route("a"))).toBe(false);
    held(Number.NEGATIVE_INFINITY);
    expect(nowhere(route("a"), route("a"))).toBe(true);
  });

  test("if the client was never sent it", () => {
    client.join(CLUSTER);
    expect(nowhere(route("x"), route("x"))).toBe(true);
    client.has(CLUSTER);
    expect(nowhere(route("x"), route("x"))).toBe(true);
  });
});
