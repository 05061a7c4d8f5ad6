import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "../../test/support/conversation.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, resource, traits, UNKNOWN } from "../../test/support/resources.ts";
import type { ClientChoice } from "../dialect/choice.ts";
import { statusCode } from "../message/status.ts";
import { opaqueTraits } from "../resource/type-traits.ts";
import { formatTypeUrl } from "../resource/type-url.ts";
import type { ServerEffect } from "./contract/effect.ts";
import { InvariantError } from "./contract/invariant-error.ts";
import type { ServerMachineOptions } from "./contract/server-machine-options.ts";
import { ServerMachine } from "./server-machine.ts";

const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const c = (name: string, label: string): ReturnType<typeof resource> =>
  resource(CLUSTER, name, label, { references: [] });
const says = (said: readonly { says: readonly string[] }[]): unknown => said.map((one) => one.says);
const ends = (talk: Conversation): unknown =>
  talk.asked.flatMap((effect) => (effect.kind === "close-stream" ? [[effect.stream, effect.status]] : []));

function talkWith(options: Partial<ServerMachineOptions> = {}): Conversation {
  const talk = new Conversation(options);
  talk.put(c("a", "1"));
  talk.open(1, "delta");
  return talk;
}

describe("the first request of a stream", () => {
  test("names its node, which is placed", () => {
    const talk = talkWith({ nodeMapping: ({ id }, { address }) => [id, address, "base"] });
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    expect(talk.reports[0]).toEqual({
      kind: "node-identified",
      stream: 1,
      node: node("n"),
      layers: ["n", "127.0.0.1:1", "base"],
    });
  });

  test("may leave the node out, unless one is required", () => {
    const lax = talkWith();
    expect(says(lax.hear(1, delta(CLUSTER, {})))).toEqual([["a@1"]]);
    const strict = talkWith({ dialect: { requireNode: true } });
    expect(strict.hear(1, delta(CLUSTER, {}))).toEqual([]);
    const message = "the first request of a stream needs a node";
    expect(ends(strict)).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message }]]);
    strict.open(2, "delta");
    expect(says(strict.hear(2, delta(CLUSTER, { node: node("n") })))).toEqual([["a@1"]]);
    expect(says(strict.hear(2, delta(CLUSTER, { nonce: "1" })))).toEqual([]);
    expect(strict.understood()).toBe("ack, acked 1");
  });

  test("ends the stream of a node that must not be served", () => {
    const talk = talkWith({ nodeMapping: () => ({ refused: "not you" }) });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    expect(ends(talk)).toEqual([[1, { code: statusCode.PERMISSION_DENIED, message: "not you" }]]);
    expect([...talk.machine.streams()]).toEqual([]);
  });
});

describe("a request", () => {
  test("of a stream that nobody opened, or that is closed, is nothing", () => {
    const talk = talkWith();
    expect(talk.hear(9, delta(CLUSTER, {}))).toEqual([]);
    talk.machine.on({ kind: "stream-closed", stream: 1 });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    expect([talk.reports, talk.asked]).toEqual([[], []]);
  });

  test("on an aggregated stream needs a type", () => {
    const talk = talkWith();
    talk.hear(1, { ...delta(CLUSTER, {}), type: undefined });
    const message = "a request on an aggregated stream needs a type_url";
    expect(ends(talk)).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message }]]);
  });

  test("on a stream of one type may leave it out, and cannot name another", () => {
    const talk = talkWith();
    talk.open(2, "delta", CLUSTER);
    expect(says(talk.hear(2, { ...delta(CLUSTER, {}), type: undefined }))).toEqual([["a@1"]]);
    talk.hear(2, delta(LISTENER, {}));
    const message = "this method serves envoy.config.cluster.v3.Cluster, not envoy.config.listener.v3.Listener";
    expect(ends(talk)).toEqual([[2, { code: statusCode.INVALID_ARGUMENT, message }]]);
  });

  describe("on a stream of one type that has a twin", () => {
    const twins = new Map([
      [CLUSTER, CLUSTER_V2],
      [CLUSTER_V2, CLUSTER],
    ]);
    const talkOfTwins = (): Conversation => {
      const talk = talkWith({
        traits: (type) => {
          const twin = twins.get(type);
          const known = traits(type === CLUSTER_V2 ? CLUSTER : type);
          return known && { ...known, type, ...(twin !== undefined && { twin }) };
        },
      });
      talk.put(resource(CLUSTER_V2, "a", "old", { references: [] }));
      talk.open(2, "delta", CLUSTER_V2, 1, { apiVersion: "v2" });
      return talk;
    };

    test("S-TYP-04 without a type means that of its method, in the version of its method", () => {
      expect(says(talkOfTwins().hear(2, { ...delta(CLUSTER, {}), type: undefined }))).toEqual([["a@old"]]);
    });

    test("S-TYP-06 may name the twin instead, and goes on with it when it leaves the type out", () => {
      const talk = talkOfTwins();
      expect(talk.hear(2, delta(CLUSTER, {}))).toMatchObject([{ type: CLUSTER, says: ["a@1"] }]);
      expect(talk.hear(2, { ...delta(CLUSTER, { nonce: "1" }), type: undefined })).toEqual([]);
      talk.put(c("a", "2"));
      expect(talk.turns()).toMatchObject([{ type: CLUSTER, says: ["a@2"] }]);
    });

    test("B-TYP-02 keeps to the one it began with", () => {
      const talk = talkOfTwins();
      talk.hear(2, delta(CLUSTER, {}));
      talk.hear(2, delta(CLUSTER_V2, {}));
      const message = "this stream carries envoy.config.cluster.v3.Cluster for its life, not envoy.api.v2.Cluster";
      expect(ends(talk)).toEqual([[2, { code: statusCode.INVALID_ARGUMENT, message }]]);
    });

    test("S-TYP-06 cannot name another, and is told both that it may", () => {
      const talk = talkOfTwins();
      talk.hear(2, delta(LISTENER, {}));
      const message =
        "this method serves envoy.api.v2.Cluster or envoy.config.cluster.v3.Cluster, not envoy.config.listener.v3.Listener";
      expect(ends(talk)).toEqual([[2, { code: statusCode.INVALID_ARGUMENT, message }]]);
    });
  });

  test("on a method that needs a switch which is off ends the stream, and says which", () => {
    const message = 'this method is only served where the switch "incremental2018" is on';
    const off = talkWith();
    off.open(2, "delta", CLUSTER, 1, { apiVersion: "v2", needs: "incremental2018" });
    off.hear(2, delta(CLUSTER, {}));
    expect(ends(off)).toEqual([[2, { code: statusCode.UNIMPLEMENTED, message }]]);
    const on = talkWith({ edition: "2018" });
    on.open(2, "delta", CLUSTER, 1, { apiVersion: "v2", needs: "incremental2018" });
    expect(says(on.hear(2, delta(CLUSTER, {})))).toEqual([["a@1"]]);
  });

  test("of an unknown type is borne, once noted, or ends the stream where that is switched on", () => {
    const talk = talkWith();
    talk.hear(1, delta(UNKNOWN, { subscribe: ["x"] }));
    expect(talk.reports.flatMap((one) => (one.kind === "anomaly" ? [one.what] : []))).toEqual(["unknown-type"]);
    talk.hear(1, delta(UNKNOWN, { nonce: "1" }));
    expect(talk.reports.filter((one) => one.kind === "anomaly").length).toBe(1);
    const strict = talkWith({ dialect: { unknownType: "reject" } });
    strict.hear(1, delta(UNKNOWN, {}));
    expect(ends(strict)).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message: "unknown type acme.Unheard" }]]);
    strict.put(resource(UNKNOWN, "x", "1"));
    strict.open(2, "delta");
    expect(says(strict.hear(2, delta(UNKNOWN, { subscribe: ["x"] })))).toEqual([["x@1"]]);
  });

  test("with another node is borne, or ends the stream where that is switched on", () => {
    const talk = talkWith();
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { node: { ...node("n"), metadata: { other: true } } }));
    expect(talk.reports.filter((one) => one.kind === "anomaly")).toEqual([]);
    for (const other of [node("m"), { ...node("n"), cluster: "x" }, node("n", "envoy")]) {
      talk.hear(1, delta(CLUSTER, { node: other }));
    }
    const odd = talk.reports.flatMap((one) => (one.kind === "anomaly" ? [one.what] : []));
    expect(odd).toEqual(["node-changed", "node-changed", "node-changed"]);
    const strict = talkWith({ dialect: { nodeChange: "reject" } });
    strict.hear(1, delta(CLUSTER, { node: node("n") }));
    strict.hear(1, delta(CLUSTER, { node: node("m") }));
    const message = 'the node of a stream cannot change from "n" to "m"';
    expect(ends(strict)).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message }]]);
  });

  test("for more names than the limit ends the stream; as many as the limit are served", () => {
    const talk = talkWith({ maxSubscriptionsPerStream: 3 });
    talk.hear(1, delta(CLUSTER, { subscribe: ["a", "b"] }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] })))).toEqual([["-a"]]);
    expect(talk.hear(1, delta(ENDPOINTS, { subscribe: ["b"] }))).toEqual([]);
    const message = "subscribed to 4 names; at most 3 per stream are served";
    expect(ends(talk)).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });

  test.each(["delta", "sotw"] as const)(
    "that lists more names than the limit in %s ends the stream, and its names are only counted",
    (variant) => {
      const talk = new Conversation({ maxSubscriptionsPerStream: 3 });
      talk.open(1, variant);
      let reads = 0;
      const names = Object.assign(["a", "b", "c", "d"], {
        *[Symbol.iterator]() {
          reads++;
          for (let at = 0; at < 4; at++) yield "abcd"[at] ?? "";
        },
      });
      talk.hear(1, variant === "delta" ? delta(CLUSTER, { subscribe: names }) : sotw(CLUSTER, { names }));
      const message = "subscribed to 4 names; at most 3 per stream are served";
      expect({ reads, ends: ends(talk) }).toEqual({
        reads: 1,
        ends: [[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]],
      });
    },
  );

  test.each(["delta", "sotw"] as const)("S-SUB-20 that repeats names in %s is served", (variant) => {
    const talk = new Conversation({ maxSubscriptionsPerStream: 3 });
    talk.open(1, variant);
    const names = ["a", "b", "a", "b", "c", "*"];
    talk.hear(1, variant === "delta" ? delta(CLUSTER, { subscribe: names }) : sotw(CLUSTER, { names }));
    expect(ends(talk)).toEqual([]);
  });

  test("for more types than the limit ends the stream; as many as the limit are served", () => {
    const talk = talkWith({ maxTypesPerStream: 2 });
    talk.hear(1, delta(CLUSTER, {}));
    talk.hear(1, delta(UNKNOWN, {}));
    talk.hear(1, delta(CLUSTER, {}));
    expect(ends(talk)).toEqual([]);
    talk.hear(1, delta(LISTENER, {}));
    const message = "asks for 3 types; at most 2 per stream are served";
    expect(ends(talk)).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });

  test.each(["delta", "sotw"] as const)("that goes on asking in %s and answers nothing ends the stream", (variant) => {
    const talk = new Conversation({ maxUnacknowledgedPerType: 3 });
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    talk.open(1, variant);
    const ask = (name: string): unknown =>
      talk.hear(1, variant === "delta" ? delta(ENDPOINTS, { subscribe: ["a"] }) : sotw(ENDPOINTS, { names: [name] }));
    for (const name of ["a", "b", "a"]) ask(name);
    expect(ends(talk)).toEqual([]);
    ask("b");
    ask("a");
    const message = "4 responses of a type were neither accepted nor refused; at most 3 may be";
    expect(ends(talk)).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });
});

test("a client that says nothing more ends its stream too, when it is sent more than it may leave unanswered", () => {
  const talk = talkWith({ maxUnacknowledgedPerType: 2 });
  talk.put(resource(ENDPOINTS, "a", "0"));
  talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] }));
  const sent = ["1", "2", "3"].map((label) => {
    talk.put(resource(ENDPOINTS, "a", label));
    talk.turns();
    // It is waited for in vain.
    for (const effect of talk.asked.splice(0)) if (effect.kind === "start-timer") talk.fire(effect.timer);
    return [talk.turns().length, talk.asked.filter(({ kind }) => kind === "close-stream").length];
  });
  expect(sent).toEqual([
    [1, 0],
    [1, 1],
    [0, 0],
  ]);
});

describe("what the operator switched", () => {
  test("for a listener beats what is switched for all", () => {
    const talk = talkWith({ dialect: { wildcardTypes: false } });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    const listener = { name: "old", dialect: { wildcardTypes: true } };
    talk.machine.on({
      kind: "stream-opened",
      stream: 2,
      variant: "delta",
      onlyType: undefined,
      apiVersion: "v3",
      peer,
      connection: 2,
      listener,
    });
    expect(says(talk.hear(2, delta(CLUSTER, {})))).toEqual([["a@1"]]);
  });

  test("for some clients holds for streams whose first request comes after it", () => {
    const clients: ClientChoice = ({ id }) =>
      id === "old" ? { name: "few", dialect: { wildcardTypes: false } } : undefined;
    const talk = talkWith({ clients });
    const asksFor = (stream: number, id: string): unknown =>
      says(talk.hear(stream, delta(CLUSTER, { node: node(id) })));
    expect(asksFor(1, "old")).toEqual([]);
    talk.open(2, "delta");
    expect(asksFor(2, "new")).toEqual([["a@1"]]);
    talk.open(3, "delta");
    talk.machine.on({ kind: "transaction-committed", clients: () => undefined });
    expect(asksFor(3, "old")).toEqual([["a@1"]]);
    expect([...talk.machine.streams()].map(({ dialect }) => dialect?.clients)).toEqual(["few", undefined, undefined]);
  });

  test("for some clients may require a node, also of those that say nothing", () => {
    const clients: ClientChoice = ({ id }) =>
      id === "" ? { name: "anonymous", dialect: { requireNode: true } } : undefined;
    const talk = talkWith({ clients });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    expect(ends(talk)).toMatchObject([[1, { code: statusCode.INVALID_ARGUMENT }]]);
  });
});

describe("an answer that stays away", () => {
  const timers = (talk: Conversation): unknown =>
    talk.asked.flatMap((effect) => {
      if (effect.kind === "start-timer") return [`start ${effect.timer} ${effect.ms}`];
      return effect.kind === "cancel-timer" ? [`cancel ${effect.timer}`] : [];
    });

  test("holds newer content up until its time is over", () => {
    const talk = talkWith({ dialect: { ackLimitMs: 500 } });
    talk.hear(1, delta(CLUSTER, {}));
    talk.turns();
    expect(timers(talk)).toEqual([]);
    talk.put(c("a", "2"));
    expect(talk.turns()).toEqual([]);
    talk.put(c("a", "3"));
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
    const talk = talkWith();
    talk.hear(1, delta(CLUSTER, {}));
    talk.put(c("a", "2"));
    talk.turns();
    expect(says(talk.hear(1, delta(CLUSTER, { nonce: "1" })))).toEqual([["a@2"]]);
    expect(timers(talk)).toEqual(["start 1 30000", "cancel 1"]);
    expect(talk.machine.on({ kind: "timer-fired", timer: 1 })).toEqual([]);
    talk.put(c("a", "3"));
    talk.turns();
    expect(talk.machine.on({ kind: "stream-closed", stream: 1 })).toEqual([{ kind: "cancel-timer", timer: 2 }]);
  });

  test("of one type does not end the wait for that of another", () => {
    const talk = talkWith();
    talk.put(resource(LISTENER, "l", "1"));
    talk.hear(1, delta(CLUSTER, {}));
    talk.hear(1, delta(LISTENER, {}));
    talk.put(c("a", "2"), resource(LISTENER, "l", "2"));
    talk.turns();
    expect(timers(talk)).toEqual(["start 1 30000", "start 2 30000"]);
    talk.hear(1, delta(LISTENER, { nonce: "2" }));
    expect(timers(talk)).toEqual(["start 1 30000", "start 2 30000", "cancel 2"]);
  });
});

describe("turns", () => {
  test("are given to at most so many streams at a time, in order, and to none that is stalled", () => {
    const talk = new Conversation();
    talk.put(c("a", "1"));
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
    talk.put(c("a", "2"));
    talk.machine.on({ kind: "stream-drained", stream: 2 });
    expect(says(talk.turns())).toEqual([["a@2"]]);
    talk.machine.on({ kind: "stream-stalled", stream: 9 });
    talk.machine.on({ kind: "stream-drained", stream: 9 });
    expect(talk.machine.isDue).toBe(false);
  });

  test("are not needed by streams whose view a transaction does not concern", () => {
    const talk = talkWith();
    talk.hear(1, delta(CLUSTER, {}));
    expect(talk.machine.isDue).toBe(false);
    talk.change({ layer: "other", puts: [c("a", "9")] });
    expect(talk.machine.isDue).toBe(false);
    talk.put(c("a", "1"));
    expect([talk.machine.isDue, talk.machine.revision]).toEqual([false, 2]);
  });

  test("that meet a bug name its stream", () => {
    const boom = (): Uint8Array => {
      throw new Error("boom");
    };
    const machine = new ServerMachine({
      digest,
      traits: (type) => (type === ENDPOINTS ? { ...opaqueTraits(type), kind: "eds", placeholder: boom } : traits(type)),
      nodeMapping: () => ["base"],
    });
    const puts = [resource(CLUSTER, "a", "1")];
    machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
    machine.on({
      kind: "stream-opened",
      stream: 7,
      variant: "delta",
      onlyType: ENDPOINTS,
      apiVersion: "v3",
      peer,
      connection: 1,
    });
    machine.on({ kind: "request-received", stream: 7, request: delta(ENDPOINTS, { subscribe: ["a"] }) });
    let thrown: unknown;
    try {
      machine.next(1);
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

describe("what one stream owes on another of the same node", () => {
  test.each(["sotw", "delta"] as const)("is told although the other one had its turn (%s)", (variant) => {
    const talk = new Conversation();
    talk.put(resource(CLUSTER, "a", "1"), resource(ENDPOINTS, "a", "1"));
    const ask = (stream: number, type: typeof CLUSTER, names: readonly string[], nonce?: string): void => {
      const request =
        variant === "sotw"
          ? sotw(type, { node: node("n"), names, nonce })
          : delta(type, { node: node("n"), ...(nonce === undefined ? { subscribe: names } : { nonce }) });
      talk.hear(stream, request);
    };
    for (const [stream, type, names] of [
      [1, ENDPOINTS, ["a"]],
      [2, CLUSTER, ["*"]],
    ] as const) {
      talk.open(stream, variant, type);
      ask(stream, type, names);
      ask(stream, type, names, "1");
    }
    talk.put(resource(CLUSTER, "a", "2"));
    expect(talk.turns().map(({ stream, says }) => [stream, says])).toEqual([
      [2, ["a@2"]],
      [1, ["a@1"]],
    ]);
  });
});

describe("nodes that are placed anew", () => {
  test("move, stay or go", () => {
    const talk = new Conversation({ nodeMapping: () => ["base"] });
    talk.put(c("a", "1"));
    talk.change({ layer: "other", puts: [c("a", "2")] });
    for (const [stream, id] of [
      [1, "moves"],
      [2, "stays"],
      [3, "goes"],
    ] as const) {
      talk.open(stream, "delta");
      talk.hear(stream, delta(CLUSTER, { node: node(id) }));
      talk.hear(stream, delta(CLUSTER, { nonce: "1" }));
    }
    const places = new Map<string, readonly string[] | { refused: string }>([
      ["moves", ["other", "base"]],
      ["stays", ["base"]],
      ["goes", { refused: "no more" }],
    ]);
    const effects = talk.machine.on({ kind: "transaction-committed", nodeMapping: ({ id }) => places.get(id) ?? [] });
    const status = { code: statusCode.PERMISSION_DENIED, message: "no more" };
    expect(effects).toEqual([
      {
        kind: "report",
        report: { kind: "node-moved", stream: 1, node: node("moves"), layers: ["other", "base"] },
      },
      { kind: "close-stream", stream: 3, status },
    ]);
    expect(talk.turns().map(({ stream, says }) => [stream, says])).toEqual([[1, ["a@2"]]]);
    talk.hear(1, delta(CLUSTER, { nonce: "2" }));
    talk.change({ layer: "other", puts: [c("b", "1")] });
    expect(talk.turns().map(({ stream }) => stream)).toEqual([1]);
  });
});

describe("journals", () => {
  const far = (effects: readonly ServerEffect[]): unknown =>
    effects.flatMap((effect) => (effect.kind === "close-stream" ? [[effect.stream, effect.status.code]] : []));
  const commit = (machine: ServerMachine, label: string): readonly ServerEffect[] =>
    machine.on({
      kind: "transaction-committed",
      transaction: { changes: [{ layer: "base", puts: [c("a", label)] }] },
    });
  function machineWith(options: Partial<ServerMachineOptions>): ServerMachine {
    const machine = new ServerMachine({ digest, traits, nodeMapping: ({ id }) => [id], ...options });
    commit(machine, "0");
    for (const [stream, id] of [
      [1, "base"],
      [2, "elsewhere"],
      [3, "base"],
    ] as const) {
      machine.on({
        kind: "stream-opened",
        stream,
        variant: "sotw",
        onlyType: undefined,
        apiVersion: "v3",
        peer,
        connection: stream,
      });
      const type = stream === 3 ? LISTENER : CLUSTER;
      machine.on({ kind: "request-received", stream, request: sotw(type, { node: node(id) }) });
    }
    machine.next(10);
    return machine;
  }

  test("that grow past the limit in lines end who stands behind them, and nobody else", () => {
    const machine = machineWith({ maxJournalLines: 2 });
    expect(["1", "2"].map((label) => far(commit(machine, label)))).toEqual([[], []]);
    expect(far(commit(machine, "3"))).toEqual([[1, statusCode.UNAVAILABLE]]);
    expect([...machine.streams()].map((one) => one.stream)).toEqual([2, 3]);
  });

  test("that grow past the limit in bytes do too", () => {
    const machine = machineWith({ maxJournalBytes: 10 });
    expect(["1", "2", "3"].map((label) => far(commit(machine, label)))).toEqual([[], [], []]);
    expect(far(commit(machine, "4"))).toEqual([[1, statusCode.UNAVAILABLE]]);
  });
});

describe("the server machine describes", () => {
  test("streams before and after their first request", () => {
    const talk = talkWith();
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
            missing: ["none"],
            toldRevision: 1,
            sentVersion: version,
            pending: [],
            acked: undefined,
            nacked: { ...first, error: { code: 3, message: "no" }, refused: ["a", "none"] },
          },
          { type: LISTENER, isWildcard: false, names: 1, missing: ["l"], pending: [listeners], acked: undefined },
        ],
      },
      { stream: 2, variant: "sotw", onlyType: CLUSTER, peer, node: undefined, layers: [], types: [] },
    ]);
  });

  test("at most a hundred names that nothing answers to", () => {
    const talk = talkWith();
    talk.hear(1, delta(CLUSTER, { subscribe: Array.from({ length: 120 }, (_, i) => `x${i}`) }));
    const type = [...talk.machine.streams()][0]?.types[0];
    expect([type?.names, type?.missing.length]).toEqual([120, 100]);
  });

  test("a system version, in delta only, from when it is set", () => {
    const talk = talkWith();
    const set = { changes: [], systemVersion: "v7" };
    talk.machine.on({ kind: "transaction-committed", transaction: set });
    talk.open(2, "sotw");
    const versions = [talk.hear(1, delta(CLUSTER, {})), talk.hear(2, sotw(CLUSTER, {}))].map(
      (said) => said[0]?.version,
    );
    expect(versions[0]).toBe("v7");
    expect(versions[1]).not.toBe("v7");
    expect(talk.machine.revision).toBe(2);
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.put(c("a", "2"));
    expect(talk.turns().map((one) => one.version)).toEqual(["v7"]);
  });
});
