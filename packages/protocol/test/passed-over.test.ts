import { describe, expect, test } from "vitest";
import { Conversation, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, resource } from "./support/resources.ts";

const e = (name: string, label: string, aliases: readonly string[] = []): ReturnType<typeof resource> =>
  resource(ENDPOINTS, name, label, { aliases });

/** Streams of as many nodes, each in sync and subscribed to endpoints of its own and to one that all have. */
function subscribers(count: number, variant: "delta" | "sotw", talk = new Conversation()): Conversation {
  talk.put(e("all", "1"), ...Array.from({ length: count }, (_, i) => e(`e${i}`, "1", [`alias-${i}`])));
  for (let i = 0; i < count; i++) {
    const names = ["all", `e${i}`, `alias-of-none-${i}`];
    talk.open(i, variant, ENDPOINTS, i);
    talk.settle(talk.subscribe(i, ENDPOINTS, names, { node: node(`n${i}`) }));
  }
  return talk;
}

/** How many turns are taken until nothing is due, with all that is said in them. */
function turnsOf(talk: Conversation): { turns: number; said: readonly string[] } {
  const said: string[] = [];
  let turns = 0;
  for (; talk.machine.isDue; turns++) {
    for (const one of talk.turns(1)) said.push(`${one.stream}: ${one.says.join(" ")}`);
  }
  return { turns, said };
}

describe.each(["delta", "sotw"] as const)("streams of %s that ask for names", (variant) => {
  test.each([10, 20, 40])("have a turn when one of their names changed, however many others there are: %i", (count) => {
    const talk = subscribers(count, variant);
    talk.put(e("e3", "2"));
    expect(turnsOf(talk)).toEqual({ turns: 1, said: ["3: e3@2"] });
    talk.put(e("other", "1"));
    expect(turnsOf(talk)).toEqual({ turns: 0, said: [] });
    talk.put(e("all", "2"));
    expect(turnsOf(talk).turns).toBe(count);
  });

  test("are flushed once for a change: the ACK of a stream that was sent everything needs no flush", () => {
    const talk = subscribers(3, variant);
    const before = talk.machine.flushedChanged;
    for (let change = 2; change < 5; change++) {
      talk.put(e("all", String(change)));
      const said = talk.turns();
      expect(said.map(({ stream, says }) => [stream, says])).toEqual([0, 1, 2].map((i) => [i, [`all@${change}`]]));
      for (const { stream } of said) expect(talk.ack(stream, ENDPOINTS)).toEqual([]);
    }
    expect(talk.machine.flushedChanged - before).toBe(9);
  });

  test("hear what they ask for after any number of changes that did not concern them, and nothing else", () => {
    const talk = subscribers(4, variant);
    for (let i = 2; i < 9; i++) talk.put(e("e0", String(i)), e("other", String(i)));
    turnsOf(talk);
    talk.put(e("e2", "2"));
    expect(turnsOf(talk)).toEqual({ turns: 1, said: ["2: e2@2"] });
    talk.put(e("new", "1", ["alias-of-none-1"]));
    expect(turnsOf(talk).said).toEqual(["1: new@1"]);
  });

  test("are told as far as everything, and never fall behind a journal that is trimmed", () => {
    const talk = subscribers(3, variant, new Conversation({ maxJournalLines: 2 }));
    for (let i = 2; i < 20; i++) talk.put(e("other", String(i)));
    expect(talk.asked.filter(({ kind }) => kind === "close-stream")).toEqual([]);
    const told = [...talk.machine.streams()].map(({ types }) => types.map(({ sentRevision }) => sentRevision));
    expect(told).toEqual(Array.from({ length: 3 }, () => [talk.machine.revision]));
    talk.put(e("e1", "2"));
    expect(turnsOf(talk).said).toEqual(["1: e1@2"]);
  });

  test("are passed over while an answer is on its way, and told all of it with its ACK", () => {
    const talk = subscribers(2, variant);
    talk.put(e("e1", "2"));
    talk.turns();
    talk.put(e("e1", "3"));
    talk.put(e("other", "1"));
    talk.turns();
    expect(says(talk.ack(1, ENDPOINTS))).toEqual([["e1@3"]]);
  });
});

test("the streams of one client have their turns together, so that none is told before what it needs", () => {
  const talk = new Conversation();
  talk.put(resource(CLUSTER, "c", "1", { references: [{ type: ENDPOINTS, name: "e" }] }), e("e", "1"));
  talk.open(1, "delta", CLUSTER);
  talk.open(2, "delta", ENDPOINTS);
  talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n") }));
  talk.settle(talk.subscribe(2, ENDPOINTS, ["e"], { node: node("n") }));
  turnsOf(talk);
  talk.put(e("other", "1"));
  expect(turnsOf(talk).turns).toBe(0);
  talk.put(resource(CLUSTER, "c", "2", { references: [{ type: ENDPOINTS, name: "e" }] }));
  const { turns, said } = turnsOf(talk);
  expect(turns).toBeGreaterThanOrEqual(2);
  expect(said).toEqual(["1: c@2", "2: e@1"]);
});
