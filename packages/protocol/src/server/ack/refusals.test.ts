import { describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body, Segment } from "../../message/body.ts";
import { Subscription } from "../subscription/subscription.ts";
import { everyName, namesIn, sizeOf } from "./body-names.ts";
import { Deliveries, type Delivery, type RefusalMemory } from "./delivery.ts";

const no = { code: 3, message: "no" };
const nothing: Segment = { puts: [], removed: [], missing: [] };

function subscribed(...names: readonly string[]): Subscription {
  const subscription = new Subscription({ legacyWildcard: false, wildcardSticky: false });
  subscription.replace(names);
  return subscription;
}

function bodyOf(segment: Partial<Segment>, more: Partial<Body> = {}): Body {
  return { variant: "delta", type: CLUSTER, version: "v", segments: [{ ...nothing, ...segment }], ...more };
}

/** A response with these Clusters, sent at the revision of its nonce to a client that subscribed to `asks`. */
function delivery(
  nonce: string,
  names: readonly string[],
  { asks = ["*"], ...more }: Partial<Delivery> & { readonly asks?: readonly string[] } = {},
): Delivery {
  const body = bodyOf({ puts: names.map((name) => cluster(name, nonce)) });
  const [revision, asked] = [Number(nonce), subscribed(...asks).scope];
  return { nonce, body, revision, from: revision - 1, at: revision, isInTurn: true, asked, ...more };
}

function sent(all: Deliveries, ...deliveries: readonly Delivery[]): Deliveries {
  for (const one of deliveries) all.open(one);
  return all;
}

describe("the revision that a client answered", () => {
  test("is the one before its oldest response without ACK or NACK; heartbeats do not count", () => {
    const all = sent(
      new Deliveries(),
      delivery("5", ["a"]),
      delivery("3", ["b"]),
      delivery("1", ["b"], { isHeartbeat: true }),
    );
    expect([all.answeredTo, all.unanswered]).toEqual([2, 2]);
    all.nack("3", no);
    expect([all.answeredTo, all.unanswered]).toEqual([4, 1]);
    all.ack("5");
    expect([all.answeredTo, all.unanswered]).toEqual([Number.POSITIVE_INFINITY, 0]);
    all.open(delivery("7", ["a"], { from: undefined }));
    expect(all.answeredTo).toBe(-1);
  });
});

describe("S-ORD-06: a NACK counts from the revision before its response", () => {
  test("the oldest that still does, until each of its names was ACKed in another response", () => {
    const all = sent(new Deliveries(), delivery("5", ["a", "b"]), delivery("3", ["c"]));
    expect(all.refusedFrom).toBe(Number.POSITIVE_INFINITY);
    all.nack("5", no);
    expect(all.refusedFrom).toBe(4);
    all.nack("3", no);
    expect(all.refusedFrom).toBe(2);
    for (const [nonce, names, refusedFrom] of [
      ["6", ["a", "c"], 2],
      ["7", ["b"], Number.POSITIVE_INFINITY],
    ] as const) {
      all.open(delivery(nonce, names));
      all.ack(nonce);
      expect(all.refusedFrom).toBe(refusedFrom);
    }
    all.open(delivery("9", ["a"], { from: undefined }));
    all.nack("9", no);
    expect(all.refusedFrom).toBe(-1);
  });

  test("removals, missing names and errors count too, and a resource clears the names that are its aliases", () => {
    const body = bodyOf({ removed: ["r"], missing: ["m"], errors: [cluster("e", "1")] });
    const all = sent(new Deliveries(), delivery("5", [], { body }));
    all.nack("5", no);
    for (const [nonce, cleared, refusedFrom] of [
      ["6", { removed: ["r"] }, 4],
      ["7", { errors: [cluster("e", "2")] }, 4],
      ["8", { puts: [{ ...cluster("x", "1"), aliases: ["m"] }] }, Number.POSITIVE_INFINITY],
    ] as const) {
      all.open(delivery(nonce, [], { body: bodyOf(cleared) }));
      all.ack(nonce);
      expect(all.refusedFrom).toBe(refusedFrom);
    }
  });

  test("if rejected as a whole, until any response was ACKed, or nothing of it is subscribed to", () => {
    const all = sent(new Deliveries("whole"), delivery("5", ["a", "b"], { asks: ["a", "b"] }));
    all.nack("5", no);
    all.forgive(["a"], subscribed("b"));
    expect(all.refusedFrom).toBe(4);
    all.forgive(["b"], subscribed("c"));
    expect(all.refusedFrom).toBe(Number.POSITIVE_INFINITY);
    sent(all, delivery("6", ["a"])).nack("6", no);
    all.forgive([], subscribed("*"));
    expect(all.refusedFrom).toBe(5);
    sent(all, delivery("7", ["c"])).ack("7");
    expect(all.refusedFrom).toBe(Number.POSITIVE_INFINITY);
  });

  test("until the client unsubscribed from all of its names", () => {
    const all = sent(new Deliveries(), delivery("5", ["a", "b"], { asks: ["a", "b"] }));
    all.nack("5", no);
    all.forgive(["a"], subscribed("b", "c"));
    expect(all.refusedFrom).toBe(4);
    all.forgive(["b"], subscribed("c"));
    expect(all.refusedFrom).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([
    ["a wildcard that is left", ["*"], ["other"], Number.POSITIVE_INFINITY],
    ["a wildcard that lasts", ["*"], ["*"], 4],
    ["its name that is given up", ["gone"], ["other"], Number.POSITIVE_INFINITY],
    ["its name that lasts", ["gone"], ["gone"], 4],
    ["perhaps an alias, of which one lasts", ["x", "y"], ["y"], 4],
    ["perhaps an alias, of which none lasts", ["x", "y"], ["other"], Number.POSITIVE_INFINITY],
  ])("a removal that was subscribed to by %s", (_, asks, left, refusedFrom) => {
    const all = sent(new Deliveries(), delivery("5", [], { asks, body: bodyOf({ removed: ["gone"] }) }));
    all.nack("5", no);
    all.forgive([], subscribed(...left));
    expect(all.refusedFrom).toBe(refusedFrom);
  });

  test("unless it is a heartbeat that is NACKed", () => {
    const all = sent(new Deliveries(), delivery("5", ["a"], { isHeartbeat: true }));
    expect(all.nack("5", no)?.nonce).toBe("5");
    expect([all.refusedFrom, all.refusalOf("a"), all.describe().nacked]).toEqual([
      Number.POSITIVE_INFINITY,
      undefined,
      undefined,
    ]);
  });
});

describe("S-TTL-16: a NACKed heartbeat of State of the World", () => {
  const full = bodyOf({ puts: [cluster("a", "1")] }, { variant: "sotw" });

  test("is the NACK of the content that it repeats, if that has no ACK or NACK yet", () => {
    const [content, repeated] = [
      delivery("1", [], { body: full }),
      delivery("2", [], { body: full, isHeartbeat: true, isInTurn: false }),
    ];
    const all = sent(new Deliveries(), content, repeated);
    expect(all.nack("2", no)).toBe(content);
    expect([all.pending, all.refusedFrom, all.held]).toEqual([[], 0, undefined]);
  });

  test("says nothing of content if none was sent", () => {
    const all = sent(new Deliveries(), delivery("1", [], { body: full, isHeartbeat: true }));
    expect([all.nack("1", no)?.nonce, all.held, all.refusedFrom]).toEqual(["1", undefined, Number.POSITIVE_INFINITY]);
  });

  test("says that the client no longer holds what it had ACKed, but does not replace a NACK of content", () => {
    const all = sent(new Deliveries(), delivery("1", [], { body: full }));
    all.ack("1");
    sent(all, delivery("2", ["b"])).nack("2", { code: 4, message: "content" });
    sent(all, delivery("3", [], { body: full, isHeartbeat: true })).nack("3", no);
    expect(all.held).toBeUndefined();
    expect(all.describe().nacked?.error.message).toBe("content");
    expect(all.refusalOf("a")?.nonce).toBe("3");
    sent(all, delivery("4", ["a"])).ack("4");
    expect([all.held?.segments[0]?.puts.map(({ name }) => name), all.describe().nacked]).toEqual([["a"], undefined]);
  });
});

describe("S-TTL-09: names that a client may no longer hold", () => {
  const told = (name: string): Body => bodyOf({ puts: [cluster(name, "1")] }, { ttls: "told" });

  test("are those of a NACKed response with TTLs, until they are ACKed or unsubscribed from", () => {
    const all = sent(
      new Deliveries(),
      delivery("1", [], { body: told("a") }),
      delivery("2", [], { body: told("b") }),
      delivery("3", [], { body: told("c") }),
      delivery("4", ["d"]),
    );
    for (const nonce of ["1", "2", "3", "4"]) all.nack(nonce, no);
    expect([...all.unconfirmed]).toEqual(["a", "b", "c"]);
    all.forgive(["b"], subscribed("*"));
    expect([...all.unconfirmed]).toEqual(["a", "c"]);
    sent(all, delivery("5", ["a", "b", "d"])).ack("5");
    expect([...all.unconfirmed]).toEqual(["c"]);
  });

  test("are none that such a response removes, or says are missing", () => {
    const gone = bodyOf({ puts: [cluster("a", "2")], removed: ["b"], missing: ["c"] }, { ttls: "told" });
    const all = sent(new Deliveries(), delivery("1", [], { body: told("b") }), delivery("2", [], { body: gone }));
    for (const nonce of ["1", "2"]) all.nack(nonce, no);
    expect([...all.unconfirmed]).toEqual(["a"]);
  });
});

describe("a response that was trimmed after its ACK", () => {
  const body = bodyOf({ puts: [cluster("a", "1")], removed: ["r", "asked"], missing: ["m"] });
  const absences = { answered: new Set(["asked"]), counted: 2 };
  const trimmed = (memory?: RefusalMemory): { readonly all: Deliveries; readonly one: Delivery } => {
    const one = delivery("1", [], { body, absences, asks: ["a"] });
    const all = sent(new Deliveries(memory), one);
    all.ack("1");
    all.trim();
    return { all, one };
  };

  test("has no absences and no subscription, and its size as it was sent", () => {
    const { all, one } = trimmed();
    const { asked, absences: left, body: cut } = one;
    expect({ asked, left, names: [...everyName(cut)], settled: all.lastSettled }).toEqual({
      ...{ asked: undefined, left: undefined, names: ["a", "r"], settled: [] },
    });
    expect(all.describe().acked).toMatchObject({ resources: 2, removed: 2 });
  });

  test("can still be NACKed: what else it was about counts until that is given up", () => {
    const { all } = trimmed();
    all.nack("1", no, subscribed("a", "r").scope);
    expect([all.refusedFrom, all.namesKept]).toEqual([0, 1]);
    all.forgive(["a"], subscribed("r"));
    expect(all.refusedFrom).toBe(0);
    all.forgive(["r"], subscribed("other"));
    expect(all.refusedFrom).toBe(Number.POSITIVE_INFINITY);
  });

  test("can still be NACKed as a whole: it counts while anything is asked for that was when it was NACKed", () => {
    const { all } = trimmed("whole");
    all.nack("1", no, subscribed("a", "b").scope);
    all.forgive(["a"], subscribed("b"));
    expect(all.refusedFrom).toBe(0);
    all.forgive(["b"], subscribed("c"));
    expect(all.refusedFrom).toBe(Number.POSITIVE_INFINITY);
  });
});

test("S-TTL-09 as many as 16 heartbeats without ACK are remembered", () => {
  const all = sent(new Deliveries(), delivery("1", ["a"]));
  for (let nonce = 2; nonce <= 20; nonce++) sent(all, delivery(String(nonce), ["a"], { isHeartbeat: true }));
  expect(all.pending.map(({ nonce }) => Number(nonce))).toEqual([1, ...Array.from({ length: 16 }, (_, i) => 5 + i)]);
  expect([all.nack("4", no), all.ack("5")?.nonce, all.accepted?.nonce]).toEqual([undefined, "5", "1"]);
});

describe("a body", () => {
  const body = bodyOf({
    puts: [cluster("p", "1")],
    removed: ["r"],
    missing: ["m"],
    errors: [cluster("e", "1")],
    heartbeats: [
      { name: "h", version: "1", ttlMs: 1 },
      { name: "i", version: "1", ttlMs: 1 },
    ],
  });

  test("has names of all kinds, and a size that counts its heartbeats", () => {
    expect([...everyName(body)]).toEqual(["p", "r", "m", "e", "h", "i"]);
    expect(namesIn(body)).toEqual(["p", "r", "m", "e", "h", "i"]);
    expect(sizeOf(body)).toEqual({ resources: 4, removed: 1 });
  });

  test("shows the beginning of long names", () => {
    const [fits, long] = ["f".repeat(256), "l".repeat(257)];
    expect(namesIn(bodyOf({ removed: [fits, long] }))).toEqual([fits, `${"l".repeat(256)}…`]);
  });
});

describe("an ACK", () => {
  test("settles older responses too, which are listed; that of a heartbeat accepts no content", () => {
    const all = sent(new Deliveries(), delivery("1", ["a"]), delivery("2", ["b"]), delivery("3", ["c"]));
    expect([all.lastSettled, all.accepted]).toEqual([[], undefined]);
    all.ack("2");
    expect([all.lastSettled.map(({ nonce }) => nonce), all.accepted?.nonce]).toEqual([["1", "2"], "2"]);
    sent(all, delivery("4", ["c"], { isHeartbeat: true })).ack("3");
    all.ack("4");
    expect([all.lastSettled.map(({ nonce }) => nonce), all.accepted?.nonce, all.lastAcked?.nonce]).toEqual([
      ["4"],
      "3",
      "4",
    ]);
  });
});
