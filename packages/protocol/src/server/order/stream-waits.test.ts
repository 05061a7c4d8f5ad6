import { beforeEach, describe, expect, test } from "vitest";
import { delta, node } from "../../../test/support/conversation.ts";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource } from "../../../test/support/resources.ts";
import { streamWith, toldAtOnce, typeStream } from "../../../test/support/type-streams.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { CurrentView } from "../cache/current-view.ts";
import { noPendingRemovals, PendingRemovals } from "../cache/pending-removals.ts";
import type { Wait } from "../contract/wait.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { Order, Waits } from "./order.ts";
import { StreamWaits } from "./stream-waits.ts";

let current: CurrentView;

beforeEach(() => {
  ({ current } = streamWith(true, cluster("a", "1")));
});

const forCluster: Wait = { for: "cluster", name: "c" };
const forUsers: Wait = { for: "users", type: ROUTE, isNacked: false };
const forClusters: Wait = { for: "users", type: CLUSTER, isNacked: false };
const limits: Partial<Dialect> = {
  ...{ ackLimitMs: 1, orderLimitMs: 100, resumeGraceMs: 7, separateResumeGraceMs: 70 },
  withheldAckLimitMs: { otherwise: undefined },
};

/** An order that answers as the test says, and notes what it was told. */
class Ordering {
  readonly waits = new Map<TypeStream, Wait>();
  readonly told: string[] = [];
  awaitsClusters: Order["awaitsClusters"];
  awaitsReturn = false;
  removalWait: Wait | undefined;
  absenceWait: Wait = forClusters;
  isOverruled = true;

  waitsOf(type: TypeStream): Waits | undefined {
    const first = this.waits.get(type);
    return first && { first, names: nothingHeldBack, maySpeak: true };
  }

  removalWaitOf(since: number): Wait | undefined {
    this.told.push(`removal of ${since}`);
    return this.removalWait;
  }

  absenceWaitOf({ untoldAbsences }: TypeStream): Wait | undefined {
    return untoldAbsences.isEmpty ? undefined : this.absenceWait;
  }

  stopAwaitingClusters(): void {
    this.told.push("no Clusters");
  }

  endReturn(): void {
    this.told.push("return ends");
  }

  countGiven(): void {
    this.told.push("given");
  }

  overruleUser(_: TypeStream, since: number): boolean {
    this.told.push(`user since ${since}`);
    return this.isOverruled;
  }

  overruleRemovals(to: number): void {
    this.told.push(`removals to ${to}`);
  }

  overruleAbsences(to: number): void {
    this.told.push(`absences to ${to}`);
  }
}

function waitsWith({
  isAggregated = true,
  dialect = {},
}: {
  isAggregated?: boolean;
  dialect?: Partial<Dialect>;
} = {}): {
  readonly order: Ordering;
  readonly waits: StreamWaits;
} {
  const order = new Ordering();
  return { order, waits: new StreamWaits({ ...dialectFor(node("n")), ...limits, ...dialect }, order, isAggregated) };
}

/** Clusters of a client that still holds some that are deleted, since revision 5; `unreleased`: one by name. */
function clusters(unreleased?: string, since = 5): TypeStream {
  const pendingRemovals = new PendingRemovals(new Map([["gone", { since }]]));
  return Object.assign(typeStream(CLUSTER), { pendingRemovals, deferredRemovals: { areClusters: true, unreleased } });
}

function flush({ waits }: { readonly waits: StreamWaits }, ...types: readonly TypeStream[]): unknown {
  waits.begin();
  for (const type of types) {
    waits.find(type, current);
    waits.findOfRemovals(type);
  }
  return waits.changes(types).map(({ kind, type, wait }) => [kind, type.traits.kind, wait]);
}

describe("S-ORD-06: what waits on a stream", () => {
  test("is reported when it begins and when it ends, each once", () => {
    const client = waitsWith();
    const [routes, listeners] = [typeStream(ROUTE), typeStream(LISTENER)];
    const { order, waits } = client;
    expect([flush(client, routes, listeners), waits.isEmpty, waits.of(routes)]).toEqual([[], true, undefined]);
    order.waits.set(routes, forCluster);
    expect(flush(client, routes, listeners)).toEqual([["wait-began", "rds", forCluster]]);
    expect([waits.isEmpty, waits.of(routes)?.first, waits.of(listeners)]).toEqual([false, forCluster, undefined]);
    order.waits.set(routes, { for: "endpoints", name: "e" });
    order.waits.set(listeners, forCluster);
    expect(flush(client, routes, listeners)).toEqual([["wait-began", "lds", forCluster]]);
    order.waits.clear();
    expect(flush(client, routes, listeners)).toEqual([
      ["wait-ended", "rds", { for: "endpoints", name: "e" }],
      ["wait-ended", "lds", forCluster],
    ]);
    expect([flush(client, routes, listeners), waits.isEmpty]).toEqual([[], true]);
  });

  test("is also the removal of a deleted Cluster, for its users or for the client to unsubscribe", () => {
    const client = waitsWith();
    const { order, waits } = client;
    order.removalWait = forUsers;
    expect([flush(client, typeStream(CLUSTER)), order.told]).toEqual([[], []]);
    expect(flush(client, clusters("gone"))).toEqual([["wait-began", "cds", forUsers]]);
    expect(order.told).toEqual(["removal of 5"]);
    order.removalWait = undefined;
    const named = clusters("gone");
    flush(client, named);
    expect(waits.of(named)).toEqual({
      ...{ first: { for: "release", name: "gone" }, names: nothingHeldBack, maySpeak: true },
    });
    flush(client, clusters());
    expect(waits.isEmpty).toBe(true);
  });
});

describe("S-ORD-06: a wait may last", () => {
  function limitsOf(
    prepare: (order: Ordering, type: TypeStream) => void,
    options: Parameters<typeof waitsWith>[0] = {},
    type = typeStream(ROUTE),
  ): unknown {
    const client = waitsWith(options);
    prepare(client.order, type);
    flush(client, type);
    return client.waits.waiting([type], current.view).map(({ what, limitMs }) => [what, limitMs]);
  }

  const waits = (wait: Wait) => (order: Ordering, type: TypeStream) => order.waits.set(type, wait);
  const withheld = { withheldAckLimitMs: { otherwise: undefined, cds: 30 } };

  test("as long as the dialect says, in short periods where clients withhold the ACK of Clusters", () => {
    expect([
      limitsOf(() => undefined),
      limitsOf(waits(forCluster)),
      limitsOf(waits(forCluster), { dialect: withheld }),
      limitsOf(waits(forCluster), { dialect: withheld, isAggregated: false }),
      limitsOf(waits(forCluster), { dialect: { withheldAckLimitMs: { otherwise: undefined, cds: 300 } } }),
      limitsOf(waits({ for: "endpoints", name: "e" }), { dialect: withheld }),
    ]).toEqual([[], [["order", 100]], [["order", 30]], [["order", 100]], [["order", 100]], [["order", 100]]]);
  });

  test("until a new version, if it is for a resource that was NACKed", () => {
    expect(limitsOf(waits({ ...forUsers, isNacked: true }))).toEqual([]);
    expect(limitsOf(waits(forUsers))).toEqual([["order", 100]]);
  });

  test("for Clusters that a client may subscribe to, as long as it has to subscribe", () => {
    const awaits =
      (why: Order["awaitsClusters"], wait: Wait = forCluster) =>
      (order: Ordering, type: TypeStream): void => {
        order.awaitsClusters = why;
        order.waits.set(type, wait);
      };
    const separate = { isAggregated: false };
    const clustersFor = (why: Order["awaitsClusters"]): unknown =>
      [{}, { dialect: withheld }, separate, { ...separate, dialect: withheld }].map((options) =>
        limitsOf(awaits(why), options),
      );
    const each = (...limits: readonly number[]): unknown => limits.map((ms) => [["clusters", ms]]);
    expect(clustersFor("came-back")).toEqual(each(7, 100, 70, 70));
    expect(clustersFor("unannounced")).toEqual(each(7, 7, 7, 7));
    expect(limitsOf(awaits("came-back", forUsers))).toEqual([["order", 100]]);
  });

  test("so long, too, before what they may refer to is told to be absent", () => {
    const untold = (options: Parameters<typeof waitsWith>[0], isEmpty = false): unknown =>
      limitsOf(
        (order, type) => {
          order.awaitsClusters = "came-back";
          order.absenceWait = { for: "return" };
          order.waits.set(type, order.absenceWait);
        },
        options,
        Object.assign(typeStream(ENDPOINTS), { untoldAbsences: { isEmpty } }),
      );
    expect([untold({}), untold({ dialect: withheld }), untold({ isAggregated: false }), untold({}, true)]).toEqual([
      [["clusters", 7]],
      [["clusters", 100]],
      [["return", 70]],
      [["return", 7]],
    ]);
  });

  test("for a reconnected client as long as it has to subscribe, whether or not anything waits", () => {
    const returns = (order: Ordering): void => {
      order.awaitsReturn = true;
      order.removalWait = { for: "return" };
    };
    const idle = Object.assign(typeStream(CLUSTER), { deferredRemovals: { areClusters: true, unreleased: undefined } });
    expect([
      limitsOf(returns, {}, clusters()),
      limitsOf(returns, { dialect: withheld }, clusters()),
      limitsOf(returns, { isAggregated: false }, clusters()),
      limitsOf(returns, {}, idle),
      limitsOf(() => undefined, {}, idle),
      limitsOf(returns),
    ]).toEqual([[["return", 7]], [["return", 7]], [["return", 70]], [["return", 7]], [], []]);
  });

  test("the time of a reconnected client goes on while changes await their ACK", () => {
    const returns = (order: Ordering): void => {
      order.awaitsReturn = true;
      order.removalWait = { for: "return" };
    };
    const unanswered = (): TypeStream => Object.assign(clusters(), { isWaiting: () => true });
    expect([
      limitsOf(returns, { isAggregated: false }, clusters()),
      limitsOf(returns, { isAggregated: false }, unanswered()),
      limitsOf(returns, {}, unanswered()),
    ]).toEqual([
      [["return", 70]],
      [
        ["ack", 1],
        ["return", 70],
      ],
      [
        ["ack", 1],
        ["return", 7],
      ],
    ]);
    const client = waitsWith({ isAggregated: false });
    const type = unanswered();
    returns(client.order);
    flush(client, type);
    client.waits.giveUp({ type, what: "return", limitMs: 70 }, 1, current);
    expect(client.order.told.at(-1)).toBe("return ends");
  });

  test.each([
    ["users of the Cluster", forUsers],
    ["the client to unsubscribe", undefined],
  ])("of removals, for %s, begins when nothing awaits an ACK, and goes on while later changes do", (_, removalWait) => {
    const client = waitsWith();
    client.order.removalWait = removalWait;
    const type = clusters("gone");
    let isBlocked = true;
    Object.assign(type, { isWaiting: () => isBlocked });
    Object.defineProperty(type.deliveries, "isBlocked", { get: () => isBlocked });
    const limitsAfterFlush = (): unknown => {
      flush(client, type);
      return client.waits.waiting([type], current.view).map(({ what }) => what);
    };
    const seen = [limitsAfterFlush()];
    for (const next of [false, true, false]) {
      isBlocked = next;
      seen.push(limitsAfterFlush());
    }
    Object.assign(type, { pendingRemovals: noPendingRemovals });
    flush(client, type);
    Object.assign(type, { pendingRemovals: clusters().pendingRemovals });
    isBlocked = true;
    seen.push(limitsAfterFlush());
    expect(seen).toEqual([["ack"], ["order"], ["ack", "order"], ["order"], ["ack"]]);
  });

  test("for an ACK; removals then wait for nothing else, users of Clusters do", () => {
    const unanswered = (type: TypeStream): TypeStream => {
      const [answer] = type.next(current, {
        removable: () => ({ to: 0, namedTo: 0, goesAtOnce: undefined }),
        heldBack: nothingHeldBack,
        absences: toldAtOnce,
      });
      if (answer !== undefined)
        type.deliveries.open({ nonce: "1", body: answer.body, revision: 1, from: undefined, at: 1, isInTurn: true });
      type.onRequest(delta(type.traits.type, { subscribe: ["*"] }));
      return Object.assign(type, { isWaiting: () => true });
    };
    const forRemovals = (order: Ordering): void => {
      order.removalWait = forUsers;
    };
    const users = unanswered(typeStream(ROUTE));
    const removing = unanswered(clusters());
    expect([
      limitsOf(waits(forCluster), {}, users),
      limitsOf(forRemovals, {}, removing),
      limitsOf(() => undefined, { dialect: withheld }, removing),
      limitsOf(() => undefined, { dialect: withheld, isAggregated: false }, removing),
    ]).toEqual([
      [
        ["ack", 1],
        ["order", 100],
      ],
      [["ack", 1]],
      [["ack", 30]],
      [["ack", 1]],
    ]);
  });
});

describe("S-ORD-06: when its time is over, a wait", () => {
  const order = { what: "order", limitMs: 100 } as const;

  test("for a Cluster lets its user through, after as many short periods as the limit has", () => {
    const client = waitsWith({ dialect: { withheldAckLimitMs: { otherwise: undefined, cds: 30 } } });
    const type = typeStream(ROUTE);
    client.order.waits.set(type, forCluster);
    flush(client, type);
    const giveUp = (since: number): unknown => client.waits.giveUp({ type, ...order }, since, current);
    expect([giveUp(3), giveUp(4), giveUp(5), giveUp(6)]).toEqual([undefined, undefined, undefined, forCluster]);
    expect(client.order.told).toEqual(["given", "given", "given", "user since 3"]);
    giveUp(7);
    client.order.waits.clear();
    flush(client, type);
    client.order.waits.set(type, forCluster);
    flush(client, type);
    expect([giveUp(8), giveUp(8), giveUp(8), giveUp(8)]).toEqual([undefined, undefined, undefined, forCluster]);
  });

  test("for a Cluster goes on if nothing waited that long", () => {
    const client = waitsWith();
    const type = typeStream(ROUTE);
    client.order.waits.set(type, forCluster);
    flush(client, type);
    client.order.isOverruled = false;
    expect([client.waits.giveUp({ type, ...order }, 3, current), client.order.told]).toEqual([
      undefined,
      ["user since 3"],
    ]);
  });

  test("of removals removes what was pending when it began, not what is newer", () => {
    const given = (since: number, wait: Wait | undefined, unreleased?: string): unknown => {
      const client = waitsWith();
      const type = clusters(unreleased);
      client.order.removalWait = wait;
      flush(client, type);
      const result = client.waits.giveUp({ type, ...order }, since, current);
      return [result, client.order.told.slice(1)];
    };
    const release: Wait = { for: "release", name: "gone" };
    expect([given(4, forUsers), given(5, forUsers), given(6, undefined, "gone"), given(4, undefined, "gone")]).toEqual([
      [undefined, []],
      [forUsers, ["removals to 5"]],
      [release, ["removals to 6"]],
      [undefined, []],
    ]);
  });

  test("for a reconnected client, or for Clusters that it may subscribe to, ends without a report", () => {
    const client = waitsWith();
    const type = clusters();
    client.order.awaitsReturn = true;
    expect(client.waits.giveUp({ type, what: "return", limitMs: 7 }, 1, current)).toBeUndefined();
    expect(client.waits.giveUp({ type, what: "clusters", limitMs: 7 }, 1, current)).toBeUndefined();
    expect(client.order.told).toEqual(["return ends", "no Clusters"]);
  });

  test("for Clusters does not end with the time of a new client once it is known to have reconnected", () => {
    const client = waitsWith();
    const type = clusters();
    client.order.awaitsClusters = "came-back";
    for (const limitMs of [6, 7]) client.waits.giveUp({ type, what: "clusters", limitMs }, 1, current);
    expect(client.order.told).toEqual(["no Clusters"]);
  });

  test("of one kind does not end with the time of another that is as long", () => {
    const client = waitsWith();
    const type = clusters();
    client.order.removalWait = { for: "return" };
    flush(client, type);
    expect(client.waits.giveUp({ type, ...order }, 1, current)).toBeUndefined();
    client.order.removalWait = forUsers;
    flush(client, type);
    expect(client.waits.waiting([type], current.view).map(({ what }) => what)).toEqual(["order"]);
    expect(client.order.told).not.toContain("return ends");
  });

  test("is over already if nothing waits", () => {
    const client = waitsWith();
    const type = typeStream(ROUTE);
    expect([client.waits.giveUp({ type, ...order }, 1, current), client.order.told]).toEqual([undefined, []]);
  });

  test("for an ACK lets newer content through, if it still waits", () => {
    const client = waitsWith();
    const type = typeStream(ROUTE);
    const ack = { type, what: "ack", limitMs: 1 } as const;
    type.deliveries.open({
      ...{ nonce: "1", revision: 1, from: undefined, at: 1, isInTurn: true },
      body: {
        variant: "delta",
        type: ROUTE,
        version: "1",
        segments: [{ puts: [resource(ROUTE, "r", "1")], removed: [], missing: [] }],
      },
    });
    expect([client.waits.giveUp(ack, 1, current), type.deliveries.isBlocked]).toEqual([undefined, true]);
    Object.assign(type, { isWaiting: () => true });
    expect([client.waits.giveUp(ack, 1, current), type.deliveries.isBlocked]).toEqual(["ack", false]);
  });
});
