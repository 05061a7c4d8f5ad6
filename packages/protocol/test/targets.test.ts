import type { Resource, Variant } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, node, type Said, says } from "./support/conversation.ts";
import { CLUSTER, HOST, LISTENER, plain, ROUTE, resource } from "./support/resources.ts";

const using = (type: typeof ROUTE, name: string, label: string, ...clusters: readonly string[]): Resource =>
  resource(type, name, label, { references: clusters.map((each) => ({ type: CLUSTER, name: each })) });
const variants = ["sotw", "delta"] as const;

/** A client of Clusters and of what uses them. */
function clientOf(variant: Variant, ...puts: readonly Resource[]): Conversation {
  const talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
  talk.put(...puts);
  talk.open(1, variant);
  talk.subscribe(1, CLUSTER, [], { node: node("n") });
  talk.ack(1, CLUSTER);
  return talk;
}

/** In sync, with one user of the Cluster `old`. */
function inSync(variant: Variant, type = ROUTE): Conversation {
  const talk = clientOf(variant, plain("old"), using(type, "u", "0", "old"));
  talk.subscribe(1, type, type === ROUTE ? ["u"] : []);
  talk.ack(1, type);
  return talk;
}

function put(talk: Conversation, ...puts: readonly Resource[]): unknown {
  talk.put(...puts);
  return says(talk.turns());
}

const overdue = (talk: Conversation): number => talk.reports.filter(({ kind }) => kind === "order-overdue").length;

const withTypes = variants.flatMap((variant) => [
  { variant, type: ROUTE, is: "a route" },
  { variant, type: LISTENER, is: "a Listener" },
]);

describe.each(withTypes)("S-ORD-06 $is that waits, in $variant, and Clusters that keep coming", ({ variant, type }) => {
  test("is told as it was when its wait began, and then as it is", () => {
    const talk = inSync(variant, type);
    put(talk, plain("a"), using(type, "u", "1", "old", "a"));
    expect(put(talk, plain("b"), using(type, "u", "2", "old", "a", "b"))).toEqual([]);
    expect(put(talk, plain("c"), using(type, "u", "3", "old", "a", "b", "c"))).toEqual([]);
    const clusters = variant === "sotw" ? ["old@1", "a@1", "b@1", "c@1"] : ["b@1", "c@1"];
    const [all, mixed] = talk.ack(1, CLUSTER);
    expect([all?.says, mixed?.says]).toEqual([clusters, ["u@1"]]);
    expect(talk.ack(1, type)).toEqual([]);
    const newest = talk.ack(1, CLUSTER);
    expect(says(newest)).toEqual([["u@3"]]);
    // A client that came back with the older one would not be taken for one that has the newest.
    if (variant === "sotw" && type === LISTENER) expect(newest[0]?.version).not.toBe(mixed?.version);
    expect([talk.ack(1, type), overdue(talk)]).toEqual([[], 0]);
  });

  test("is not told what an edit took back", () => {
    const talk = inSync(variant, type);
    put(talk, plain("a"), using(type, "u", "1", "a"));
    put(talk, plain("b"), using(type, "u", "2", "b"));
    const clusters = variant === "sotw" ? ["old@1", "a@1", "b@1"] : ["b@1"];
    expect(says(talk.ack(1, CLUSTER))).toEqual([clusters]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["u@2"]]);
  });

  test("follows where each edit takes the one before back", () => {
    const talk = inSync(variant, type);
    const told: Said[] = [];
    for (let n = 1; n <= 24; n++) {
      talk.put(plain(`c${n}`), using(type, "u", `${n}`, `c${n}`));
      const said = [...talk.turns(), ...(n % 3 === 0 ? talk.ack(1, CLUSTER) : [])].filter((one) => one.type === type);
      if (said.length > 0) talk.ack(1, type);
      told.push(...said);
    }
    expect(says(told)).toEqual([["u@4"], ["u@12"], ["u@18"]]);
  });

  test("is not told as it was if a Cluster that it would use is gone by now", () => {
    const talk = inSync(variant, type);
    put(talk, plain("a"), plain("b"), using(type, "u", "1", "a", "b"));
    talk.put(plain("c"), using(type, "u", "2", "a", "b", "c"));
    talk.delete(CLUSTER, "b");
    talk.turns();
    const clusters = variant === "sotw" ? ["old@1", "a@1", "c@1", "b@1"] : ["c@1"];
    expect(says(talk.ack(1, CLUSTER))).toEqual([clusters]);
    expect(says(talk.ack(1, CLUSTER)).at(-1)).toEqual(["u@2"]);
  });

  test("may go on using a Cluster that is gone as long as the client is not told so", () => {
    const talk = inSync(variant, type);
    put(talk, plain("a"), using(type, "u", "1", "old", "a"));
    talk.put(plain("b"), using(type, "u", "2", "a", "b"));
    talk.delete(CLUSTER, "old");
    talk.turns();
    const clusters = variant === "sotw" ? ["a@1", "b@1", "old@1"] : ["b@1"];
    expect(says(talk.ack(1, CLUSTER))).toEqual([clusters, ["u@1"]]);
    expect(talk.ack(1, type)).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual([["u@2"]]);
    expect(says(talk.ack(1, type))).toEqual([variant === "sotw" ? ["a@1", "b@1"] : ["-old"]]);
  });

  test("starts over the time that it may take whenever it is told something", () => {
    const talk = inSync(variant, type);
    put(talk, plain("a"), using(type, "u", "1", "old", "a"));
    put(talk, plain("b"), using(type, "u", "2", "old", "a", "b"));
    talk.ack(1, CLUSTER);
    talk.ack(1, type);
    put(talk, plain("c"), using(type, "u", "3", "old", "a", "b", "c"));
    expect(overdue(talk)).toBe(0);
    talk.pass(10_000);
    expect(overdue(talk)).toBe(0);
  });
});

test.each(variants)("the first answer does not wait for what comes while it waits, in %s", (variant) => {
  const talk = clientOf(variant, plain("old"), using(ROUTE, "u", "0", "old"), using(ROUTE, "v", "0", "old"));
  talk.subscribe(1, LISTENER);
  put(talk, plain("a"), using(ROUTE, "u", "1", "a"));
  expect(talk.subscribe(1, ROUTE, ["u", "v", "w"])).toEqual([]);
  put(talk, plain("b"), using(ROUTE, "v", "1", "old", "b"), using(ROUTE, "w", "1", "b"));
  const clusters = variant === "sotw" ? ["old@1", "a@1", "b@1"] : ["b@1"];
  expect(says(talk.ack(1, CLUSTER))).toEqual([clusters, ["u@1", "v@0"]]);
  expect(talk.ack(1, ROUTE)).toEqual([]);
  expect(says(talk.ack(1, CLUSTER))).toEqual([["v@1", "w@1"]]);
});

test.each(variants)("what waits too long ends alone: the others wait for their own Clusters, in %s", (variant) => {
  const talk = clientOf(variant, plain("old"), using(ROUTE, "u", "0", "old"), using(ROUTE, "v", "0", "old"));
  talk.subscribe(1, ROUTE, ["u", "v"]);
  talk.ack(1, ROUTE);
  put(talk, resource(CLUSTER, "empty", "1"), using(ROUTE, "u", "1", "empty"));
  talk.ack(1, CLUSTER);
  put(talk, plain("late"), using(ROUTE, "v", "1", "late"));
  expect(says(talk.pass(10_000))).toEqual([["u@1"]]);
  expect(talk.ack(1, ROUTE)).toEqual([]);
  expect(says(talk.ack(1, CLUSTER))).toEqual([["v@1"]]);
});

const renamed = [
  { variant: "sotw", type: LISTENER, is: "a Listener" },
  { variant: "delta", type: LISTENER, is: "a Listener" },
  { variant: "delta", type: HOST, is: "a virtual host" },
] as const;

describe.each(renamed)("S-ORD-06 the removal of $is, in $variant,", ({ variant, type }) => {
  /** In sync, with two users of the Cluster `old`. */
  const inSyncWithTwo = (): Conversation => {
    const talk = clientOf(variant, plain("old"), using(type, "r/u", "0", "old"), using(type, "r/v", "0", "old"));
    talk.subscribe(1, type);
    talk.ack(1, type);
    return talk;
  };
  /** Renames a user; the new one uses a new Cluster. */
  const rename = (talk: Conversation, from: string, to: string, cluster: string): unknown => {
    talk.change({ puts: [plain(cluster), using(type, to, "0", cluster)], deletes: [{ type, name: from }] });
    return says(talk.turns());
  };
  const is = <T>(sotw: T, delta: T): T => (variant === "sotw" ? sotw : delta);

  test("waits for a new one that is held back and may replace it", () => {
    const talk = inSyncWithTwo();
    expect(rename(talk, "r/u", "r/w", "a")).toEqual(is([["old@1", "a@1"]], [["a@1"]]));
    expect(says(talk.ack(1, CLUSTER))).toEqual(is([["r/v@0", "r/w@0"]], [["r/w@0", "-r/u"]]));
    expect([talk.ack(1, type), overdue(talk)]).toEqual([[], 0]);
  });

  test("takes along what changes meanwhile and might need its place", () => {
    const talk = inSyncWithTwo();
    rename(talk, "r/u", "r/w", "a");
    expect(put(talk, using(type, "r/v", "1", "old"), using(type, "r/x", "0", "old"))).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual(
      is([["r/v@1", "r/w@0", "r/x@0"]], [["r/w@0", "r/v@1", "r/x@0", "-r/u"]]),
    );
    expect(talk.ack(1, type)).toEqual([]);
  });

  test("does not wait for what is held back later", () => {
    const talk = inSyncWithTwo();
    rename(talk, "r/u", "r/w", "a");
    expect(rename(talk, "r/v", "r/x", "b")).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual(
      is(
        [
          ["old@1", "a@1", "b@1"],
          ["r/w@0", "r/v@0"],
        ],
        [["b@1"], ["r/w@0", "-r/u"]],
      ),
    );
    expect(put(talk, using(type, "r/w", "1", "old"))).toEqual([]);
    talk.ack(1, type);
    expect(says(talk.ack(1, CLUSTER))).toEqual(is([["r/w@1", "r/x@0"]], [["r/x@0", "r/w@1", "-r/v"]]));
  });

  test("does not wait longer than what is held back", () => {
    const talk = inSyncWithTwo();
    talk.change({
      puts: [resource(CLUSTER, "empty", "1"), using(type, "r/w", "0", "empty")],
      deletes: [{ type, name: "r/u" }],
    });
    talk.turns();
    expect(says(talk.pass(10_000))).toEqual(is([["r/v@0", "r/w@0"]], [["r/w@0", "-r/u"]]));
  });

  test("is not sent if the resource comes back meanwhile", () => {
    const talk = inSyncWithTwo();
    rename(talk, "r/u", "r/w", "a");
    expect(put(talk, using(type, "r/u", "0", "old"))).toEqual([]);
    expect(says(talk.ack(1, CLUSTER))).toEqual(is([["r/v@0", "r/w@0", "r/u@0"]], [["r/w@0"]]));
  });
});

test("virtual hosts wait one by one: others that a client asks for are answered", () => {
  const talk = clientOf("delta", plain("old"), using(HOST, "r/i", "0", "old"));
  talk.subscribe(1, HOST, ["r/h"]);
  talk.ack(1, HOST);
  put(talk, plain("a"), using(HOST, "r/h", "1", "a"));
  expect(says(talk.subscribe(1, HOST, ["r/i"]))).toEqual([["r/i@0"]]);
  expect(talk.ack(1, HOST)).toEqual([]);
  expect(says(talk.ack(1, CLUSTER))).toEqual([["r/h@1"]]);
  expect(overdue(talk)).toBe(0);
});
