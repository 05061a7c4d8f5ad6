import type { Remembered } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation } from "./support/conversation.ts";
import { CLUSTER, failure, plain, routeTo } from "./support/resources.ts";
import { firstOf, rememberedOf } from "./support/returning.ts";

describe("what a server remembers", () => {
  test("is what changed of its Clusters, and under which version it was sent; each once", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("a"), routeTo("a"));
    for (const stream of [1, 2]) {
      talk.open(stream, "sotw");
      talk.subscribe(stream, CLUSTER, [], firstOf());
    }
    talk.change({ puts: [plain("a"), plain("b")], deletes: [{ type: CLUSTER, name: "none" }] });
    expect(rememberedOf(talk)).toEqual([
      { kind: "changed", revision: 1, type: CLUSTER, layer: "base", puts: [plain("a")], deletes: [] },
      {
        kind: "served",
        revision: 1,
        type: CLUSTER,
        layers: ["base"],
        version: expect.any(String),
        pendingRemovals: [],
      },
      { kind: "changed", revision: 2, type: CLUSTER, layer: "base", puts: [plain("b")], deletes: [] },
    ]);
  });

  test("is of an error in place of a Cluster that there is none", () => {
    const talk = new Conversation({ remembers: true });
    talk.put(plain("a"), failure(CLUSTER, "b", 14));
    talk.put(failure(CLUSTER, "a", 14));
    const about = { kind: "changed", type: CLUSTER, layer: "base" };
    expect(rememberedOf(talk)).toEqual([
      { ...about, revision: 1, puts: [plain("a")], deletes: [] },
      { ...about, revision: 2, puts: [], deletes: ["a"] },
    ]);
    expect([...talk.machine.remembered()]).toEqual([]);
    talk.put(plain("a"));
    expect([...talk.machine.remembered()]).toEqual([{ ...about, revision: 3, puts: [plain("a")], deletes: [] }]);
  });

  test("is not asked of it unless it shall", () => {
    const talk = new Conversation();
    talk.put(plain("a"));
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER, [], firstOf());
    expect(rememberedOf(talk)).toEqual([]);
  });

  test("of a server before is replaced by the first transaction, in every layer", () => {
    const talk = new Conversation({ nodeMapping: () => ["node/n", "base"] });
    const changed = { kind: "changed", revision: 7, type: CLUSTER, deletes: [] } as const;
    const history: readonly Remembered[] = [
      { ...changed, layer: "base", puts: [plain("a"), plain("b")] },
      { ...changed, layer: "node/n", puts: [plain("c")] },
    ];
    talk.machine.on({ kind: "history-restored", remembered: history });
    talk.put(plain("b"), plain("d"));
    const there = talk.machine.resources(["node/n", "base"], CLUSTER);
    expect([...there].map(({ name }) => name).sort()).toEqual(["b", "d"]);
    expect(talk.machine.revision).toBe(8);
    talk.put(plain("e"));
    expect([...talk.machine.resources(["node/n", "base"], CLUSTER)].length).toBe(3);
  });
});

test("what a server before left is gone with an empty transaction too", () => {
  const talk = new Conversation();
  const changed = { kind: "changed", revision: 7, type: CLUSTER, deletes: [] } as const;
  talk.machine.on({ kind: "history-restored", remembered: [{ ...changed, layer: "base", puts: [plain("a")] }] });
  talk.commit([]);
  expect([...talk.machine.resources(["base"], CLUSTER)]).toEqual([]);
});
