import type { Resource } from "@xdskit/protocol";
import { type InitialVersions, noInitialVersions, type ServerMachineOptions } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "./support/conversation.ts";
import { heldOf } from "./support/garbage.ts";
import { ENDPOINTS, ROUTE, resource } from "./support/resources.ts";
import { Work } from "./support/work.ts";

const NAMES = ["r1", "r2", "r3", "r4", "r5"];

function route(name: string, label = "1"): Resource {
  return resource(ROUTE, name, label);
}

/** The versions of these resources, and how often somebody walked over them. */
class Reported implements InitialVersions {
  readonly size: number;
  readonly key: string | undefined;
  walks = 0;
  readonly #held: readonly Resource[];

  constructor(held: readonly Resource[], key?: string) {
    this.#held = held;
    this.size = held.length;
    this.key = key;
  }

  *[Symbol.iterator](): Iterator<readonly [string, string]> {
    this.walks++;
    for (const { name, version } of this.#held) yield [name, version];
  }
}

/** Clients that come back with r1 to r5 at label 1, of which a turn compares two. */
class Return {
  readonly talk: Conversation;
  readonly #held = new Map<number, Map<string, string>>();

  constructor(options: Partial<ServerMachineOptions> = {}) {
    this.talk = new Conversation({ maxComparedPerTurn: 2, ...options });
    this.talk.put(...NAMES.map((name) => route(name)));
  }

  /** A client comes back, and waits for its first turn. */
  comeBack(stream: number, subscribe: readonly string[] = ["*"], key?: string): Reported {
    const initialVersions = new Reported(
      NAMES.map((name) => route(name)),
      key,
    );
    this.#held.set(stream, new Map(NAMES.map((name) => [name, "1"])));
    this.talk.open(stream, "delta", undefined, stream);
    this.talk.receive(stream, delta(ROUTE, { node: node(`n${stream}`), subscribe, initialVersions }));
    return initialVersions;
  }

  remove(...names: readonly string[]): void {
    this.talk.change({ deletes: names.map((name) => ({ type: ROUTE, name })) });
  }

  /** So many turns; what is said is taken and accepted. Returns what was said. */
  turns(count: number): readonly (readonly string[])[] {
    const said: (readonly string[])[] = [];
    for (let i = 0; i < count; i++) {
      for (const { stream, nonce, says } of this.talk.turns(1)) {
        for (const word of says) this.#take(this.#held.get(stream) ?? new Map(), word);
        this.talk.receive(stream, delta(ROUTE, { nonce }));
        said.push(says);
      }
    }
    return said;
  }

  /** What a client holds, as `r1@1`. */
  held(stream: number): readonly string[] {
    return [...(this.#held.get(stream) ?? [])].map(([name, label]) => `${name}@${label}`).sort();
  }

  #take(held: Map<string, string>, word: string): void {
    const [name = "", label = ""] = word.split("@");
    if (word.startsWith("-")) held.delete(word.slice(1));
    else held.set(name, label);
  }
}

describe("while the comparison of a client that comes back is paused", () => {
  test.each([
    ["deleted and recreated", "2", ["r1@1", "r2@1", "r3@2", "r4@1", "r5@1"]],
    ["created and deleted", undefined, ["r1@1", "r2@1", "r4@1", "r5@1"]],
  ])("a resource may be %s after it was compared", (_, now, held) => {
    const clients = new Return();
    const present = (isThere: boolean): void =>
      isThere && now !== undefined ? clients.talk.put(route("r3", now)) : clients.remove("r3");
    // The client holds it at label 1.
    present(true);
    clients.comeBack(1);
    clients.turns(1);
    if (now === undefined) clients.talk.put(route("r3"));
    else clients.remove("r3");
    clients.turns(1);
    present(true);
    clients.turns(10);
    expect(clients.held(1)).toEqual(held);
    expect(clients.talk.machine.isDue).toBe(false);
  });

  test("what is compared already may change, come and go, and the last turn tells each once", () => {
    const clients = new Return();
    clients.comeBack(1);
    clients.turns(1);
    clients.talk.put(route("r1", "2"), route("r6"));
    clients.remove("r2");
    expect(clients.turns(10)).toEqual([["r1@2", "r6@1", "-r2"]]);
    expect(clients.talk.machine.isDue).toBe(false);
  });

  test("each turn but the last is counted as one that leaves an answer", () => {
    const clients = new Return();
    clients.comeBack(1);
    const counts = NAMES.map(() => {
      clients.turns(1);
      return clients.talk.machine.pausedFlushes;
    });
    expect(counts).toEqual([1, 2, 2, 2, 2]);
  });

  test("a name that is asked for and goes is told like any other", () => {
    const clients = new Return();
    clients.talk.put(route("r6"));
    clients.comeBack(1, [...NAMES, "r6"]);
    clients.turns(1);
    clients.remove("r1", "r6");
    expect(clients.turns(10)).toEqual([["-r1", "-r6"]]);
  });

  test.each([
    ["kept, because they are still needed", {}],
    ["cut off, because they are too long", { maxJournalLines: 16 }],
  ])("journals are %s", (_, options) => {
    const clients = new Return(options);
    const reported = clients.comeBack(1);
    clients.turns(1);
    for (let i = 0; i <= 1_100; i++) clients.talk.put(route(i % 2 === 0 ? "r1" : "other", `${i}`));
    expect(clients.turns(10)).toEqual([["r1@1100", "other@1099"]]);
    expect(clients.talk.asked.filter(({ kind }) => kind === "close-stream")).toEqual([]);
    // To compare, and for the names that were touched.
    expect(reported.walks).toBe(2);
  });

  test("the client may give up names, and hears nothing of them", () => {
    const clients = new Return();
    clients.talk.put(route("r1", "2"), route("r5", "2"));
    clients.remove("r2", "r4");
    clients.comeBack(1, NAMES);
    clients.turns(1);
    clients.talk.receive(1, delta(ROUTE, { unsubscribe: ["r1", "r2"] }));
    expect(clients.turns(10)).toEqual([["r5@2", "-r4"]]);
  });

  test("the client may leave the wildcard, and is told nothing", () => {
    const clients = new Return();
    clients.talk.put(route("r1", "2"));
    clients.comeBack(1);
    clients.turns(1);
    clients.talk.receive(1, delta(ROUTE, { unsubscribe: ["*"] }));
    expect(clients.turns(10)).toEqual([]);
  });

  test.each([
    ["a name", NAMES, ["r1", "r2", "r5"]],
    ["the wildcard", ["*"], ["*"]],
  ])("another client that asks for the same may give up %s: that is its own affair", (_, subscribe, unsubscribe) => {
    const clients = new Return();
    clients.talk.put(route("r1", "2"), route("r5", "2"));
    clients.remove("r2");
    for (const stream of [1, 2]) clients.comeBack(stream, subscribe, "equal");
    clients.turns(1);
    clients.talk.receive(1, delta(ROUTE, { unsubscribe }));
    clients.turns(20);
    expect(clients.held(2)).toEqual(["r1@2", "r3@1", "r4@1", "r5@2"]);
  });

  test("what another client that asks for the same found out may be outdated at the turn", () => {
    const clients = new Return();
    for (const stream of [1, 2]) clients.comeBack(stream, ["*"], "equal");
    clients.turns(3);
    clients.talk.put(route("r1", "2"));
    clients.turns(20);
    expect([clients.held(1), clients.held(2)]).toEqual([1, 2].map(() => ["r1@2", "r2@1", "r3@1", "r4@1", "r5@1"]));
  });

  test("the node may move: it is compared with its new view from the start", () => {
    const clients = new Return();
    clients.talk.change({ layer: "other", puts: [route("r1", "2"), ...["r2", "r4", "r5"].map((name) => route(name))] });
    clients.comeBack(1);
    clients.turns(2);
    clients.talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
    expect(clients.turns(10)).toEqual([["r1@2", "-r3"]]);
  });
});

describe("the first answer to many names takes several turns", () => {
  const asked = ["r1", "r2", "r3", "r4", "none"];
  /** A new client asks for four routes and a name without one; two names a turn are looked for. */
  function come(stream = 1): Return {
    const clients = new Return();
    subscribe(clients, stream);
    return clients;
  }

  function subscribe(clients: Return, stream: number, names = asked): void {
    clients.talk.open(stream, "delta", undefined, stream);
    clients.talk.receive(stream, delta(ROUTE, { node: node(`n${stream}`), subscribe: names }));
  }

  test("and is one answer", () => {
    const clients = come();
    expect(clients.turns(2)).toEqual([]);
    expect(clients.talk.machine.isDue).toBe(true);
    expect(clients.turns(10)).toEqual([["r1@1", "r2@1", "r3@1", "r4@1", "-none"]]);
    expect(clients.talk.machine.isDue).toBe(false);
  });

  test.each([
    [5, 3],
    [10, 6],
    [20, 11],
  ])("%i names take %i", (count, turns) => {
    const clients = new Return();
    subscribe(
      clients,
      1,
      Array.from({ length: count }, (_, i) => `r${i}`),
    );
    let taken = 0;
    for (; clients.talk.machine.isDue; taken++) clients.talk.turns(1);
    expect(taken).toBe(turns);
  });

  test("and those who ask for few are answered meanwhile", () => {
    const clients = come();
    subscribe(clients, 2, ["r5"]);
    expect(clients.turns(10)).toEqual([["r5@1"], ["r1@1", "r2@1", "r3@1", "r4@1", "-none"]]);
  });

  test("what changes meanwhile is told as it is at the last", () => {
    const clients = come();
    clients.turns(1);
    clients.talk.put(route("r1", "2"), route("none"));
    clients.remove("r2");
    expect(clients.turns(10)).toEqual([["r1@2", "r3@1", "r4@1", "none@1", "-r2"]]);
  });

  test("names may be added and given up meanwhile", () => {
    const clients = come();
    clients.turns(1);
    clients.talk.receive(1, delta(ROUTE, { subscribe: ["r5"], unsubscribe: ["r1", "none"] }));
    expect(clients.turns(10)).toEqual([["r2@1", "r3@1", "r4@1", "r5@1"]]);
    expect(clients.talk.machine.isDue).toBe(false);
  });

  test("the wildcard may take the place of the names meanwhile", () => {
    const clients = come();
    clients.turns(1);
    clients.talk.receive(1, delta(ROUTE, { subscribe: ["*"], unsubscribe: asked }));
    expect(clients.turns(10)).toEqual([NAMES.map((name) => `${name}@1`)]);
    expect(clients.talk.machine.isDue).toBe(false);
  });

  test("in State of the World too", () => {
    const clients = new Return();
    const { talk } = clients;
    talk.open(1, "sotw");
    talk.receive(1, sotw(ROUTE, { node: node("n"), names: asked }));
    expect([talk.turns(2), talk.machine.isDue]).toEqual([[], true]);
    talk.put(route("r1", "2"));
    expect(talk.turns(10).map(({ says }) => says)).toEqual([["r1@2", "r2@1", "r3@1", "r4@1"]]);
    expect(talk.machine.isDue).toBe(false);
  });

  test("the node may move meanwhile", () => {
    const clients = come();
    clients.talk.change({ layer: "other", puts: [route("r1", "2")] });
    clients.turns(1);
    clients.talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
    expect(clients.turns(10)).toEqual([["r1@2", "-r2", "-r3", "-r4", "-none"]]);
  });
});

describe("what a client reports when it comes back", () => {
  test("is walked over once for all who report the same at the same time", () => {
    const clients = new Return();
    const reported = [1, 2, 3].map((stream) => clients.comeBack(stream, ["*"], "equal"));
    clients.turns(10);
    expect(reported.map(({ walks }) => walks)).toEqual([1, 0, 0]);
  });

  test("may name a resource twice: the last version counts, and nothing is hidden", () => {
    const clients = new Return();
    clients.talk.open(1, "delta");
    const twice = [route("r1"), route("r2"), route("r2", "0"), route("r3", "0"), route("r3")];
    const request = delta(ROUTE, { node: node("n"), subscribe: ["*"], initialVersions: new Reported(twice) });
    clients.talk.receive(1, request);
    expect(clients.turns(10)).toEqual([["r2@1", "r4@1", "r5@1"]]);
  });

  test.each([
    ["it is answered", (clients: Return) => void clients.turns(100)],
    [
      "its stream is closed in the middle",
      (clients: Return) => {
        clients.turns(4);
        for (const stream of [1, 2, 3]) clients.talk.machine.on({ kind: "stream-closed", stream });
      },
    ],
  ])("is let go when %s", async (_, end) => {
    const clients = new Return();
    const come = (): WeakRef<object>[] =>
      [1, 2, 3].map((stream) => new WeakRef(clients.comeBack(stream, ["*"], `list ${stream}`)));
    const reported = come();
    clients.turns(4);
    end(clients);
    expect(clients.talk.machine.isDue).toBe(false);
    expect(await heldOf(reported)).toBe(0);
  });

  test("is not needed for clients that report nothing", () => {
    const clients = new Return();
    clients.talk.open(1, "delta");
    const request = delta(ROUTE, { node: node("n"), subscribe: ["*"], initialVersions: noInitialVersions });
    expect(clients.talk.hear(1, request).map(({ says }) => says)).toEqual([NAMES.map((name) => `${name}@1`)]);
  });
});

describe("a new client with many names", () => {
  const some = fc.constantFrom("r1", "r2", "r3", "r4", "r5", "r6", "other");
  const step = fc.record({
    puts: fc.uniqueArray(some, { maxLength: 3 }),
    deletes: fc.uniqueArray(some, { maxLength: 2 }),
  });

  test("is sent what there is after the last step, whatever came and went meanwhile", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (steps) => {
        const talk = new Conversation({ maxComparedPerTurn: 2 });
        talk.put(route("r1"), route("r3"), route("r5"));
        talk.open(1, "delta");
        const names = ["r1", "r2", "r3", "r4", "r5", "r6"];
        talk.receive(1, delta(ROUTE, { node: node("n"), subscribe: names }));
        const said: string[] = [];
        const turn = (): void => {
          for (const { nonce, says } of talk.turns(1)) {
            said.push(...says);
            talk.receive(1, delta(ROUTE, { nonce }));
          }
        };
        const truth = new Map([
          ["r1", "1"],
          ["r3", "1"],
          ["r5", "1"],
        ]);
        for (const [i, { puts, deletes }] of steps.entries()) {
          turn();
          const gone = deletes.filter((name) => !puts.includes(name));
          talk.change({
            puts: puts.map((name) => route(name, `${i + 2}`)),
            deletes: gone.map((name) => ({ type: ROUTE, name })),
          });
          for (const name of puts) truth.set(name, `${i + 2}`);
          for (const name of gone) truth.delete(name);
        }
        for (let i = 0; i < 20; i++) turn();
        const held = new Map<string, string>();
        for (const word of said) {
          const [name = "", label = ""] = word.split("@");
          if (word.startsWith("-")) held.set(word.slice(1), "none");
          else held.set(name, label);
        }
        expect(names.map((name) => [name, held.get(name)])).toEqual(
          names.map((name) => [name, truth.get(name) ?? "none"]),
        );
      }),
    );
  });

  test.each(["other", "e1"])("is not looked at as a whole again because %s changes meanwhile", (changed) => {
    const endpoints = (name: string, label = "1"): Resource => resource(ENDPOINTS, name, label);
    const stepsWith = (change: string | undefined): number => {
      const talk = new Conversation({ maxComparedPerTurn: 100 });
      talk.put(endpoints("e1"), endpoints("other"));
      talk.open(1, "delta");
      const subscribe = Array.from({ length: 2_000 }, (_, i) => `e${i}`);
      talk.receive(1, delta(ENDPOINTS, { node: node("n"), subscribe }));
      talk.turns(1);
      expect(talk.machine.isAnswerPending(1)).toBe(true);
      if (change !== undefined) talk.put(endpoints(change, "2"));
      return new Work().of(() => {
        while (talk.machine.isDue) talk.turns(1);
      });
    };
    const quiet = stepsWith(undefined);
    expect(stepsWith(changed) / quiet).toBeLessThan(1.1);
  });
});
