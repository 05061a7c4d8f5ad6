import { describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body, Segment } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import { namesIn, sizeOf } from "./body-names.ts";
import { Deliveries, type Delivery } from "./delivery.ts";

const no = { code: 3, message: "no" };
const empty: Segment = { puts: [], removed: [], missing: [] };

function bodyOf(...segments: readonly Partial<Segment>[]): Body {
  return {
    variant: "delta",
    type: CLUSTER,
    version: "v",
    segments: segments.map((segment) => ({ ...empty, ...segment })),
  };
}

function delivery(nonce: string, isInTurn = true, ...names: readonly string[]): Delivery {
  const body = bodyOf({ puts: names.map((name) => cluster(name, "1")) });
  return { nonce, body, revision: Number(nonce), from: Number(nonce) - 1, at: Number(nonce), isInTurn };
}

/** What was sent, oldest first. */
function sent(...deliveries: readonly Delivery[]): Deliveries {
  const all = new Deliveries();
  for (const one of deliveries) all.open(one);
  return all;
}

const nonces = (all: Deliveries): readonly string[] => all.pending.map((one) => one.nonce);

describe("deliveries", () => {
  test("are none at first", () => {
    const all = new Deliveries();
    expect([all.pending, all.lastSent, all.lastAcked, all.isRefused, all.wasAnswered, all.isBlocked]).toEqual([
      [],
      undefined,
      undefined,
      false,
      false,
      false,
    ]);
    expect(all.ack("1")).toBeUndefined();
    expect(all.wasAnswered).toBe(false);
    expect(all.describe()).toEqual({ pending: [], acked: undefined, nacked: undefined });
    expect(all.held).toBeUndefined();
  });

  test("S-TTL-14: say what the client holds: the newest that it did not refuse, or else what it accepted", () => {
    const full = (nonce: string): Delivery => ({
      ...delivery(nonce),
      body: { ...bodyOf({ puts: [cluster("a", nonce)] }), variant: "sotw" as const },
    });
    const [one, two] = [full("1"), full("2")];
    const all = sent(one);
    expect(all.held).toBe(one.body);
    all.ack("1");
    all.open(two);
    expect(all.held).toBe(two.body);
    all.nack("2", no);
    expect(all.held).toBe(one.body);
    all.open({ ...delivery("3"), body: one.body, isHeartbeat: true });
    expect([all.held, all.unanswered]).toEqual([one.body, 0]);
    all.nack("3", no);
    expect(all.held).toBeUndefined();
    const never = sent(one);
    never.nack("1", no);
    expect(never.held).toBeUndefined();
  });

  test("are settled by an ACK, with every older one (S-DLT-07)", () => {
    const [one, two, three] = [delivery("1"), delivery("2"), delivery("3")];
    const all = sent(one, two, three);
    expect([all.lastSent, all.isBlocked]).toEqual([three, true]);
    expect(all.ack("2")).toBe(two);
    expect([nonces(all), all.lastAcked, all.wasAnswered, all.isRefused]).toEqual([["3"], two, true, false]);
    expect(all.ack("1")).toBeUndefined();
    expect(all.ack("2")).toBeUndefined();
    expect(all.ack("9")).toBeUndefined();
    expect(all.lastAcked).toBe(two);
    expect(all.ack("3")).toBe(three);
    expect(all.isBlocked).toBe(false);
  });

  test("are refused one by one", () => {
    const [one, two] = [delivery("1"), delivery("2")];
    const all = sent(one, two);
    expect(all.nack("2", no)).toBe(two);
    expect([nonces(all), all.isRefused, all.wasAnswered]).toEqual([["1"], true, true]);
    expect(all.nack("2", no)).toBeUndefined();
    expect(all.nack("1", no)).toBe(one);
    expect([nonces(all), all.isRefused]).toEqual([[], false]);
    expect(all.nack("9", no)).toBeUndefined();
  });

  test("may be refused after a newer one was accepted, once, and after they were accepted themselves", () => {
    const [one, two] = [delivery("1"), delivery("2")];
    const all = sent(one, two);
    all.ack("2");
    expect(all.nack("1", no)).toBe(one);
    expect(all.nack("1", no)).toBeUndefined();
    expect(all.nack("2", no)).toBe(two);
    expect(all.isRefused).toBe(true);
    expect(all.lastAcked).toBe(two);
  });

  test("that were accepted by implication are remembered, sixteen of them", () => {
    const all = sent(...Array.from({ length: 20 }, (_, i) => delivery(String(i + 1))));
    all.ack("10");
    all.ack("20");
    // 1 to 9 and 11 to 19 were implied: the newest sixteen are 3 to 9 and 11 to 19.
    expect(all.nack("2", no)).toBeUndefined();
    expect(all.nack("3", no)?.nonce).toBe("3");
    expect(all.nack("19", no)?.nonce).toBe("19");
  });

  test("are not refused any more once something is accepted", () => {
    const all = sent(delivery("1"), delivery("2"));
    all.nack("1", no);
    expect(all.describe().nacked?.nonce).toBe("1");
    all.ack("2");
    expect(all.describe().nacked).toBeUndefined();
  });

  test("that are parts of one answer are settled each by itself, and a refused one is not forgotten for the others", () => {
    const [one, two] = ["1", "2"].map((nonce) => ({ ...delivery(nonce), at: 7 }));
    const all = sent(delivery("0"), ...[one, two].flatMap((part) => part ?? []));
    expect(["0", "1", "2", "9"].map((nonce) => all.earlierPart(nonce))).toEqual([undefined, one, undefined, undefined]);
    all.nack("1", no);
    expect(all.earlierPart("1")).toBeUndefined();
    all.ack("2");
    expect([nonces(all), all.describe().nacked?.nonce]).toEqual([[], "1"]);
    all.open(delivery("3"));
    all.ack("3");
    expect(all.describe().nacked).toBeUndefined();
  });

  test("count as answered as soon as the client refuses anything, known or not", () => {
    const all = new Deliveries();
    all.nack("strange", no);
    expect(all.wasAnswered).toBe(true);
  });

  test("hold newer content up only if they were in turn, and not once their time is over", () => {
    const all = sent(delivery("1", false));
    expect(all.isBlocked).toBe(false);
    all.open(delivery("2"));
    expect(all.isBlocked).toBe(true);
    all.release();
    expect(all.isBlocked).toBe(false);
    all.open(delivery("3", false));
    expect(all.isBlocked).toBe(true);
  });

  test("are all closed at once where a refusal closes the older ones too", () => {
    const all = sent(delivery("1"), delivery("2"));
    all.nack("2", no);
    all.settleOlder();
    expect([nonces(all), all.isBlocked]).toEqual([[], false]);
    expect(all.nack("1", no)).toBeUndefined();
  });

  test("know what names they may yet bring", () => {
    const all = sent(delivery("1", true, "a", "b"), delivery("2", true, "c"));
    expect([["a"], ["x", "c"], ["x"], []].map((names) => all.mayBring(names))).toEqual([true, true, false, false]);
    all.ack("1");
    expect([["a"], ["c"]].map((names) => all.mayBring(names))).toEqual([false, true]);
  });

  test("are not walked through for each name that is asked about", () => {
    const looks = (count: number): number => {
      let looked = 0;
      const put = (index: number): Resource => ({
        ...cluster("", "1"),
        get name() {
          looked++;
          return `name-${index}`;
        },
      });
      const body = bodyOf({ puts: Array.from({ length: count }, (_, index) => put(index)) });
      // Two clients are sent the same.
      for (const all of [sent({ ...delivery("1"), body }), sent({ ...delivery("1"), body })]) {
        const asked = Array.from({ length: 2 * count }, (_, index) => `name-${index}`);
        expect(asked.filter((name) => all.mayBring([name]))).toEqual(asked.slice(0, count));
        all.open(delivery("2", true, "later"));
        expect(["later", "name-0", "no"].map((name) => all.mayBring([name]))).toEqual([true, true, false]);
        all.ack("2");
        expect(all.mayBring(["name-0"])).toBe(false);
      }
      return looked;
    };
    expect([500, 1_000].map((count) => looks(count) < 6 * count)).toEqual([true, true]);
  });

  test("S-ORD-06: bring resources up to the oldest that is not ACKed; a rejected removal brings none", () => {
    const removal = (nonce: string): Delivery => ({ ...delivery(nonce), body: bodyOf({ removed: ["r"] }) });
    const upTo = (all: Deliveries): readonly number[] => [all.answeredTo, all.broughtTo, all.refusedFrom];
    const all = sent(removal("1"), delivery("2", true, "a"), delivery("3", true, "b"));
    expect(upTo(all)).toEqual([0, 1, Infinity]);
    all.nack("1", no);
    expect(upTo(all)).toEqual([1, 1, 0]);
    all.ack("3");
    expect(upTo(all)).toEqual([Infinity, Infinity, 0]);
    all.open(delivery("4", true, "c"));
    all.nack("4", no);
    expect(upTo(all)).toEqual([Infinity, 0, 0]);
    all.open(delivery("5", true, "c", "r"));
    all.ack("5");
    expect(upTo(all)).toEqual([Infinity, Infinity, Infinity]);
  });

  test("describe themselves, with the names that were refused", () => {
    const all = sent(delivery("1", true, "a"), delivery("2", true, "b", "c"), delivery("3"));
    all.ack("1");
    all.nack("2", no);
    const version = "v";
    expect(all.describe()).toEqual({
      pending: [{ nonce: "3", version, revision: 3, resources: 0, removed: 0 }],
      acked: { nonce: "1", version, revision: 1, resources: 1, removed: 0 },
      nacked: { nonce: "2", version, revision: 2, resources: 2, removed: 0, error: no, names: ["b", "c"] },
    });
  });
});

describe("a body", () => {
  test("is described by its names in its order, and by its size", () => {
    const body = bodyOf(
      { puts: [cluster("a", "1")], removed: ["r"], missing: ["m"] },
      { puts: [cluster("b", "1")], removed: ["s", "t"] },
    );
    expect(namesIn(body)).toEqual(["a", "r", "m", "b", "s", "t"]);
    expect(sizeOf(body)).toEqual({ resources: 3, removed: 3 });
  });

  test("is described by a hundred names at most", () => {
    const many = Array.from({ length: 101 }, (_, i) => `n${i}`);
    expect(namesIn(bodyOf({ puts: many.map((name) => cluster(name, "1")) }))).toEqual(many.slice(0, 100));
    expect(namesIn(bodyOf({ removed: many }))).toEqual(many.slice(0, 100));
    expect(namesIn(bodyOf({ puts: [cluster("a", "1")], missing: many })).length).toBe(100);
  });
});
