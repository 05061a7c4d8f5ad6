import { describe, expect, test } from "vitest";
import { shown } from "../../../test/support/layers.ts";
import { LISTENER, ROUTE } from "../../../test/support/resources.ts";
import { TypeClient } from "../../../test/support/type-streams.ts";
import { type HeldBackNames, nothingHeldBack } from "./held-back.ts";

/** A client whose names may be held back; it ACKs each answer unless the test leaves it out. */
class Client extends TypeClient {
  /** What is sent while these names are held back, in short. */
  sends(heldBack: HeldBackNames = nothingHeldBack): readonly (readonly string[])[] {
    return this.flush(heldBack).map(({ body }) =>
      body.segments.flatMap(({ puts, removed }) => [...puts.map(shown).sort(), ...removed.map((one) => `-${one}`)]),
    );
  }

  /** Whether the newest answer has the version that everybody has who was sent everything. */
  get hasCommonVersion(): boolean {
    const { version } = this.type.deliveries.lastSent?.body ?? {};
    return version === this.current.view.typeVersion(this.type.traits.type);
  }
}

const hold = (...names: readonly string[]): HeldBackNames => new Map(names.map((name) => [name, undefined]));
const variants = ["delta", "sotw"] as const;

describe.each(variants)("S-ORD-06: routes that are held back, in %s", (variant) => {
  const routes = (...names: readonly string[]): Client => {
    const client = new Client(variant, ROUTE, ...names);
    client.put("a1", "b1");
    return client;
  };

  test("are left out of the first answer, which is none if it has nothing else, and follow once they are let go", () => {
    const client = routes("a", "b");
    expect([client.sends(hold("a")), client.ack().sends(hold("a"))]).toEqual([[["b@1"]], []]);
    expect([client.sends(), client.ack().sends()]).toEqual([[["a@1"]], []]);
    const both = routes("a", "b");
    expect([both.sends(hold("a", "b")), both.sends(hold("b")), both.ack().sends()]).toEqual([[], [["a@1"]], [["b@1"]]]);
  });

  test("may be sent as they were before, at first and later", () => {
    const client = routes("a", "b");
    const target = (label: string): HeldBackNames =>
      new Map([["a", { resource: client.one("a", label), revision: 0 }]]);
    expect(client.sends(target("0"))).toEqual([["a@0", "b@1"]]);
    client.put("a3", "b2");
    expect(client.ack().sends(target("2"))).toEqual([["a@2", "b@2"]]);
    expect(client.ack().sends()).toEqual([["a@3"]]);
    expect(client.ack().sends()).toEqual([]);
  });

  test("keep nothing else back, and are not sent at all if they are again as the client has them", () => {
    const client = routes("a", "b");
    client.sends();
    client.ack().put("a2", "b2");
    expect(client.sends(hold("a"))).toEqual([["b@2"]]);
    client.ack().put("b3");
    expect(client.sends(hold("a"))).toEqual([["b@3"]]);
    client.ack().put("a1");
    expect(client.sends()).toEqual([]);
    client.put("a2");
    expect(client.sends(hold("a"))).toEqual([]);
    expect(client.sends()).toEqual([["a@2"]]);
  });

  test("are answered when they are let go if they were asked for meanwhile, whether or not an answer is in flight", () => {
    const client = routes("a", "b");
    client.sends();
    client.ack().put("c1", "d1");
    client.subscribe("c", "d");
    expect([client.sends(hold("c")), client.ack().sends(hold("c"))]).toEqual([[["d@1"]], []]);
    expect([client.sends(), client.ack().sends()]).toEqual([[["c@1"]], []]);
    client.put("a2", "e1", "f1");
    expect(client.sends()).toEqual([["a@2"]]);
    client.subscribe("e", "f", "x");
    expect(client.sends(hold("e"))).toEqual(variant === "delta" ? [["f@1", "-x"]] : [["f@1"]]);
    expect(client.sends(hold("e"))).toEqual([]);
    client.ack();
    expect(client.sends(hold("e"))).toEqual([]);
    expect([client.sends(), client.ack().sends()]).toEqual([[["e@1"]], []]);
  });
});

describe.each(variants)("B-XTP-05: a member of a collection that is held back, in %s", (variant) => {
  const collection = "xdstp://x/envoy.config.route.v3.RouteConfiguration/d";
  const [held, other] = [`${collection}/a`, `${collection}/b`];

  test.each([
    ["while nothing is in flight", true],
    ["while an answer is in flight", false],
  ])("leaves its collection to be answered once more: asked for %s", (_, isSettled) => {
    const client = new Client(variant, ROUTE, "r");
    client.put("r1");
    client.sends();
    if (isSettled) client.ack();
    client.putAll(client.one(held, "1"));
    client.putAll(client.one(other, "1"));
    client.subscribe(`${collection}/*`);
    expect(client.sends(hold(held))).toEqual([[`${other}@1`]]);
    client.ack();
    expect(client.sends(hold(held)).flat()).not.toContain(`${held}@1`);
    client.ack();
    expect(client.sends().flat()).toContain(`${held}@1`);
    expect(client.ack().sends()).toEqual([]);
  });
});

describe("S-ORD-06: Listeners that are held back, in State of the World", () => {
  const listeners = (): Client => {
    const client = new Client("sotw", LISTENER);
    client.put("a1", "b1");
    client.sends();
    return client.ack();
  };

  test("stay as the client has them in what it is sent, under a version of its own", () => {
    const client = listeners();
    client.put("a2", "b2", "c2");
    expect([client.sends(hold("a", "c")), client.hasCommonVersion]).toEqual([[["a@1", "b@2"]], false]);
    expect(client.ack().sends(hold("a", "c"))).toEqual([]);
    expect([client.sends(hold("c")), client.hasCommonVersion]).toEqual([[["a@2", "b@2"]], false]);
    expect([client.ack().sends(), client.hasCommonVersion]).toEqual([[["a@2", "b@2", "c@2"]], true]);
  });

  test("may be sent as they were in between", () => {
    const client = listeners();
    client.put("a3");
    const target = new Map([["a", { resource: client.one("a", "2"), revision: 1 }]]);
    expect([client.sends(target), client.hasCommonVersion]).toEqual([[["a@2", "b@1"]], false]);
    expect([client.ack().sends(target), client.sends(), client.hasCommonVersion]).toEqual([
      ...[[], [["a@3", "b@1"]], true],
    ]);
  });

  test("are left out of the first answer", () => {
    const client = new Client("sotw", LISTENER);
    client.put("a1", "b1");
    expect([client.sends(hold("a")), client.ack().sends()]).toEqual([[["b@1"]], [["a@1", "b@1"]]]);
    const none = new Client("sotw", LISTENER);
    none.put("a1");
    expect([none.sends(hold("a")), none.sends()]).toEqual([[], [["a@1"]]]);
  });

  test("leave an answer to whoever asks, though nothing else changed", () => {
    const client = new Client("sotw", LISTENER, "a");
    client.put("a1", "b1", "c1");
    client.sends();
    client.ack().put("a2");
    client.subscribe("b");
    expect(client.sends(hold("a"))).toEqual([["a@1", "b@1"]]);
    client.ack();
    client.subscribe("x");
    expect(client.sends(hold("a"))).toEqual([["a@1", "b@1"]]);
    expect(client.ack().sends(hold("a"))).toEqual([]);
    client.subscribe("*");
    expect(client.sends(hold("a"))).toEqual([["a@1", "b@1", "c@1"]]);
  });
});
