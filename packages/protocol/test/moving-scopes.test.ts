import type { Reference, Resource, TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource, SCOPE } from "./support/resources.ts";

/** An Envoy takes a changed scope into use at once, and answers 404 until it has the routes that it names. */
describe.each(["sotw", "delta"] as const)("a scope that moves on to another route in %s", (variant) => {
  const to = (type: TypeUrl, name: string): Reference => ({ type, name });
  const cluster = (name: string): Resource => resource(CLUSTER, name, "1", { references: [to(ENDPOINTS, name)] });
  const route = (name: string, cluster: string): Resource =>
    resource(ROUTE, name, cluster, { references: [to(CLUSTER, cluster)] });
  const scope = (name: string, route: string): Resource =>
    resource(SCOPE, name, route, { references: [to(ROUTE, route)] });
  const endpoints = (name: string): Resource => resource(ENDPOINTS, name, "1");

  /** A client that uses scope s with route r1, which goes to Cluster c1. */
  function serving(): Conversation {
    const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
    talk.put(cluster("c1"), endpoints("c1"), route("r1", "c1"), scope("s", "r1"));
    talk.put(resource(LISTENER, "l", "1", { references: [to(SCOPE, "*")] }));
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") }));
    talk.settle(talk.subscribe(1, ENDPOINTS, ["c1"]));
    talk.settle(talk.subscribe(1, LISTENER));
    talk.settle(talk.subscribe(1, SCOPE));
    talk.settle(talk.subscribe(1, ROUTE, ["r1"]));
    return talk;
  }

  const scopesIn = (said: readonly Said[]): readonly (readonly string[])[] =>
    said.flatMap(({ type, says }) => (type === SCOPE ? [says] : []));
  const clustersGoneIn = (said: readonly Said[]): boolean =>
    said.some(
      ({ type, says }) => type === CLUSTER && (variant === "delta" ? says.includes("-c1") : !says.includes("c1@1")),
    );

  test("is sent when the client can use the Clusters of that", () => {
    const talk = serving();
    talk.change({ puts: [cluster("c2"), endpoints("c2"), route("r2", "c2"), scope("s", "r2")] });
    // The Cluster warms.
    expect(talk.turns().map(({ type }) => type)).toEqual([CLUSTER]);
    const said = [...talk.subscribe(1, ENDPOINTS, ["c1", "c2"]), ...talk.ack(1, ENDPOINTS)];
    expect(scopesIn(said)).toEqual([]);
    expect(scopesIn(talk.ack(1, CLUSTER))).toEqual([["s@r2"]]);
  });

  test("is sent when there are endpoints, and the former Cluster stays until its routes are there", () => {
    const talk = serving();
    talk.change({
      puts: [cluster("c2"), route("r2", "c2"), scope("s", "r2")],
      deletes: [to(ROUTE, "r1"), to(CLUSTER, "c1")],
    });
    const waiting = [...talk.settle(), ...talk.settle(talk.subscribe(1, ENDPOINTS, ["c1", "c2"]))];
    expect([scopesIn(waiting), clustersGoneIn(waiting)]).toEqual([[], false]);
    talk.put(endpoints("c2"));
    const there = talk.settle();
    expect([scopesIn(there), clustersGoneIn(there)]).toEqual([[["s@r2"]], false]);
    expect(clustersGoneIn(talk.settle(talk.subscribe(1, ROUTE, ["r2"])))).toBe(true);
  });

  test("waits for the order limit at most", () => {
    const talk = serving();
    talk.change({ puts: [cluster("c2"), route("r2", "c2"), scope("s", "r2")] });
    expect(scopesIn([...talk.settle(), ...talk.settle(talk.subscribe(1, ENDPOINTS, ["c1", "c2"]))])).toEqual([]);
    expect(scopesIn([...talk.pass(30_000), ...talk.settle()])).toEqual([["s@r2"]]);
  });

  test("takes the place of another with the same key when the client can use the Clusters of its route", () => {
    const talk = serving();
    talk.change({ puts: [cluster("c2"), route("r2", "c2"), scope("t", "r2")], deletes: [to(SCOPE, "s")] });
    expect(scopesIn([...talk.settle(), ...talk.settle(talk.subscribe(1, ENDPOINTS, ["c1", "c2"]))])).toEqual([]);
    talk.put(endpoints("c2"));
    expect(scopesIn(talk.settle()).map((says) => [...says].sort())).toEqual([
      variant === "delta" ? ["-s", "t@r2"] : ["t@r2"],
    ]);
  });
});
