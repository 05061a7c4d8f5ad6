import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, plain, ROUTE, resource, routeTo } from "./support/resources.ts";

const cluster = (name: string, endpoints: string): Resource =>
  resource(CLUSTER, name, endpoints, { references: [{ type: ENDPOINTS, name: endpoints }] });
const aggregate = (name: string, member: string): Resource =>
  resource(CLUSTER, name, member, { references: [{ type: CLUSTER, name: member }] });
const endpoints = (name: string): Resource => resource(ENDPOINTS, name, "1");

/** A client of everything on stream 1 that uses `c`, whose endpoints are `old`. */
function inSync(variant: "delta" | "sotw"): Conversation {
  const talk = new Conversation();
  talk.put(cluster("c", "old"), endpoints("old"), routeTo("c"));
  talk.open(1, variant);
  talk.settle(talk.subscribe(1, CLUSTER));
  talk.settle(talk.subscribe(1, ENDPOINTS, ["old"]));
  talk.settle(talk.subscribe(1, ROUTE, ["r"]));
  return talk;
}

const waits = ({ machine }: Conversation): unknown =>
  [...machine.streams()].flatMap(({ types }) => types.flatMap(({ wait }) => wait ?? []));

describe.each(["delta", "sotw"] as const)("S-ORD-03 a Cluster in use that gets another EDS name (%s)", (variant) => {
  const rest = variant === "sotw" ? ["c@old"] : [];

  test("goes on with its former endpoints until there are others; other Clusters do not wait, nor is it waited for in vain", () => {
    const talk = inSync(variant);
    talk.change({ puts: [cluster("c", "new"), plain("d")], deletes: [{ type: ENDPOINTS, name: "old" }] });
    expect(says(talk.settle())).toEqual([[...rest, "d@1"]]);
    expect(waits(talk)).toContainEqual({ for: "endpoints", name: "c" });
    talk.put(endpoints("new"));
    expect(says(talk.turns())).toEqual([variant === "sotw" ? ["c@new", "d@1"] : ["c@new"]]);
  });

  test("is sent after the order limit, and then warms", () => {
    const talk = inSync(variant);
    talk.put(cluster("c", "new"));
    expect([says(talk.turns()), waits(talk)]).toEqual([[], [{ for: "endpoints", name: "c" }]]);
    expect(says(talk.pass(30_000))).toEqual([["c@new"]]);
    expect(talk.reports.filter(({ kind }) => kind === "order-overdue")).toMatchObject([
      { type: CLUSTER, wait: { for: "endpoints", name: "c" } },
    ]);
    expect(says(talk.subscribe(1, ENDPOINTS, ["new"]))).toEqual([]);
  });

  test("stays as it is if it gets its former name again", () => {
    const talk = inSync(variant);
    for (const name of ["new", "old"]) {
      talk.put(cluster("c", name));
      expect(says(talk.settle())).toEqual([]);
    }
    expect(waits(talk)).toEqual([]);
  });

  test("is sent at once if the client rejected its former state, or does not use it yet", () => {
    const talk = inSync(variant);
    talk.put(cluster("c", "bad"), endpoints("bad"));
    talk.turns();
    talk.nack(1, CLUSTER);
    talk.put(cluster("c", "new"));
    expect(says(talk.turns())).toEqual([["c@new"]]);
    const fresh = inSync(variant);
    fresh.put(cluster("d", "none"));
    fresh.settle();
    fresh.put(cluster("d", "nothing"));
    expect(says(fresh.turns())).toEqual([[...rest, "d@nothing"]]);
  });
});

test.each(["delta", "sotw"] as const)(
  "a Cluster whose endpoints come from another server does not wait for them (%s)",
  (variant) => {
    const talk = new Conversation();
    talk.put(cluster("c", "old"), cluster("d", "there"), routeTo("c"));
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, CLUSTER));
    talk.settle(talk.subscribe(1, ROUTE, ["r"]));
    talk.put(cluster("c", "new"));
    expect(says(talk.settle())).toEqual([variant === "sotw" ? ["c@new", "d@there"] : ["c@new"]]);
  },
);

test("views with the same Clusters and other endpoints are judged each for itself", () => {
  const layersOf = (id: string): readonly string[] => [id, "base"];
  const talk = new Conversation({ nodeMapping: ({ id }) => layersOf(id) });
  talk.commit([
    { layer: "base", puts: [cluster("c", "old"), endpoints("old"), routeTo("c")] },
    { layer: "edge", puts: [endpoints("other")] },
    { layer: "core", puts: [endpoints("other")] },
  ]);
  for (const [at, id] of ["edge", "core", "edge"].entries()) {
    talk.open(at, "delta");
    talk.settle(talk.subscribe(at, CLUSTER, [], { node: node(id) }));
    talk.settle(talk.subscribe(at, ENDPOINTS, ["old"]));
  }
  talk.commit([
    { layer: "base", puts: [cluster("c", "new")] },
    { layer: "edge", puts: [endpoints("new")] },
  ]);
  expect(talk.turns().map(({ stream, says: said }) => [stream, said])).toEqual([
    [0, ["c@new"]],
    [2, ["c@new"]],
  ]);
});

test.each(["delta", "sotw"] as const)(
  "S-ORD-05 no other Cluster stays longer because of it, whatever is rejected later (%s)",
  (variant) => {
    const talk = inSync(variant);
    talk.put(plain("x"), plain("gone"));
    talk.settle();
    talk.put(cluster("c", "new"));
    talk.settle();
    talk.delete(CLUSTER, "gone");
    expect(says(talk.settle())).toEqual([variant === "sotw" ? ["c@old", "x@1"] : ["-gone"]]);
    talk.put(plain("x", "bad"));
    talk.turns();
    talk.settle(talk.nack(1, CLUSTER));
    talk.put(endpoints("new"));
    talk.settle();
    talk.delete(CLUSTER, "x");
    expect(says(talk.settle())).toEqual([variant === "sotw" ? ["c@new"] : ["-x"]]);
  },
);

test.each(["delta", "sotw"] as const)(
  "S-ORD-05 another Cluster is removed meanwhile once nothing uses it (%s)",
  (variant) => {
    const talk = inSync(variant);
    talk.put(plain("d"), plain("x"), routeTo("d"));
    talk.settle();
    talk.put(cluster("c", "new"));
    talk.settle();
    talk.change({ puts: [routeTo("x")], deletes: [{ type: CLUSTER, name: "d" }] });
    expect(says(talk.turns())).toEqual([["r@x"]]);
    expect(says(talk.ack(1, ROUTE))).toEqual([variant === "sotw" ? ["c@old", "x@1"] : ["-d"]]);
  },
);

test.each(["delta", "sotw"] as const)("is kept back while another stream of the client comes back (%s)", (variant) => {
  const talk = new Conversation();
  talk.put(cluster("c", "old"), endpoints("old"), routeTo("c"));
  for (const [stream, type] of [CLUSTER, ENDPOINTS, ROUTE].entries()) talk.open(stream, variant, type);
  const who = { node: node("n") };
  talk.settle(talk.subscribe(0, CLUSTER, [], who));
  talk.settle(talk.subscribe(1, ENDPOINTS, ["old"], who));
  const [routes] = talk.settle(talk.subscribe(2, ROUTE, ["r"], who));
  talk.put(cluster("c", "new"));
  expect(says(talk.turns())).toEqual([]);
  talk.close(2);
  talk.open(3, variant, ROUTE);
  const held = { ...who, versionInfo: routes?.version ?? "", initialVersions: initialVersionsOf([["r", "1"]]) };
  expect(talk.subscribe(3, ROUTE, ["r"], held).filter(({ type }) => type === CLUSTER)).toEqual([]);
});

test("S-NEX-06 the absence of other endpoints is told meanwhile", () => {
  const talk = inSync("delta");
  talk.put(cluster("c", "new"), cluster("d", "none"));
  expect(says(talk.settle())).toEqual([["d@none"]]);
  expect(says(talk.subscribe(1, ENDPOINTS, ["none"]))).toEqual([["-none"]]);
  expect(says(talk.subscribe(1, ENDPOINTS, ["new"]))).toEqual([]);
});

test("a client that gave it up is sent it when it asks again", () => {
  const talk = new Conversation();
  talk.put(cluster("c", "old"), endpoints("old"), plain("d"));
  talk.open(1, "sotw");
  talk.settle(talk.subscribe(1, CLUSTER, ["c", "d"]));
  talk.settle(talk.subscribe(1, ENDPOINTS, ["old"]));
  talk.put(cluster("c", "new"));
  expect(says(talk.settle())).toEqual([]);
  talk.settle(talk.unsubscribe(1, CLUSTER, ["c"]));
  expect(says(talk.subscribe(1, CLUSTER, ["c"]))).toEqual([["c@new", "d@1"]]);
});

test("S-REC-04 who comes back in State of the World is sent Clusters that would have to wait: nobody knows what it has of them", () => {
  const talk = inSync("sotw");
  talk.put(aggregate("all", "c"));
  const [held] = talk.settle();
  talk.close(1);
  talk.put(cluster("c", "new"), aggregate("all", "late"), cluster("late", "later"));
  talk.open(2, "sotw");
  const back = { node: node("n"), versionInfo: held?.version ?? "" };
  expect(says(talk.subscribe(2, CLUSTER, [], back))).toEqual([["c@new", "all@late", "late@later"]]);
});

test.each(["delta", "sotw"] as const)(
  "a server comes to rest while Clusters and what uses them wait (%s)",
  (variant) => {
    const talk = new Conversation();
    talk.put(cluster("c", "old"), endpoints("old"), cluster("d", "none"), routeTo("c"));
    for (const [stream, type] of [CLUSTER, ENDPOINTS, ROUTE].entries()) talk.open(stream, variant, type);
    const who = { node: node("n") };
    talk.settle(talk.subscribe(0, CLUSTER, [], who));
    talk.settle(talk.subscribe(1, ENDPOINTS, ["old"], who));
    talk.settle(talk.subscribe(2, ROUTE, ["r"], who));
    talk.put(cluster("c", "new"), routeTo("d"));
    expect(says(talk.turns())).toEqual([]);
    expect(waits(talk)).toEqual([
      { for: "endpoints", name: "c" },
      { for: "endpoints", name: "d" },
    ]);
    expect(talk.machine.isDue).toBe(false);
  },
);
