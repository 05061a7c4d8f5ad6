import { describe, expect, test } from "vitest";
import { Conversation, delta, node, peer, says, sotw, talkWith } from "../../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, resource, traits } from "../../../test/support/resources.ts";
import { statusCode } from "../../message/status.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import { InvariantError } from "../contract/invariant-error.ts";
import type { ServerMachineOptions } from "../contract/server-machine-options.ts";

test("a request of a stream that nobody opened, or that is closed, is nothing", () => {
  const talk = talkWith("delta", [plain("a")]);
  expect(talk.hear(9, delta(CLUSTER, {}))).toEqual([]);
  talk.machine.on({ kind: "stream-closed", stream: 1 });
  expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
  expect([talk.reports, talk.asked]).toEqual([[], []]);
});

describe("an answer that stays away", () => {
  const timers = (talk: Conversation): unknown =>
    talk.asked.flatMap((effect) => {
      if (effect.kind === "start-timer") return [`start ${effect.timer} ${effect.ms}`];
      return effect.kind === "cancel-timer" ? [`cancel ${effect.timer}`] : [];
    });

  test("holds newer content up until its time is over", () => {
    const talk = talkWith("delta", [plain("a")], { dialect: { ackLimitMs: 500 } });
    talk.hear(1, delta(CLUSTER, {}));
    talk.turns();
    expect(timers(talk)).toEqual([]);
    talk.put(plain("a", "2"));
    expect(talk.turns()).toEqual([]);
    talk.put(plain("a", "3"));
    expect(talk.turns()).toEqual([]);
    expect(timers(talk)).toEqual(["start 1 500"]);
    const overdue = talk.machine.on({ kind: "timer-fired", timer: 1 });
    expect(overdue).toMatchObject([
      { kind: "report", report: { kind: "anomaly", what: "ack-overdue", type: CLUSTER } },
    ]);
    expect(says(talk.turns())).toEqual([["a@3"]]);
    expect(talk.machine.on({ kind: "timer-fired", timer: 1 })).toEqual([]);
    expect(talk.machine.isDue).toBe(false);
  });

  test("is not waited for once it came, or its stream is gone", () => {
    const talk = talkWith("delta", [plain("a")]);
    talk.hear(1, delta(CLUSTER, {}));
    talk.put(plain("a", "2"));
    talk.turns();
    expect(says(talk.hear(1, delta(CLUSTER, { nonce: "1" })))).toEqual([["a@2"]]);
    expect(timers(talk)).toEqual(["start 1 30000", "cancel 1"]);
    expect(talk.machine.on({ kind: "timer-fired", timer: 1 })).toEqual([]);
    talk.put(plain("a", "3"));
    talk.turns();
    expect(talk.machine.on({ kind: "stream-closed", stream: 1 })).toEqual([{ kind: "cancel-timer", timer: 2 }]);
  });

  test("of one type does not end the wait for that of another", () => {
    const talk = talkWith("delta", [plain("a")]);
    talk.put(resource(LISTENER, "l", "1"));
    talk.hear(1, delta(CLUSTER, {}));
    talk.hear(1, delta(LISTENER, {}));
    talk.put(plain("a", "2"), resource(LISTENER, "l", "2"));
    talk.turns();
    expect(timers(talk)).toEqual(["start 1 30000", "start 2 30000"]);
    talk.hear(1, delta(LISTENER, { nonce: "2" }));
    expect(timers(talk)).toEqual(["start 1 30000", "start 2 30000", "cancel 2"]);
  });
});

describe("turns", () => {
  test("are given to at most so many streams at a time, in order, and to none that is stalled", () => {
    const talk = new Conversation();
    talk.put(plain("a"));
    for (const stream of [1, 2, 3]) {
      talk.open(stream, "delta");
      talk.receive(stream, delta(CLUSTER, {}));
    }
    talk.machine.on({ kind: "stream-stalled", stream: 2 });
    expect(talk.turns(0)).toEqual([]);
    expect(talk.turns(1).map((one) => one.stream)).toEqual([1]);
    expect(talk.machine.isDue).toBe(true);
    expect(talk.turns(5).map((one) => one.stream)).toEqual([3]);
    expect(talk.machine.isDue).toBe(false);
    talk.put(plain("a", "2"));
    talk.machine.on({ kind: "stream-drained", stream: 2 });
    expect(says(talk.turns())).toEqual([["a@2"]]);
    talk.machine.on({ kind: "stream-stalled", stream: 9 });
    talk.machine.on({ kind: "stream-drained", stream: 9 });
    expect(talk.machine.isDue).toBe(false);
  });

  test.each(["delta", "sotw"] as const)("leave no answer pending, however many it takes, in %s", (variant) => {
    const names = Array.from({ length: 3 }, (_, i) => `e${i}`);
    const talk = new Conversation({ maxComparedPerTurn: 1 });
    talk.put(...names.map((name) => resource(ENDPOINTS, name, "1")));
    talk.open(1, variant);
    const isPending = (): boolean => talk.machine.isAnswerPending(1);
    const pending = [isPending()];
    talk.receive(1, variant === "delta" ? delta(ENDPOINTS, { subscribe: names }) : sotw(ENDPOINTS, { names }));
    for (const kind of ["stream-stalled", "stream-drained"] as const) {
      pending.push(isPending());
      talk.machine.on({ kind, stream: 1 });
    }
    while (talk.machine.isDue) {
      pending.push(isPending());
      talk.turns(1);
    }
    // Each name has a turn, and their end has one.
    expect(pending).toEqual([false, true, true, true, true, true, true]);
    expect([isPending(), talk.machine.isAnswerPending(9)]).toEqual([false, false]);
    talk.put(resource(ENDPOINTS, "e0", "2"));
    expect([talk.machine.isDue, isPending()]).toEqual([true, false]);
  });

  test.each(["delta", "sotw"] as const)(
    "of a change do not wait for streams that ask for something, in %s",
    (variant) => {
      const talk = new Conversation();
      talk.put(plain("a"));
      const subscribe = (stream: number): void => {
        talk.open(stream, variant);
        talk.receive(stream, variant === "delta" ? delta(CLUSTER, {}) : sotw(CLUSTER, {}));
      };
      subscribe(1);
      talk.turns();
      talk.ack(1, CLUSTER);
      for (const stream of [2, 3, 4]) subscribe(stream);
      talk.put(plain("a", "2"));
      expect([talk.machine.changedStreams, talk.machine.isAskingDue]).toEqual([1, true]);
      expect(talk.turns().map(({ stream }) => stream)).toEqual([1, 2, 3, 4]);
    },
  );

  test("of streams whose wait ended do not delay those of a change", () => {
    const talk = new Conversation();
    talk.put(plain("a"));
    for (const stream of [1, 2, 3, 4]) {
      talk.open(stream, "delta");
      talk.receive(stream, delta(CLUSTER, {}));
    }
    talk.turns();
    talk.ack(1, CLUSTER);
    talk.put(plain("a", "2"));
    talk.turns();
    talk.ack(1, CLUSTER);
    for (const effect of talk.asked)
      if (effect.kind === "start-timer") talk.machine.on({ kind: "timer-fired", timer: effect.timer });
    talk.put(plain("a", "3"));
    expect([talk.machine.changedStreams, talk.machine.isAskingDue]).toEqual([1, true]);
    expect(talk.turns().map(({ stream }) => stream)).toEqual([1, 2, 3, 4]);
  });

  test("that meet a bug name its stream", () => {
    const boom = (): Uint8Array => {
      throw new Error("boom");
    };
    const talk = new Conversation({
      traits: (type) => (type === ENDPOINTS ? { ...opaqueTraits(type), kind: "eds", placeholder: boom } : traits(type)),
    });
    talk.put(resource(CLUSTER, "a", "1"));
    talk.open(7, "delta", ENDPOINTS);
    talk.receive(7, delta(ENDPOINTS, { subscribe: ["a"] }));
    let thrown: unknown;
    try {
      talk.turns(1);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvariantError);
    expect(thrown).toMatchObject({
      name: "InvariantError",
      stream: 7,
      message: "a bug in the turn of stream 7",
      cause: new Error("boom"),
    });
  });
});

describe("journals", () => {
  /** Streams 1 and 3 see the layer that changes, and stream 3 a type that does not. */
  function talkOf(options: Partial<ServerMachineOptions>): Conversation {
    const talk = new Conversation({ nodeMapping: ({ id }) => [id], ...options });
    talk.put(plain("a", "0"));
    for (const [stream, id, type] of [
      [1, "base", CLUSTER],
      [2, "elsewhere", CLUSTER],
      [3, "base", LISTENER],
    ] as const) {
      talk.open(stream, "sotw", undefined, stream);
      talk.subscribe(stream, type, [], { node: node(id) });
    }
    return talk;
  }
  /** The streams that have been ended once the Cluster changed again, and with which code. */
  const endedBy = (talk: Conversation, label: string): unknown => {
    talk.put(plain("a", label));
    return talk.ended.map(([stream, { code }]) => [stream, code]);
  };

  test("that grow past the limit in lines end who stands behind them, and nobody else", () => {
    const talk = talkOf({ maxJournalLines: 2 });
    expect(["1", "2"].map((label) => endedBy(talk, label))).toEqual([[], []]);
    expect(endedBy(talk, "3")).toEqual([[1, statusCode.UNAVAILABLE]]);
    expect([...talk.machine.streams()].map((one) => one.stream)).toEqual([2, 3]);
  });

  test("that grow past the limit in bytes do too", () => {
    const talk = talkOf({ maxJournalBytes: 10 });
    expect(["1", "2", "3"].map((label) => endedBy(talk, label))).toEqual([[], [], []]);
    expect(endedBy(talk, "4")).toEqual([[1, statusCode.UNAVAILABLE]]);
  });
});

test("streams are described before and after their first request", () => {
  const talk = talkWith("delta", [plain("a")]);
  talk.open(2, "sotw", CLUSTER);
  talk.hear(1, delta(CLUSTER, { node: node("n"), subscribe: ["*", "a", "none"] }));
  talk.hear(1, delta(LISTENER, { subscribe: ["l"] }));
  talk.hear(1, delta(CLUSTER, { nonce: "1", error: { code: 3, message: "no" } }));
  const version = [...talk.machine.layers()][0]?.types.get(CLUSTER)?.version;
  const first = { nonce: "1", version, revision: 1, resources: 1, removed: 1 };
  const listeners = { nonce: "2", revision: 1, resources: 0, removed: 1 };
  expect([...talk.machine.streams()]).toMatchObject([
    {
      stream: 1,
      variant: "delta",
      onlyType: undefined,
      peer,
      node: node("n"),
      layers: ["base"],
      types: [
        {
          type: CLUSTER,
          isWildcard: true,
          names: 2,
          doesNotExist: ["none"],
          sentRevision: 1,
          sentVersion: version,
          pending: [],
          acked: undefined,
          nacked: { ...first, error: { code: 3, message: "no" }, names: ["a", "none"] },
        },
        { type: LISTENER, isWildcard: false, names: 1, doesNotExist: ["l"], pending: [listeners], acked: undefined },
      ],
    },
    { stream: 2, variant: "sotw", onlyType: CLUSTER, peer, node: undefined, layers: [], types: [] },
  ]);
});
