import { formatTypeUrl, type Reference, type Resource, type TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, ROUTE, resource, routeTo, SECRET, traits } from "./support/resources.ts";
import { waitsOf } from "./support/swap.ts";

type Variant = "delta" | "sotw";

const first = { node: node("n", "envoy") };
const to = (type: TypeUrl, name: string): Reference => ({ type, name });
const cluster = (name: string, ...references: readonly Reference[]): Resource =>
  resource(CLUSTER, name, references.map((one) => one.name).join(), { references });
const endpoints = (name: string): Resource => resource(ENDPOINTS, name, "1");
const secret = (name: string): Resource => resource(SECRET, name, "1");

/**
 * An Envoy in sync with a stream for each type: 1 for Clusters, 2 for Listeners, 3 for routes, 4 for endpoints. Its route
 * goes to `old`, and one more Cluster has TLS with the secret `s0`, on stream 5. Stream 6 is for another secret.
 */
function separate(variant: Variant, ...more: readonly Resource[]): Conversation {
  const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
  talk.put(plain("old"), routeTo("old"), cluster("tls", to(ENDPOINTS, "tls"), to(SECRET, "s0")), endpoints("tls"));
  talk.put(secret("s0"), ...more);
  for (const [i, [type, names]] of (
    [
      [CLUSTER, []],
      [LISTENER, []],
      [ROUTE, ["r"]],
      [ENDPOINTS, ["tls"]],
      [SECRET, ["s0"]],
    ] as const
  ).entries()) {
    talk.open(i + 1, variant, type, 1);
    talk.settle(talk.subscribe(i + 1, type, names, first));
  }
  talk.open(6, variant, SECRET, 1);
  return talk;
}

describe.each(["delta", "sotw"] as const)("S-ORD-01: on a stream for each type, in %s, a route", (variant) => {
  test("waits until its Cluster has its secret, which Envoy requests after the endpoints", () => {
    const talk = separate(variant);
    talk.put(cluster("new", to(ENDPOINTS, "new"), to(SECRET, "s1")), endpoints("new"), secret("s1"), routeTo("new"));
    talk.turns();
    talk.ack(1, CLUSTER);
    talk.subscribe(4, ENDPOINTS, ["new"]);
    expect(says(talk.ack(4, ENDPOINTS))).toEqual([]);
    expect(says(talk.subscribe(6, SECRET, ["s1"], first))).toEqual([["s1@1"]]);
    expect(says(talk.ack(6, SECRET))).toEqual([["r@new"]]);
  });

  test("waits for the secret of a Cluster that needs no endpoints", () => {
    const talk = separate(variant);
    talk.put(cluster("new", to(SECRET, "s1")), secret("s1"), routeTo("new"));
    talk.turns();
    expect(says(talk.ack(1, CLUSTER))).toEqual([]);
    talk.subscribe(6, SECRET, ["s1"], first);
    expect(says(talk.ack(6, SECRET))).toEqual([["r@new"]]);
  });

  test("does not wait for a secret that the client has, or that may come from another server", () => {
    const sentAfter = (name: string): readonly (readonly string[])[] => {
      const talk = separate(variant);
      talk.put(cluster("new", to(SECRET, name)), routeTo("new"));
      talk.turns();
      return says(talk.ack(1, CLUSTER));
    };
    expect([sentAfter("s0"), sentAfter("elsewhere")]).toEqual([[["r@new"]], [["r@new"]]]);
  });
});

/** The client has what refers to `s0`, whose next version refers to `s1`; that does not exist. It requests `s1`. */
describe("S-NEX-06: the absence of a secret", () => {
  test("is not told while a Cluster in use waits for it, though its endpoints are ACKed", () => {
    const talk = separate("delta");
    talk.put(cluster("tls", to(ENDPOINTS, "tls"), to(SECRET, "s1")));
    talk.turns();
    for (const said of talk.ack(1, CLUSTER)) talk.ack(said.stream, said.type, said.nonce);
    expect(says(talk.subscribe(6, SECRET, ["s1"], first))).toEqual([]);
    talk.put(secret("s1"));
    expect(says(talk.turns())).toEqual([["s1@1"]]);
  });

  describe.each(["aggregated", "separate"] as const)("of a Listener (%s)", (kind) => {
    const listener = (name: string, by: string): Resource =>
      resource(LISTENER, name, by, { references: [to(SECRET, by)] });

    /** The streams of Listeners and of another secret, and what Listeners refer to `s0`. */
    function serving(): readonly [Conversation, number, number] {
      if (kind === "separate") return [separate("delta", listener("l", "s0")), 2, 6];
      const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
      talk.put(plain("old"), listener("l", "s0"), secret("s0"));
      talk.open(1, "delta");
      talk.settle(talk.subscribe(1, CLUSTER, [], first));
      talk.settle(talk.subscribe(1, LISTENER));
      talk.settle(talk.subscribe(1, SECRET, ["s0"]));
      return [talk, 1, 1];
    }

    test("that is in use is not told before the limit", () => {
      const [talk, listeners, secrets] = serving();
      talk.put(listener("l", "s1"));
      talk.turns();
      talk.ack(listeners, LISTENER);
      expect(says(talk.subscribe(secrets, SECRET, ["s1"], first))).toEqual([]);
      expect(says(talk.pass(10_000))).toEqual([["-s1"]]);
    });

    test("that is new is told at once", () => {
      const [talk, listeners, secrets] = serving();
      talk.put(listener("another", "s1"));
      talk.turns();
      talk.ack(listeners, LISTENER);
      expect(says(talk.subscribe(secrets, SECRET, ["s1"], first))).toEqual([["-s1"]]);
    });
  });
});

test("a Cluster whose secret is not there is not used, though its endpoints are accepted", () => {
  const talk = new Conversation({ dialect: { orderLimitMs: 30_000 } });
  const missing = { type: formatTypeUrl("acme.Secret"), name: "s" };
  talk.put(plain("old"), routeTo("old"), resource(ENDPOINTS, "new", "1"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n", "envoy") });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
  const fresh = resource(CLUSTER, "new", "1", { references: [{ type: ENDPOINTS, name: "new" }, missing] });
  talk.put(fresh, routeTo("new"));
  expect(says(talk.turns())).toEqual([["new@1"]]);
  expect(says(talk.subscribe(1, ENDPOINTS, ["new"]))).toEqual([["new@1"]]);
  talk.ack(1, ENDPOINTS);
  for (let second = 0; second < 29; second++) {
    expect(says(talk.pass(1_000))).toEqual([]);
  }
  expect(waitsOf(talk)).toMatchObject([{}, {}, { wait: { for: "cluster", name: "new" } }]);
});

test("a route waits for the secret of its Cluster, if the client asks here for that", () => {
  const ownType = formatTypeUrl("acme.Secret");
  const known = (type: typeof ownType): ReturnType<typeof traits> =>
    type === ownType ? { type, kind: "sds", isFullState: false, owes: [] } : traits(type);
  const talk = new Conversation({ traits: known });
  talk.put(plain("old"), routeTo("old"));
  talk.open(1, "delta");
  talk.subscribe(1, CLUSTER, [], { node: node("n") });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
  talk.put(resource(CLUSTER, "new", "1", { references: [{ type: ownType, name: "s" }] }), routeTo("new"));
  expect(says(talk.turns())).toEqual([["new@1"]]);
  expect(says(talk.subscribe(1, ownType, ["s"]))).toEqual([["-s"]]);
  talk.ack(1, ownType);
  expect(says(talk.ack(1, CLUSTER))).toEqual([]);
  expect(waitsOf(talk)).toMatchObject([{}, {}, { wait: { for: "secret", name: "new" } }]);
  talk.put(resource(ownType, "s", "1"));
  expect(says(talk.turns())).toEqual([["s@1"], ["r@new"]]);
});
