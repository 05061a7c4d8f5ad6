import { describe, expect, test } from "vitest";
import { Conversation, node, says, sotw, talkWith } from "../../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource, UNKNOWN } from "../../../test/support/resources.ts";

const no = { code: 3, message: "no" };
const c = (name: string, label: string, onDemand = false): ReturnType<typeof resource> =>
  resource(CLUSTER, name, label, { references: [], onDemand });
const e = (name: string, label: string, onDemand = false): ReturnType<typeof resource> =>
  resource(ENDPOINTS, name, label, { onDemand });

describe("a request", () => {
  test("is understood by its nonce, its error and its names", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    const ask = (what: Parameters<typeof sotw>[1]): string => {
      talk.hear(1, sotw(ENDPOINTS, what));
      return talk.understood();
    };
    expect(ask({ names: ["a"] })).toBe("initial");
    expect(ask({ nonce: "1", names: ["a"] })).toBe("ack, acked 1");
    expect(ask({ nonce: "1", names: ["a"] })).toBe("repeat");
    expect(ask({ nonce: "1", names: ["a", "b"] })).toBe("subscribe");
    expect(ask({ nonce: "1", names: ["a", "b"] })).toBe("stale, stale-nonce");
    expect(ask({ nonce: "2", names: ["a", "b"], error: no })).toBe("nacked 2: 3 no".replace("nacked", "nack, nacked"));
    expect(ask({ nonce: "2", names: ["a"], error: no })).toBe("unsubscribe");
    const names = ["a"];
    expect(ask({ nonce: "2", names })).toBe("repeat");
    expect(ask({ nonce: "2", names })).toBe("repeat");
  });

  test("with an error of its own newest version after an ACK is the newer word", () => {
    const talk = talkWith("sotw", [e("a", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a"] }));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a"], error: no }))).toEqual([]);
    expect(talk.understood()).toBe("nack, nacked 1: 3 no");
  });

  test("with another version than the answered one is a refusal where an edition has it so", () => {
    const talk = talkWith("sotw", [c("a", "1")], { edition: "2018" });
    const [first] = talk.hear(1, sotw(CLUSTER, {}));
    talk.hear(1, sotw(CLUSTER, { nonce: "1", versionInfo: "old" }));
    expect(talk.understood()).toBe("nack, nacked 1: 0 the client kept its version");
    talk.put(c("a", "2"));
    const [second] = talk.turns();
    expect(second?.version).not.toBe(first?.version);
    talk.hear(1, sotw(CLUSTER, { nonce: "2", versionInfo: second?.version }));
    expect(talk.understood()).toBe("ack, acked 2");
  });
});

describe("a NACK counts", () => {
  /** How many clients have, await and reject the newest revision. */
  const standings = ({ machine }: Conversation): unknown => {
    const { deployed, pending, nacked } = machine.progress.of(machine.revision, () => true);
    return { deployed, pending: pending.length, nacked: nacked.length };
  };
  const nacked = { deployed: 0, pending: 0, nacked: 1 };
  const deployed = { deployed: 1, pending: 0, nacked: 0 };

  test("until each name of the response was ACKed in another, where a response has only what changed", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.settle(talk.subscribe(1, ENDPOINTS, ["a", "b"], { node: node("n") }));
    talk.put(e("a", "2"), e("b", "2"));
    expect(says(talk.turns())).toEqual([["a@2", "b@2"]]);
    talk.nack(1, ENDPOINTS);
    expect(standings(talk)).toEqual(nacked);
    talk.put(e("a", "3"));
    const [change, rest] = talk.turns();
    expect([change?.says, rest?.says]).toEqual([["a@3"], ["b@2"]]);
    talk.ack(1, ENDPOINTS, change?.nonce);
    talk.nack(1, ENDPOINTS, rest?.nonce);
    expect(standings(talk)).toEqual(nacked);
    talk.put(e("b", "3"));
    expect(says(talk.settle())).toEqual([["b@3"]]);
    expect(standings(talk)).toEqual(deployed);
  });

  test("until another response is ACKed, where each has everything", () => {
    const talk = talkWith("sotw", [c("a", "1"), c("b", "1")]);
    talk.settle(talk.subscribe(1, CLUSTER, [], { node: node("n") }));
    talk.put(c("a", "2"), c("b", "2"));
    expect(says(talk.turns())).toEqual([["a@2", "b@2"]]);
    talk.nack(1, CLUSTER);
    expect(standings(talk)).toEqual(nacked);
    talk.delete(CLUSTER, "b");
    expect(says(talk.settle())).toEqual([["a@2"]]);
    expect(standings(talk)).toEqual(deployed);
  });
});

describe("a stale nonce", () => {
  test("is answered by nothing, and what its request gave up is new when it is named again", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"] }));
    talk.put(e("a", "2"));
    expect(says(talk.turns())).toEqual([["a@2"]]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a"] }))).toEqual([]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b"] })))).toEqual([["b@1"]]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "3", names: ["a", "b"] }))).toEqual([]);
  });

  test("S-SUB-06 everything that its request gave up is new when it is asked for again", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["*"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["*"] }));
    talk.put(e("b", "2"));
    expect(says(talk.turns())).toEqual([["b@2"]]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["b"] }))).toEqual([]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["*", "b"] })))).toEqual([["a@1", "b@2"]]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "3", names: ["*", "b"] }))).toEqual([]);
  });

  test("with the names of before gives up nothing", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    const names = ["a", "b"];
    talk.hear(1, sotw(ENDPOINTS, { names }));
    talk.put(e("a", "2"));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names }));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names }))).toEqual([]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: [...names] }))).toEqual([]);
  });

  test("may bring names where that is switched on", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")], { dialect: { staleNonce: "honour-names" } });
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "strange", names: ["a", "b"] })))).toEqual([["b@1"]]);
    expect(talk.understood()).toBe("stale, stale-nonce");
  });

  test("that is the last good one is honoured after a refusal, and only then", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a"] }));
    talk.put(e("a", "2"));
    talk.turns();
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"] }))).toEqual([]);
    talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a"], error: no }));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "0", names: ["a", "b"] }))).toEqual([]);
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"], error: no }))).toEqual([]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"] })))).toEqual([["b@1"]]);
  });
});

describe("no nonce in mid-stream", () => {
  test("from a client that has used ours means that it forgot the type: all it names is new", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["a"] })))).toEqual([["a@1"]]);
    expect(talk.understood()).toBe("unsubscribe");
  });

  test("means the same under a wildcard", () => {
    const talk = talkWith("sotw", [c("a", "1")]);
    talk.hear(1, sotw(CLUSTER, {}));
    talk.hear(1, sotw(CLUSTER, { nonce: "1" }));
    expect(says(talk.hear(1, sotw(CLUSTER, {})))).toEqual([["a@1"]]);
  });

  test("before any of ours was used, or with one on its way, is a change of names only", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] })))).toEqual([["b@1"]]);
    talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b"] }));
    talk.put(e("a", "2"));
    talk.turns();
    expect(talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }))).toEqual([]);
  });
});

describe("an Envoy that withheld its answers", () => {
  const envoy = node("n", "envoy");
  function twoUnsettled(): { talk: Conversation; version: string | undefined } {
    const talk = talkWith("sotw", [c("a", "1")]);
    talk.hear(1, sotw(CLUSTER, { node: envoy }));
    talk.put(c("a", "2"));
    talk.turns();
    const timer = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect] : []))[0];
    expect(timer?.ms).toBe(1_000);
    talk.machine.on({ kind: "timer-fired", timer: timer?.timer ?? 0 });
    const [second] = talk.turns();
    expect(second?.says).toEqual(["a@2"]);
    return { talk, version: second?.version };
  }

  test("and reports an error beside the newest version means the one before", () => {
    const { talk, version } = twoUnsettled();
    talk.hear(1, sotw(CLUSTER, { nonce: "2", versionInfo: version, error: no }));
    expect(talk.understood()).toBe("nack, acked 2, nacked 1: 3 no");
  });

  test("and reports an error beside another version means the newest", () => {
    const { talk } = twoUnsettled();
    talk.hear(1, sotw(CLUSTER, { nonce: "2", error: no }));
    expect(talk.understood()).toBe("nack, nacked 2: 3 no");
  });

  test("and asks on a stream of its own means the newest whatever the version", () => {
    const talk = talkWith("sotw", [c("a", "1")]);
    talk.open(2, "sotw", CLUSTER);
    talk.hear(2, sotw(CLUSTER, { node: envoy }));
    talk.put(c("a", "2"));
    talk.turns();
    const timer = talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect.timer] : []))[0];
    talk.machine.on({ kind: "timer-fired", timer: timer ?? 0 });
    const [second] = talk.turns();
    expect(second?.says).toEqual(["a@2"]);
    talk.hear(2, sotw(CLUSTER, { nonce: "2", versionInfo: second?.version, error: no }));
    expect(talk.understood()).toBe("nack, nacked 2: 3 no");
  });

  test("and has only one to answer means that one", () => {
    const talk = talkWith("sotw", [c("a", "1")]);
    const [first] = talk.hear(1, sotw(CLUSTER, { node: envoy }));
    talk.hear(1, sotw(CLUSTER, { nonce: "1", versionInfo: first?.version, error: no }));
    expect(talk.understood()).toBe("nack, nacked 1: 3 no");
  });
});

describe("what is given up", () => {
  test("before it was answered is not answered", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.receive(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"] }));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a"] }))).toEqual([]);
  });

  test.each([
    ["of a type with full state", CLUSTER, c],
    ["of another type", ENDPOINTS, e],
  ] as const)("under a wildcard that does not cover it is not answered either (%s)", (_, type, make) => {
    const talk = talkWith("sotw", [make("a", "1"), make("b", "1", true)]);
    expect(says(talk.hear(1, sotw(type, { names: ["*"] })))).toEqual([["a@1"]]);
    talk.receive(1, sotw(type, { nonce: "1", names: ["*", "b"] }));
    expect(talk.hear(1, sotw(type, { nonce: "1", names: ["*"] }))).toEqual([]);
  });

  test("while its answer is on its way, and named again after it is gone, is said to be gone", () => {
    const talk = talkWith("sotw", [c("a", "1"), c("b", "1")]);
    talk.hear(1, sotw(CLUSTER, { names: ["a", "b"] }));
    talk.receive(1, sotw(CLUSTER, { names: ["b"] }));
    talk.change({ deletes: [{ type: CLUSTER, name: "a" }] });
    talk.turns();
    expect(says(talk.hear(1, sotw(CLUSTER, { names: ["a", "b"] })))).toEqual([["b@1"]]);
    expect(says(talk.hear(1, sotw(CLUSTER, { nonce: "2", names: ["a", "b"] })))).toEqual([]);
  });

  test.each([
    ["is said to be gone where an answer can say it", CLUSTER, c, [["b@1", "x@1"]]],
    ["is not spoken of where none can", ENDPOINTS, e, []],
  ] as const)("while its answer is on its way, and named again after another answer, %s", (_, type, make, said) => {
    const talk = talkWith("sotw", [make("a", "1"), make("b", "1"), make("x", "1")]);
    talk.hear(1, sotw(type, { names: ["a", "b"] }));
    talk.receive(1, sotw(type, { names: ["b"] }));
    talk.change({ deletes: [{ type, name: "a" }] });
    talk.hear(1, sotw(type, { names: ["b", "x"] }));
    expect(says(talk.hear(1, sotw(type, { names: ["a", "b", "x"] })))).toEqual(said);
  });

  test("after it was answered out of turn is not told any more", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] })))).toEqual([["b@1"]]);
    talk.receive(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.put(e("b", "2"));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a"] }))).toEqual([]);
  });
});

describe("an answer out of turn", () => {
  test("goes out while another is unsettled, is not repeated, and does not hold up what comes next", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b", "none"] })))).toEqual([["b@1"]]);
    talk.put(e("a", "2"), e("b", "2"));
    expect(talk.turns()).toEqual([]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b", "none"] })))).toEqual([["a@2", "b@2"]]);
  });

  test("that is refused closes the older one too, and nothing waits for that any more", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    const names = ["a", "b"];
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names })))).toEqual([["b@1"]]);
    talk.put(e("a", "2"));
    expect(says(talk.turns())).toEqual([]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names, error: no })))).toEqual([["a@2"]]);
    expect(talk.understood()).toBe("nack, nacked 2: 3 no");
  });

  test("is not repeated when its turn comes", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.put(e("b", "2"), e("a", "2"));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] })))).toEqual([["b@2"]]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b"] })))).toEqual([["a@2"]]);
  });

  test("is not given of a type with full state", () => {
    const talk = talkWith("sotw", [c("a", "1"), c("b", "1")]);
    talk.hear(1, sotw(CLUSTER, { names: ["a"] }));
    expect(says(talk.hear(1, sotw(CLUSTER, { names: ["a", "b"] })))).toEqual([["a@1", "b@1"]]);
    talk.put(c("b", "2"));
    expect(talk.turns()).toEqual([]);
  });
});

describe("a wildcard", () => {
  test("of a type without full state is answered with everything when it is joined, then with what changed", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")]);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a"] }));
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["*"] })))).toEqual([["a@1", "b@1"]]);
    talk.put(e("b", "2"));
    expect(talk.turns()).toEqual([]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["*"] })))).toEqual([["b@2"]]);
  });

  test("over nothing is answered all the same, but for a type that nobody knows", () => {
    const talk = talkWith("sotw", []);
    expect(says(talk.hear(1, sotw(LISTENER, {})))).toEqual([[]]);
    expect(talk.hear(1, sotw(UNKNOWN, {}))).toEqual([]);
  });
});

describe("a client that comes back", () => {
  test("is sent everything, unless skipping is switched on and its version is the current one", () => {
    const resending = talkWith("sotw", [c("a", "1")]);
    const version = resending.hear(1, sotw(CLUSTER, {}))[0]?.version;
    resending.open(2, "sotw");
    expect(says(resending.hear(2, sotw(CLUSTER, { versionInfo: version })))).toEqual([["a@1"]]);
    const skipping = talkWith("sotw", [c("a", "1")], { dialect: { resumeSkip: { otherwise: true } } });
    expect(skipping.hear(1, sotw(CLUSTER, { versionInfo: version }))).toEqual([]);
    skipping.open(2, "sotw");
    expect(says(skipping.hear(2, sotw(CLUSTER, { versionInfo: "old" })))).toEqual([["a@1"]]);
    skipping.open(3, "sotw");
    expect(says(skipping.hear(3, sotw(CLUSTER, { versionInfo: version, names: ["a"] })))).toEqual([["a@1"]]);
  });

  test("with a long version that the caller set is in sync by it, and it takes memory only until the answer", () => {
    const [short, long] = ["v".repeat(256), "v".repeat(1_000)].map((version) => {
      const talk = talkWith("sotw", [], { dialect: { resumeSkip: { otherwise: true } } });
      talk.commit([{ layer: "base", puts: [c("a", "1")], typeVersions: new Map([[CLUSTER, version]]) }]);
      talk.on({ kind: "request-received", stream: 1, request: sotw(CLUSTER, { versionInfo: version }) });
      const asked = talk.machine.clientBytes;
      return { asked, said: talk.turns(), answered: talk.machine.clientBytes };
    });
    const answered = short?.asked ?? 0;
    expect([short, long]).toEqual([
      { asked: answered, said: [], answered },
      { asked: answered + 2_000, said: [], answered },
    ]);
  });

  test("and names what is gone by now is told so where an empty answer tells it", () => {
    const talk = talkWith("sotw", []);
    expect(says(talk.hear(1, sotw(CLUSTER, { versionInfo: "old", names: ["a"] })))).toEqual([[]]);
    expect(says(talk.hear(1, sotw(ENDPOINTS, { versionInfo: "old", names: ["a"] })))).toEqual([]);
    expect(says(talk.hear(1, sotw(LISTENER, { names: ["a"] })))).toEqual([]);
  });
});

describe("an answer that stays away", () => {
  const timers = (talk: Conversation): number => talk.asked.filter((effect) => effect.kind === "start-timer").length;

  test("is waited for once something newer is there, and not before", () => {
    const talk = talkWith("sotw", [c("a", "1"), e("a", "1")]);
    talk.hear(1, sotw(CLUSTER, {}));
    talk.hear(1, sotw(ENDPOINTS, { names: ["a"] }));
    expect(timers(talk)).toBe(0);
    talk.put(c("a", "2"));
    expect(talk.turns()).toEqual([]);
    expect(timers(talk)).toBe(1);
    talk.put(e("a", "2"));
    expect(talk.turns()).toEqual([]);
    expect(timers(talk)).toBe(2);
    talk.machine.on({ kind: "timer-fired", timer: 2 });
    expect(says(talk.turns())).toEqual([["a@2"]]);
    talk.machine.on({ kind: "timer-fired", timer: 1 });
    expect(says(talk.turns())).toEqual([["a@2"]]);
  });

  test("is waited for when its node has moved", () => {
    const talk = talkWith("sotw", [c("a", "1")]);
    talk.hear(1, sotw(CLUSTER, {}));
    talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
    expect(talk.turns()).toEqual([]);
    expect(timers(talk)).toBe(1);
  });

  test.each([
    ["everything", ["*"]],
    ["everything and a name", ["*", "a"]],
    ["names", ["a", "b"]],
  ])("holds up what comes after a first answer and a later one (%s)", (_, names) => {
    for (const [type, make] of [
      [CLUSTER, c],
      [ENDPOINTS, e],
    ] as const) {
      const talk = talkWith("sotw", [make("a", "1"), make("b", "1")]);
      talk.hear(1, sotw(type, { names }));
      for (const label of ["2", "3"]) {
        talk.put(make("a", label));
        expect(talk.turns()).toEqual([]);
        expect(talk.hear(1, sotw(type, { nonce: String(Number(label) - 1), names }))).toHaveLength(1);
      }
      talk.put(make("a", "4"));
      expect(talk.turns()).toEqual([]);
    }
  });
});

describe("streams that are told the same", () => {
  const bodies = (talk: Conversation): readonly unknown[] =>
    talk.machine.next(100).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []));

  test.each([
    ["everything of a type with full state", CLUSTER, ["*"]],
    ["names of a type with full state", CLUSTER, ["a", "b"]],
    ["everything of another type", ENDPOINTS, ["*"]],
    ["names of another type", ENDPOINTS, ["a", "b"]],
  ] as const)("share one body, at first and after a change (%s)", (_, type, names) => {
    const make = type === CLUSTER ? c : e;
    const talk = new Conversation();
    talk.put(make("a", "1"), make("b", "1"));
    const streams = [1, 2, 3];
    for (const stream of streams) {
      talk.open(stream, "sotw");
      talk.receive(stream, sotw(type, { names }));
    }
    const first = bodies(talk);
    expect([first.length, new Set(first).size]).toEqual([3, 1]);
    for (const stream of streams) talk.receive(stream, sotw(type, { nonce: "1", names }));
    talk.put(make("b", "2"));
    const second = bodies(talk);
    expect([second.length, new Set(second).size]).toEqual([3, 1]);
    expect(first[0]).toMatchObject({ segments: [{ puts: [{ name: "a" }, { name: "b" }] }] });
  });
});

describe("a stream that is sent everything once more", () => {
  test("is sent the body that a new one is sent", () => {
    const talk = talkWith(
      "sotw",
      Array.from({ length: 20 }, (_, i) => e(`n${i}`, "1")),
    );
    const bodies = (): readonly unknown[] =>
      talk.machine.next(100).flatMap((effect) => (effect.kind === "send" ? [effect.body] : []));
    talk.hear(1, sotw(ENDPOINTS, { names: ["*"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["*"] }));
    talk.receive(1, sotw(ENDPOINTS, { names: ["*"] }));
    talk.open(2, "sotw");
    talk.receive(2, sotw(ENDPOINTS, { names: ["*"] }));
    const sent = bodies();
    expect([sent.length, new Set(sent).size]).toEqual([2, 1]);
  });
});

describe("an answer that is too large for one response", () => {
  const options = { dialect: { maxResponseBytes: 1 } } as const;

  test("is several, of named types only", () => {
    const talk = talkWith("sotw", [c("a", "1"), c("b", "1"), e("a", "1"), e("b", "1")], options);
    expect(says(talk.hear(1, sotw(CLUSTER, {})))).toEqual([["a@1", "b@1"]]);
    const parts = talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }));
    expect(says(parts)).toEqual([["a@1"], ["b@1"]]);
    expect(new Set(parts.map((part) => part.version)).size).toBe(1);
  });

  test("is one where a client that comes back with its version is sent nothing", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")], {
      dialect: { ...options.dialect, resumeSkip: { otherwise: true } },
    });
    expect(says(talk.hear(1, sotw(ENDPOINTS, { names: ["*"] })))).toEqual([["a@1", "b@1"]]);
  });

  test("is accepted and refused part by part, and counts as one: what is newer waits for all of it", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1"), e("d", "1")], options);
    const names = ["a", "b", "d"];
    talk.hear(1, sotw(ENDPOINTS, { names }));
    talk.put(e("a", "2"));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names, error: no }))).toEqual([]);
    expect(talk.understood()).toBe("nack, nacked 1: 3 no");
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names }))).toEqual([]);
    expect(talk.understood()).toBe("ack, acked 2");
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "3", names })))).toEqual([["a@2"]]);
    expect(talk.understood()).toBe("ack, acked 3");
  });

  test("takes names from the request for its last part", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1"), e("d", "1")], options);
    talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }));
    expect(talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["b", "d"] }))).toEqual([]);
    // `a` was given up and is named again, so it is new.
    expect(says(talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b", "d"] })))).toEqual([["a@1"], ["d@1"]]);
  });

  test("is refused by another version in each of its parts where an edition has it so", () => {
    const talk = talkWith("sotw", [e("a", "1"), e("b", "1")], { edition: "2020", ...options });
    const [first] = talk.hear(1, sotw(ENDPOINTS, { names: ["a", "b"] }));
    talk.hear(1, sotw(ENDPOINTS, { nonce: "1", names: ["a", "b"], versionInfo: "old" }));
    expect(talk.understood()).toBe("nack, nacked 1: 0 the client kept its version");
    talk.hear(1, sotw(ENDPOINTS, { nonce: "2", names: ["a", "b"], versionInfo: first?.version }));
    expect(talk.understood()).toBe("ack, acked 2");
  });
});
