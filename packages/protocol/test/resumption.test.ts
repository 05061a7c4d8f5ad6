import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { InitialVersions } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, type Said, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, resource } from "./support/resources.ts";

/** What a client reports to hold: `a@1` under its version. */
function holding(type: TypeUrl, ...held: readonly string[]): InitialVersions {
  return reporting(
    held.map((one) => {
      const [name = "", label = ""] = one.split("@");
      return resource(type, name, label);
    }),
  );
}

function reporting(held: readonly Resource[]): InitialVersions {
  const pairs = held.map((one) => [one.name, one.version] as const);
  return { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() };
}

describe("the endpoints of a client that comes back", () => {
  /** Clusters c and d with endpoints; c changed while the client was away. */
  function comeBack(): Conversation {
    const talk = new Conversation();
    talk.put(...["c", "d"].flatMap((name) => [resource(CLUSTER, name, "2"), resource(ENDPOINTS, name, "1")]));
    talk.open(1, "delta");
    return talk;
  }
  const held = { initialVersions: holding(CLUSTER, "c@1", "d@2") };
  const clusters = (talk: Conversation): readonly Said[] => talk.subscribe(1, CLUSTER, [], held);
  const endpoints = (talk: Conversation): readonly Said[] =>
    talk.subscribe(1, ENDPOINTS, ["c", "d"], { initialVersions: holding(ENDPOINTS, "c@1", "d@1") });

  test("are sent at an equal version after a cluster that changed meanwhile, whenever they are asked for", () => {
    const talk = comeBack();
    expect(says(clusters(talk))).toEqual([["c@2"]]);
    expect(says(endpoints(talk))).toEqual([["c@1"]]);
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([]);
  });

  test("are sent once if both are asked for before the first turn", () => {
    const talk = comeBack();
    talk.receive(1, delta(CLUSTER, held));
    expect(says(endpoints(talk))).toEqual([["c@2"], ["c@1"]]);
    expect(says(talk.turns())).toEqual([]);
  });

  test("are sent after clusters that change before they are asked for", () => {
    const talk = comeBack();
    clusters(talk);
    talk.ack(1, CLUSTER);
    talk.put(resource(CLUSTER, "d", "3"));
    expect(says(talk.turns())).toEqual([["d@3"]]);
    expect(says(endpoints(talk))).toEqual([["c@1", "d@1"]]);
  });

  test("are all sent if it reports no clusters, for then each of them is new to it", () => {
    const talk = comeBack();
    talk.subscribe(1, CLUSTER);
    expect(says(endpoints(talk))).toEqual([["c@1", "d@1"]]);
  });

  test("are all sent if they are asked for first, for then a cluster may be warming", () => {
    const talk = comeBack();
    expect(says(endpoints(talk))).toEqual([["c@1", "d@1"]]);
    expect(says(clusters(talk))).toEqual([["c@2"], ["c@1"]]);
  });
});

describe("a comparison that takes several turns", () => {
  const total = 25_000;
  const name = (i: number): string => `c${i}`;
  let made: readonly Resource[] | undefined;
  const all = (): readonly Resource[] => {
    made ??= Array.from({ length: total }, (_, i) => resource(CLUSTER, name(i), "1"));
    return made;
  };
  /** 25,000 clusters at label 1, of which the client holds all but the last at label 1, and one that never was. */
  function comeBack(): Conversation {
    // What is gone is told at once, so that the comparison is all there is.
    const talk = new Conversation({ dialect: { makeBeforeBreak: false } });
    talk.put(...all());
    talk.open(1, "delta");
    const initialVersions = reporting([...all().slice(0, -1), resource(CLUSTER, "gone", "1")]);
    talk.receive(1, delta(CLUSTER, { initialVersions }));
    return talk;
  }

  test("ends with what differs", () => {
    const talk = comeBack();
    expect(says(talk.turns(10))).toEqual([]);
    expect(talk.machine.isDue).toBe(true);
    expect(says(talk.turns(1))).toEqual([[`${name(total - 1)}@1`, "-gone"]]);
    expect(talk.machine.isDue).toBe(false);
  });

  test("tells what changed, came and went meanwhile, once", () => {
    const talk = comeBack();
    talk.turns(1);
    talk.change({
      puts: [resource(CLUSTER, name(1), "2"), resource(CLUSTER, name(24_000), "2"), resource(CLUSTER, "gone", "2")],
      deletes: [name(2), name(24_001), name(total - 1)].map((gone) => ({ type: CLUSTER, name: gone })),
    });
    const said: string[] = [];
    for (let turn = 0; turn < 20; turn++) {
      for (const { nonce, says: words } of talk.turns(1)) {
        said.push(...words);
        talk.receive(1, delta(CLUSTER, { nonce }));
      }
    }
    expect(talk.machine.isDue).toBe(false);
    // The last one was never held: that it is gone need not be said, and may.
    const told = said.filter((word) => word !== `-${name(total - 1)}`).sort();
    expect(told).toEqual([`-${name(2)}`, `-${name(24_001)}`, `${name(1)}@2`, `${name(24_000)}@2`, "gone@2"]);
  });

  test("is done anew for a node that moves meanwhile", () => {
    const talk = comeBack();
    talk.turns(1);
    talk.change({ layer: "other", puts: [resource(CLUSTER, name(0), "other"), resource(CLUSTER, name(1), "1")] });
    talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
    const said: string[] = [];
    for (let turn = 0; turn < 20; turn++) {
      for (const { nonce, says: words } of talk.turns(1)) {
        said.push(...words);
        talk.receive(1, delta(CLUSTER, { nonce }));
      }
    }
    expect(said.filter((word) => !word.startsWith("-"))).toEqual([`${name(0)}@other`]);
    expect(new Set(said.filter((word) => word.startsWith("-"))).size).toBeGreaterThanOrEqual(total - 2);
    expect(new Set(said).size).toBe(said.length);
  });
});
