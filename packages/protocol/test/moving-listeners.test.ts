import type { Reference, Resource, TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, HOST, LISTENER, plain, ROUTE, resource, SCOPE, SECRET } from "./support/resources.ts";

describe.each(["sotw", "delta"] as const)("a Listener that moves on to another route in %s", (variant) => {
  const listenerOn = (...references: readonly Reference[]): Resource =>
    resource(LISTENER, "l", references.map(({ name }) => name).join(), { references });
  const to = (type: TypeUrl, name: string): Reference => ({ type, name });
  const route = (name: string, cluster: string): Resource =>
    resource(ROUTE, name, cluster, { references: [to(CLUSTER, cluster)] });

  /** A client whose Listener names route r1, which goes to Cluster c1. */
  function serving(): Conversation {
    const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
    talk.put(plain("c1"), listenerOn(to(ROUTE, "r1")), route("r1", "c1"));
    talk.open(1, variant);
    talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, LISTENER);
    talk.ack(1, LISTENER);
    talk.subscribe(1, ROUTE, ["r1"]);
    talk.ack(1, ROUTE);
    return talk;
  }

  /** Whether the client was told that a Cluster is gone. */
  function removes(said: readonly Said[], name: string): boolean {
    const ofClusters = said.filter(({ type }) => type === CLUSTER);
    if (variant === "delta") return ofClusters.some(({ says }) => says.includes(`-${name}`));
    return ofClusters.some(({ says }) => !says.some((one) => one.startsWith(`${name}@`)));
  }

  const gone = (...names: readonly string[]): readonly Reference[] =>
    names.map((name) => to(name.startsWith("c") ? CLUSTER : ROUTE, name));

  test.each([
    ["route", to(ROUTE, "r2"), route("r2", "c2")],
    ["secret", to(SECRET, "s"), resource(SECRET, "s", "1")],
    ["scope", to(SCOPE, "*"), resource(SCOPE, "s", "1")],
  ] as const)("keeps the former Cluster until its %s is there, of which there is none yet", (_, named, later) => {
    const talk = serving();
    talk.change({ puts: [plain("c2"), listenerOn(named)], deletes: gone("r1", "c1") });
    const said = [...talk.settle()];
    said.push(...talk.settle(talk.subscribe(1, named.type, [named.name])));
    expect(removes(said, "c1")).toBe(false);
    talk.put(later);
    expect(removes(talk.settle(), "c1")).toBe(true);
  });

  test("keeps the former Cluster until it asked for scopes, and has the routes that they name", () => {
    const talk = serving();
    const scope = resource(SCOPE, "s", "r2", { references: [to(ROUTE, "r2")] });
    talk.change({
      puts: [plain("c2"), listenerOn(to(SCOPE, "*")), scope, route("r2", "c2")],
      deletes: gone("r1", "c1"),
    });
    const said = [...talk.settle(), ...talk.pass(1_000)];
    said.push(...talk.settle(talk.subscribe(1, SCOPE)));
    expect(said.map(({ type }) => type)).toContain(SCOPE);
    expect(removes(said, "c1")).toBe(false);
    expect(removes(talk.settle(talk.subscribe(1, ROUTE, ["r2"])), "c1")).toBe(true);
  });

  test("keeps the former Cluster until it has the routes of scopes that it had before, and unsubscribed from", () => {
    const talk = serving();
    const scoped = listenerOn(to(SCOPE, "*"));
    const scope = resource(SCOPE, "s", "r1", { references: [to(ROUTE, "r1")] });
    talk.change({ puts: [scoped, scope] });
    talk.settle();
    talk.settle(talk.subscribe(1, SCOPE));
    talk.change({ puts: [plain("c2"), listenerOn(to(CLUSTER, "c2"))] });
    talk.settle();
    talk.settle(talk.unsubscribe(1, ROUTE, ["r1"]));
    talk.change({ puts: [scoped], deletes: gone("c2") });
    expect(removes(talk.settle(), "c2")).toBe(false);
    expect(removes(talk.settle(talk.subscribe(1, ROUTE, ["r1"])), "c2")).toBe(true);
  });

  test("keeps no Cluster for a Listener that is new", () => {
    const talk = serving();
    const other = resource(LISTENER, "other", "1", { references: [to(ROUTE, "r2")] });
    talk.change({ puts: [other, plain("c2"), route("r1", "c2")], deletes: gone("c1") });
    const said = [...talk.settle(), ...talk.settle(talk.subscribe(1, ROUTE, ["r2"]))];
    expect(removes(said, "c1")).toBe(true);
  });

  /** Its Listener was changed, and its route is deleted while the version to a Cluster that warms is held back. */
  function abandoning(next: Resource, ...puts: readonly Resource[]): Conversation {
    const talk = serving();
    const warming = resource(CLUSTER, "c2", "1", { references: [to(ENDPOINTS, "c2")] });
    const changed = resource(LISTENER, "l", "changed", { references: gone("r1") });
    talk.change({ puts: [warming, resource(ENDPOINTS, "c2", "1"), changed, route("r1", "c2")], deletes: gone("c1") });
    // The Clusters warm; Listeners were ACKed.
    talk.turns();
    talk.ack(1, LISTENER);
    talk.change({ puts: [plain("c3"), next, ...puts], deletes: gone("r1", "c2") });
    return talk;
  }

  test("keeps the former Cluster if its route is deleted while the newer version is held back", () => {
    const talk = abandoning(listenerOn(to(CLUSTER, "c3")));
    const said = [...talk.pass(1_000)];
    expect(removes(said, "c1")).toBe(false);
    said.push(...talk.ack(1, CLUSTER));
    expect(removes(said, "c1")).toBe(false);
    said.push(...talk.ack(1, CLUSTER));
    expect(removes(said, "c1")).toBe(false);
    expect(said.some(({ type }) => type === LISTENER)).toBe(true);
    said.splice(0, said.length, ...talk.ack(1, ROUTE));
    expect(removes(said, "c1")).toBe(false);
    expect(removes(talk.settle(talk.ack(1, LISTENER)), "c1")).toBe(true);
  });

  test("keeps it then until the Listener has the route that it names instead", () => {
    const talk = abandoning(listenerOn(to(ROUTE, "r2")), route("r2", "c3"));
    const said = [...talk.pass(1_000), ...talk.ack(1, CLUSTER), ...talk.ack(1, CLUSTER), ...talk.ack(1, ROUTE)];
    said.push(...talk.ack(1, LISTENER));
    expect(removes(said, "c1")).toBe(false);
    expect(removes(talk.settle(talk.subscribe(1, ROUTE, ["r2"])), "c1")).toBe(true);
  });

  test("keeps it if another Listener came after the newer version of the route, and the route named instead is missing", () => {
    const talk = serving();
    const warming = resource(CLUSTER, "c2", "1", { references: [to(ENDPOINTS, "c2")] });
    talk.change({ puts: [warming, resource(ENDPOINTS, "c2", "1"), route("r1", "c2")], deletes: gone("c1") });
    talk.turns();
    talk.put(resource(LISTENER, "other", "1"));
    talk.turns();
    talk.ack(1, LISTENER);
    talk.change({ puts: [listenerOn(to(ROUTE, "r2"))], deletes: gone("r1", "c2") });
    const said = [
      ...talk.settle(),
      ...talk.settle(talk.subscribe(1, ROUTE, ["r2"])),
      ...talk.settle(talk.ack(1, CLUSTER)),
    ];
    expect(removes(said, "c1")).toBe(false);
    talk.put(route("r2", "c3"));
    expect(removes(talk.settle(), "c1")).toBe(true);
  });

  test("sends a route that was deleted and is there again before a Listener that names it anew", () => {
    const talk = serving();
    talk.change({ puts: [listenerOn(to(CLUSTER, "c3"))], deletes: gone("r1", "c1") });
    talk.settle();
    talk.change({ puts: [plain("c2"), listenerOn(to(ROUTE, "r1")), route("r1", "c2")] });
    expect(talk.settle().map(({ type }) => type)).toEqual([CLUSTER, ROUTE, LISTENER]);
  });

  test("sends a Listener that comes back to scopes after them and their routes, if the client did not give up scopes yet", () => {
    const talk = serving();
    talk.settle(talk.subscribe(1, SCOPE));
    const scope = resource(SCOPE, "s", "r2", { references: [to(ROUTE, "r2")] });
    const typesOf = (said: readonly Said[]): readonly string[] => said.map(({ type }) => type);
    talk.change({ puts: [plain("c2"), listenerOn(to(SCOPE, "*")), scope, route("r2", "c2")] });
    const steps = [
      talk.turns(),
      talk.ack(1, CLUSTER),
      talk.subscribe(1, ROUTE, ["r2"]),
      talk.ack(1, ROUTE),
      talk.ack(1, SCOPE),
    ];
    expect(steps.map(typesOf)).toEqual([[CLUSTER, SCOPE], [], [ROUTE], [], [LISTENER]]);
  });

  test("sends it at once to a client that rejects the scopes", () => {
    const talk = serving();
    talk.settle(talk.subscribe(1, SCOPE));
    const scope = resource(SCOPE, "s", "r2", { references: [to(ROUTE, "r2")] });
    talk.change({ puts: [plain("c2"), listenerOn(to(SCOPE, "*")), scope, route("r2", "c2")] });
    talk.turns();
    talk.ack(1, CLUSTER);
    expect(talk.nack(1, SCOPE).map(({ type }) => type)).toEqual([LISTENER]);
  });
});

test("a client that unsubscribes from scopes before it has their routes is not waited for", () => {
  const to = (type: TypeUrl, name: string): Reference => ({ type, name });
  const talk = new Conversation();
  talk.put(plain("c1"), resource(SCOPE, "s", "1", { references: [to(ROUTE, "r1")] }));
  talk.put(resource(ROUTE, "r1", "1"), resource(LISTENER, "l", "1", { references: [to(SCOPE, "*")] }));
  talk.open(1, "delta");
  talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") }));
  talk.settle(talk.subscribe(1, LISTENER));
  talk.settle(talk.subscribe(1, SCOPE));
  talk.settle(talk.unsubscribe(1, SCOPE, ["*"]));
  talk.delete(CLUSTER, "c1");
  expect(talk.settle().map(({ says }) => says)).toEqual([["-c1"]]);
});

/** What a client rejects beside another with the same domain or key: removed last, but never after what may replace it. */
describe.each([
  ["virtual hosts", "delta", HOST, "r1/a", "r1/b"],
  ["scopes", "delta", SCOPE, "a", "b"],
  ["scopes", "sotw", SCOPE, "a", "b"],
] as const)("%s in %s that only a former Listener uses", (_, variant, type, name, replacement) => {
  const to = (type: TypeUrl, name: string): Reference => ({ type, name });
  const cluster = (name: string): Resource => resource(CLUSTER, name, "1", { references: [to(ENDPOINTS, name)] });
  const routes = (name: string, ...references: readonly Reference[]): Resource =>
    resource(ROUTE, name, "1", { references });
  const used = (name: string, cluster: string): Resource =>
    resource(type, name, "1", { references: [to(CLUSTER, cluster)] });
  const moved = [
    cluster("c2"),
    resource(ENDPOINTS, "c2", "1"),
    routes("r2", to(CLUSTER, "c2")),
    resource(LISTENER, "l", "2", { references: [to(ROUTE, "r2")] }),
  ];

  /** A client whose Listener uses route r1 with its virtual host or scope, which go to Cluster c1. */
  function serving(): Conversation {
    const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
    talk.put(cluster("c1"), resource(ENDPOINTS, "c1", "1"), used(name, "c1"), plain("other"), routes("r1"));
    talk.put(resource(LISTENER, "l", "1", { references: [to(ROUTE, "r1")] }));
    talk.open(1, variant);
    talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") }));
    talk.settle(talk.subscribe(1, ENDPOINTS, ["c1"]));
    talk.settle(talk.subscribe(1, LISTENER));
    talk.settle(talk.subscribe(1, type));
    talk.settle(talk.subscribe(1, ROUTE, ["r1"]));
    return talk;
  }

  /** What the client is told of some types, in order. */
  const told = (said: readonly Said[], ...types: readonly TypeUrl[]): readonly (readonly string[])[] =>
    said.flatMap((one) => (types.includes(one.type) ? [[...one.says].sort()] : []));
  const without = (gone: string, ...left: readonly string[]): readonly string[] =>
    variant === "delta" ? [`-${gone}`] : left;
  const gone = [to(type, name), to(ROUTE, "r1"), to(CLUSTER, "c1"), to(ENDPOINTS, "c1")];

  test("are removed when the new Listener is in use, and their Clusters after them", () => {
    const talk = serving();
    talk.change({ puts: moved, deletes: gone });
    const said = [...talk.settle(), ...talk.settle(talk.subscribe(1, ENDPOINTS, ["c2"]))];
    expect(told(said, type)).toEqual([]);
    const whenInUse = talk.settle(talk.subscribe(1, ROUTE, ["r2"]));
    expect(told(whenInUse, type, CLUSTER)).toEqual([without(name), without("c1", "c2@1", "other@1")]);
  });

  test("are removed together with what may replace them", () => {
    const talk = serving();
    talk.change({ puts: [...moved, used(replacement, "other")], deletes: gone });
    const sent = variant === "delta" ? [`-${name}`, `${replacement}@1`] : [`${replacement}@1`];
    expect(told(talk.settle(), type)).toEqual([sent]);
  });

  test("go with what may replace them later", () => {
    const talk = serving();
    talk.change({ puts: moved, deletes: gone });
    expect(told(talk.settle(), type)).toEqual([]);
    talk.put(used(replacement, "other"));
    const sent = variant === "delta" ? [`-${name}`, `${replacement}@1`] : [`${replacement}@1`];
    expect(told(talk.settle(), type)).toEqual([sent]);
  });
});

test("a virtual host is removed at once as long as there is its route configuration", () => {
  const host = resource(HOST, "r1/a", "1", { references: [{ type: CLUSTER, name: "c1" }] });
  const talk = new Conversation();
  talk.put(plain("c1"), host, resource(ROUTE, "r1", "1"));
  talk.open(1, "delta");
  talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") }));
  talk.settle(talk.subscribe(1, ROUTE, ["r1"]));
  talk.settle(talk.subscribe(1, HOST));
  talk.change({ puts: [plain("c2")], deletes: [{ type: HOST, name: "r1/a" }] });
  expect(talk.turns().map(({ says }) => says)).toEqual([["c2@1"], ["-r1/a"]]);
});

test.each([
  ["a virtual host", HOST, "r1/a"],
  ["a scope that another one replaces", SCOPE, "a"],
] as const)("the removal of %s is one response for all clients", (_, type, name) => {
  const talk = new Conversation();
  talk.put(resource(ROUTE, "r1", "1"), resource(type, name, "1"));
  for (const stream of [1, 2]) {
    talk.open(stream, "delta");
    talk.settle(talk.subscribe(stream, type, [], { node: node(`n${stream}`, "envoy") }));
  }
  talk.change({ puts: [resource(type, `${name}b`, "1")], deletes: [{ type, name }] });
  const bodies = talk.machine.next(10).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []));
  expect(bodies.map(({ segments }) => segments.flatMap(({ removed }) => removed))).toEqual([[name], [name]]);
  expect(bodies[0]).toBe(bodies[1]);
});
