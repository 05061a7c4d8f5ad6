import { formatTypeUrl, type Reference, type Resource, type TypeUrl } from "@xdskit/protocol";
import type { ServerMachineOptions } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./support/resources.ts";

const SECRET: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

/** What refers to what, under a name that changes. */
const pairs = [
  ["endpoints of a Cluster", CLUSTER, ENDPOINTS, "c"],
  ["a secret of a Cluster", CLUSTER, SECRET, "c"],
  ["a secret of a Listener", LISTENER, SECRET, "l"],
  ["routes of a Listener", LISTENER, ROUTE, "l"],
] as const;

/** On one stream, or on one for each type. */
const streams = { aggregated: [1, 1], separate: [1, 2] } as const;

const owning = (type: TypeUrl, name: string, target: Reference): Resource =>
  resource(type, name, target.name, { references: [target] });

interface World {
  readonly talk: Conversation;
  /** The owner refers to this name, and what it referred to before is gone. */
  readonly rename: (to: string) => void;
}

/** A client in sync with an owner that refers to `x`. */
function inSync(
  [owner, target, name]: readonly [TypeUrl, TypeUrl, string],
  [first, second]: readonly [number, number],
  dialect: ServerMachineOptions["dialect"] = {},
): World {
  const talk = new Conversation({
    dialect: { orderLimitMs: 10_000, ...dialect },
    traits: (type) => (type === SECRET ? { type, kind: "sds", isFullState: false, owes: [] } : traits(type)),
  });
  let before: string | undefined;
  const rename = (to: string): void => {
    const puts = [owning(owner, name, { type: target, name: to }), resource(target, to, "1")];
    talk.change({ puts, deletes: before === undefined ? [] : [{ type: target, name: before }] });
    before = to;
  };
  rename("x");
  talk.open(first, "delta", first === second ? undefined : owner);
  if (first !== second) talk.open(second, "delta", target);
  talk.subscribe(first, owner, [], { node: node("n") });
  talk.ack(first, owner);
  talk.subscribe(second, target, ["x"], { node: node("n") });
  talk.ack(second, target);
  return { talk, rename };
}

/** What is said of other names than `x`, which goes as any removal does. */
const news = (said: readonly Said[]): readonly string[] =>
  said.flatMap((one) => one.says.filter((what) => what !== "-x"));

describe.each(pairs)("S-ORD-10: the absence of %s whose name changed twice", (_, owner, target, name) => {
  /** The client was sent the name `y`, and asks for it when the newest name is `z`. */
  function renamedTwice(kind: keyof typeof streams): Conversation {
    const { talk, rename } = inSync([owner, target, name], streams[kind]);
    rename("y");
    const said = talk.turns();
    expect(news(said)).toEqual([`${name}@y`]);
    for (const { stream, nonce } of said.filter(({ type }) => type === target)) talk.ack(stream, target, nonce);
    rename("z");
    expect(news(talk.subscribe(streams[kind][1], target, ["y"]))).toEqual([]);
    return talk;
  }

  test("is told after the newest name on one stream, and after its ACK on another", () => {
    expect(news(renamedTwice("aggregated").ack(1, owner))).toEqual([`${name}@z`, "-y"]);
    const separate = renamedTwice("separate");
    expect([news(separate.ack(1, owner)), news(separate.ack(1, owner))]).toEqual([[`${name}@z`], ["-y"]]);
  });

  test("is not told at all once the client asks for the newest name instead", () => {
    const talk = renamedTwice("separate");
    const newest = news(talk.ack(1, owner));
    const given = [news(talk.unsubscribe(2, target, ["y"])), news(talk.subscribe(2, target, ["z"]))];
    expect([newest, given, news(talk.ack(1, owner))]).toEqual([[`${name}@z`], [[], ["z@1"]], []]);
  });

  test("is not told if it exists again by then", () => {
    const talk = renamedTwice("separate");
    talk.put(resource(target, "y", "2"));
    expect([news(talk.turns()), news(talk.ack(1, owner)), news(talk.ack(1, owner))]).toEqual([
      ["y@2"],
      [`${name}@z`],
      [],
    ]);
  });

  test("is told after the limit to a client that never ACKs; the limit of an earlier wait comes first", () => {
    const talk = renamedTwice("separate");
    expect([...news(talk.pass(10_000)), ...news(talk.pass(10_000))]).toEqual(["-y"]);
  });

  test("is told at once if the newest state refers to it, or if nothing waits for the client", () => {
    const { talk, rename } = inSync([owner, target, name], streams.aggregated);
    expect(news(talk.subscribe(1, target, ["nobody"]))).toEqual(["-nobody"]);
    rename("y");
    talk.turns();
    talk.delete(target, "y");
    expect(news(talk.subscribe(1, target, ["y"]))).toEqual(["-y"]);
  });
});

describe.each(pairs.slice(0, 2))(
  "S-ORD-10: the absence of %s in use, whose name changed to one that is missing",
  (...pair) => {
    const [, owner, target, name] = pair;
    const renamedInVain = (kind: keyof typeof streams): Conversation => {
      const { talk } = inSync([owner, target, name], streams[kind]);
      talk.put(resource(LISTENER, "l", "1", { references: [] }));
      talk.open(3, "delta", LISTENER);
      talk.subscribe(kind === "aggregated" ? 1 : 3, LISTENER, [], { node: node("n") });
      talk.ack(kind === "aggregated" ? 1 : 3, LISTENER);
      talk.put(owning(owner, name, { type: target, name: "y" }), resource(target, "y", "1"));
      expect(news(talk.turns())).toEqual([`${name}@y`]);
      talk.delete(target, "y");
      expect(news(talk.subscribe(streams[kind][1], target, ["y"]))).toEqual([]);
      return talk;
    };

    test.each(["aggregated", "separate"] as const)("is told after the limit (%s)", (kind) => {
      const talk = renamedInVain(kind);
      if (kind === "separate") talk.ack(1, owner);
      const waits = [...talk.machine.streams()].flatMap(({ types }) => types.filter(({ type }) => type === target));
      const wait = { for: target === SECRET ? "secret" : "endpoints", name };
      expect(waits).toMatchObject([{ wait }]);
      expect(news(talk.pass(10_000))).toEqual(["-y"]);
      expect(talk.reports.filter(({ kind: what }) => what === "order-overdue")).toMatchObject([{ wait }]);
    });

    test.each(["aggregated", "separate"] as const)("is not told if the resource comes meanwhile (%s)", (kind) => {
      const talk = renamedInVain(kind);
      talk.put(resource(target, "y", "1"));
      expect([news(talk.turns()), news(talk.pass(10_000))]).toEqual([["y@1"], []]);
    });
  },
);

test("S-NEX-06 without an order every absence is told at once", () => {
  const { talk, rename } = inSync([CLUSTER, ENDPOINTS, "c"], streams.aggregated, { makeBeforeBreak: false });
  rename("y");
  talk.turns();
  rename("z");
  expect(news(talk.subscribe(1, ENDPOINTS, ["y"]))).toEqual(["-y"]);
});

test("S-NEX-06 S-ORD-01 a client whose endpoints come back first is told what is absent once it has its Clusters, or had time to ask", () => {
  const comesBack = (): Conversation => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "c", "z", { references: [{ type: ENDPOINTS, name: "z" }] }));
    talk.put(resource(ENDPOINTS, "z", "1"));
    talk.open(2, "delta", ENDPOINTS);
    const held = { node: node("n"), initialVersions: initialVersionsOf([["x", "1"]]) };
    expect(news(talk.subscribe(2, ENDPOINTS, ["x", "y"], held))).toEqual([]);
    return talk;
  };
  const talk = comesBack();
  talk.open(1, "delta", CLUSTER);
  const held = { node: node("n"), initialVersions: initialVersionsOf([["c", "y"]]) };
  expect(news(talk.subscribe(1, CLUSTER, [], held))).toEqual(["c@z"]);
  expect(news(talk.ack(1, CLUSTER))).toEqual(["-y"]);
  const alone = comesBack();
  alone.ack(2, ENDPOINTS);
  expect(news(alone.pass(30_000))).toEqual(["-y"]);
});

test("S-NEX-06 S-ORD-01 on one stream it is told what its Clusters lack once it asked for those, or after the limit", () => {
  const held = { node: node("n", "envoy"), initialVersions: initialVersionsOf([["x", "1"]]) };
  const cluster = owning(CLUSTER, "c", { type: ENDPOINTS, name: "y" });
  const comesBack = (): Conversation => {
    const talk = new Conversation();
    talk.put(cluster);
    talk.open(1, "delta");
    expect(news(talk.subscribe(1, ENDPOINTS, ["x", "y"], held))).toEqual([]);
    talk.ack(1, ENDPOINTS);
    return talk;
  };
  const listed = { initialVersions: initialVersionsOf([["c", cluster.version]]) };
  expect(news(comesBack().subscribe(1, CLUSTER, [], listed))).toEqual(["-y"]);
  const silent = comesBack();
  expect([news(silent.pass(1_000)), news(silent.pass(30_000))]).toEqual([[], ["-y"]]);
  // It gets its Clusters elsewhere, so it is not waited for again.
  silent.close(1);
  silent.open(2, "delta");
  expect(news(silent.subscribe(2, ENDPOINTS, ["x", "y"], held))).toEqual(["-y"]);
});
