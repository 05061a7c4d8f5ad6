import { beforeEach, describe, expect, test, vi } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  LISTENER,
  plain,
  ROUTE,
  resource,
  traits,
} from "../../../test/support/resources.ts";
import { answer, newTypeStream, typeStream } from "../../../test/support/type-streams.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { noPendingRemovals, PendingRemovals } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";
import { ClusterSources } from "./cluster-sources.ts";
import { DeferredRemovals } from "./deferred-removals.ts";
import { Order } from "./order.ts";
import { type StateBeforeSend, StreamOrder } from "./stream-order.ts";

const dialect = dialectFor(node("n"));

/** The order of one client, and a stream of it. */
class Client {
  readonly base = new WrittenLayer("base", [plain("old")]);
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly order = new Order({
    areAwaited: (type) => type === LISTENER || type === ROUTE,
    isCluster: (type) => type === CLUSTER,
    hasClustersElsewhere: () => false,
    clusterSource: new ClusterSources({ listsNews: false }).sourceOf("n", true),
  });
  readonly clusters: TypeStream = new DeferredRemovals("delta", newTypeStream(CLUSTER));
  readonly routes: TypeStream = typeStream(ROUTE);
  readonly listeners: TypeStream = typeStream(LISTENER);

  constructor() {
    this.responses.advance(1, undefined);
  }

  join(...types: readonly TypeStream[]): this {
    for (const type of types)
      this.order.join(type, { current: this.current, isAggregated: true, asksForAllClusters: true });
    return this;
  }

  on(onlyType: TypeUrl | undefined, what: Partial<Dialect> = {}): StreamOrder {
    return new StreamOrder(this.order, { variant: "delta", onlyType }, { ...dialect, ...what });
  }

  get before(): StateBeforeSend {
    return {
      position: { view: this.current.view, revision: 1 },
      pendingRemovals: noPendingRemovals,
      wasHeldBack: new Map(),
    };
  }
}

let client: Client;

beforeEach(() => {
  client = new Client();
});

const versions = [["x", "1"]] as const;
const initialVersions = { size: 1, key: undefined, [Symbol.iterator]: () => versions.values() };

describe("S-REC-09: the first request of a type", () => {
  const met = (request: DiscoveryRequest, what: Partial<Dialect> = {}): unknown => {
    const { order, ...rest } = new Client();
    const stream = new StreamOrder(order, { variant: request.kind, onlyType: undefined }, { ...dialect, ...what });
    const { type = CLUSTER } = request;
    stream.meet(request, traits(type) ?? opaqueTraits(type));
    return [order.isReturning, order.awaitsClusters, rest.routes.position].slice(0, 2);
  };
  const [returning, unannounced, nothing] = [
    [true, "came-back"],
    [false, "unannounced"],
    [false, undefined],
  ];

  test("with versions is that of a client that returns, if the type has to do with Clusters", () => {
    const types = [CLUSTER, ROUTE, LISTENER, ENDPOINTS];
    expect(types.map((type) => met(delta(type, { initialVersions })))).toEqual([
      ...[returning, returning, returning, returning],
    ]);
    expect(types.map((type) => met(sotw(type, { versionInfo: "1" })))).toEqual([
      ...[returning, returning, returning, nothing],
    ]);
  });

  test("without versions may be that of one too, in delta, for what Listeners announce", () => {
    const types = [ROUTE, LISTENER, ENDPOINTS];
    expect(types.map((type) => met(delta(type, {})))).toEqual([unannounced, nothing, nothing]);
    expect([CLUSTER, ...types].map((type) => met(sotw(type, {})))).toEqual(Array(4).fill(nothing));
  });

  test("of endpoints, in delta or on a stream of its own, is that of a client that returns if it lists versions", () => {
    const onItsOwn = (request: DiscoveryRequest): boolean => {
      const { order } = new Client();
      const stream = new StreamOrder(order, { variant: request.kind, onlyType: ENDPOINTS }, dialect);
      stream.meet(request, traits(ENDPOINTS) ?? opaqueTraits(ENDPOINTS));
      return order.isReturning;
    };
    expect([
      onItsOwn(delta(ENDPOINTS, { initialVersions })),
      onItsOwn(delta(ENDPOINTS, {})),
      onItsOwn(sotw(ENDPOINTS, { versionInfo: "1" })),
      onItsOwn(sotw(ENDPOINTS, {})),
    ]).toEqual([true, false, true, false]);
  });

  test("of endpoints, in delta on an aggregated stream, says which of them a client that returns lacks", () => {
    const lacked = (onlyType: TypeUrl | undefined, what: Partial<Parameters<typeof delta>[1]>): unknown => {
      const { order } = new Client();
      const lacks = vi.spyOn(order, "lacksEndpoints");
      const stream = new StreamOrder(order, { variant: "delta", onlyType }, dialect);
      stream.meet(delta(ENDPOINTS, { subscribe: ["x", "y"], ...what }), traits(ENDPOINTS) ?? opaqueTraits(ENDPOINTS));
      return lacks.mock.calls;
    };
    expect([
      lacked(undefined, { initialVersions }),
      lacked(ENDPOINTS, { initialVersions }),
      lacked(undefined, {}),
    ]).toEqual([[[ENDPOINTS, new Set(["y"])]], [], []]);
  });

  test("does not say that all Clusters will be asked for where clients name them", () => {
    const wildcardTypes = { otherwise: false } as const;
    expect([
      met(delta(ROUTE, { initialVersions }), { wildcardTypes }),
      met(delta(ROUTE, {}), { wildcardTypes }),
    ]).toEqual([[true, undefined], nothing]);
  });

  test("means nothing where Clusters take no part in make-before-break", () => {
    const off = { makeBeforeBreak: { otherwise: true, cds: false } };
    expect(met(delta(ROUTE, { initialVersions }), off)).toEqual(nothing);
    const only = { makeBeforeBreak: { otherwise: false, cds: true } };
    expect(met(delta(ROUTE, { initialVersions }), only)).toEqual(returning);
    const takesPart = (makeBeforeBreak: Dialect["makeBeforeBreak"]): readonly boolean[] =>
      (["cds", "rds", "lds"] as const).map((kind) => client.on(undefined, { makeBeforeBreak }).takesPart(kind));
    expect([
      takesPart({ otherwise: true }),
      takesPart(off.makeBeforeBreak),
      takesPart({ otherwise: true, rds: false }),
    ]).toEqual([
      [true, true, true],
      [false, false, false],
      [true, false, true],
    ]);
  });
});

describe("S-ORD-05: a response with users of Clusters", () => {
  const naming = resource(LISTENER, "l", "1", { references: [{ type: ROUTE, name: "r" }] });
  const respond = (what: Partial<StateBeforeSend>, type = client.listeners): unknown => {
    const delivery = answer(type.traits.type, 1, [naming]);
    const { body } = delivery;
    const before = { ...client.before, ...what };
    const isUnprotected = client
      .on(undefined)
      .sent(type, delivery, { body, isInOrder: true, news: [] }, before, client.current);
    return [isUnprotected, client.order.isAtRest];
  };

  test("is followed until its client can use it, if it changes what the client holds", () => {
    client.join(client.clusters, client.listeners);
    expect(respond({ position: undefined })).toEqual([false, true]);
    expect(respond({}, typeStream(ENDPOINTS))).toEqual([false, true]);
    expect(respond({})).toEqual([false, false]);
  });

  test("changes what a returning client holds, though it was sent nothing here", () => {
    client.join(client.clusters, client.listeners).order.returns(true);
    expect(respond({ position: undefined })).toEqual([false, false]);
  });
});

describe("S-ORD-06: a response with Clusters", () => {
  const fresh = [plain("new"), plain("old"), plain("back")];
  const respond = (what: Partial<PendingResponse> = {}, onlyType?: TypeUrl, before = client.before): unknown => {
    client.base.put(2, ...fresh);
    client.responses.advance(2, undefined);
    const delivery = answer(CLUSTER, 2, fresh);
    const { body } = delivery;
    const sent = client
      .on(onlyType)
      .sent(client.clusters, delivery, { body, isInOrder: true, news: [], ...what }, before, client.current);
    const { goesAtOnce } = client.order.removable(2, { areClusters: true });
    return [sent, fresh.map(({ name }) => name).filter((name) => goesAtOnce?.(name) === true)];
  };

  test("brings those that the client did not hold, where it may hold users of others", () => {
    client.join(client.clusters, client.routes);
    expect(respond()).toEqual([false, ["new", "back"]]);
  });

  test("brings none to a client that was sent nothing, or that has no users", () => {
    client.join(client.clusters, client.routes);
    expect(respond({}, undefined, { ...client.before, position: undefined })).toEqual([false, []]);
    client = new Client().join(client.clusters);
    respond();
    client.join(client.routes);
    expect(client.order.removable(2, { areClusters: true }).goesAtOnce).toBe(undefined);
  });

  test("brings in doubt what a client that reconnected holds in another state", () => {
    const awaited = (what: Partial<PendingResponse>, onlyType?: TypeUrl, isReturning = false): readonly string[] => {
      client = new Client();
      client.join(client.clusters, client.routes);
      client.base.put(1, plain("old", "0"));
      if (isReturning) client.order.returns(true);
      const brought = vi.spyOn(client.order, "brought");
      const position = isReturning ? client.before.position : undefined;
      respond(what, onlyType, { ...client.before, position });
      const [, , newsOf] = brought.mock.calls[0] ?? [];
      return ["new", "old", "back"].map((name) => `${name} ${newsOf?.(plain(name)) ?? "in use"}`);
    };
    const newToClient = new Set(["new"]);
    expect([
      awaited({ newToClient }),
      awaited({ newToClient, changedForClient: new Set(["old"]) }),
      awaited({ newToClient }, CLUSTER),
      awaited({}, undefined, true),
    ]).toEqual([
      ["new new", "old changed", "back changed"],
      ["new new", "old changed", "back in use"],
      ["new new", "old changed", "back changed"],
      ["new new", "old changed", "back new"],
    ]);
  });

  test("brings what the answer says is new, but not what was to be removed", () => {
    client.join(client.clusters, client.routes);
    const pendingRemovals = new PendingRemovals(new Map([["back", { since: 1 }]]));
    expect(respond({}, undefined, { ...client.before, pendingRemovals })).toEqual([false, ["new"]]);
    client = new Client().join(client.clusters, client.routes);
    const answered = { ...client.before, position: undefined };
    expect(respond({ newToClient: new Set(["old"]) }, undefined, answered)).toEqual([false, ["old"]]);
    expect(respond({ newToClient: new Set<string>() }, undefined, answered)).toEqual([false, ["old"]]);
  });

  test("leaves a client unprotected if what it holds is unknown", () => {
    client.join(client.clusters, client.routes);
    expect([respond({ newToClient: "unknown" }), respond({ newToClient: "unknown" }, CLUSTER)]).toEqual([
      [true, []],
      [true, []],
    ]);
  });
});
