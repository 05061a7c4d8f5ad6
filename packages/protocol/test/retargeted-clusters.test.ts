import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
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
