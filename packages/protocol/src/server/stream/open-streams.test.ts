import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says, sotw, talkWith } from "../../../test/support/conversation.ts";
import { initialVersionsOf } from "../../../test/support/model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, resource, UNKNOWN } from "../../../test/support/resources.ts";
import { statusCode } from "../../message/status.ts";
import type { Node } from "../../node/node.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import type { ServerMachineOptions } from "../contract/server-machine-options.ts";
import { bytesOfValue } from "../memory/value-cost.ts";

describe("a request", () => {
  test("for more names than the limit ends the stream; as many as the limit are served", () => {
    const talk = talkWith("delta", [plain("a")], { maxSubscriptionsPerStream: 3 });
    talk.hear(1, delta(CLUSTER, { subscribe: ["a", "b"] }));
    expect(says(talk.hear(1, delta(ENDPOINTS, { subscribe: ["a"] })))).toEqual([["-a"]]);
    expect(talk.hear(1, delta(ENDPOINTS, { subscribe: ["b"] }))).toEqual([]);
    const message = "subscribed to 4 names; at most 3 per stream are served";
    expect(talk.ended).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
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
      expect({ reads, ends: talk.ended }).toEqual({
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
    expect(talk.ended).toEqual([]);
  });

  test.each([
    { named: "hints", dialect: { ignoreHints: true } },
    { named: "names that do not end a lasting wildcard", dialect: { wildcardSticky: true, wildcardTypes: true } },
  ])("for more $named than the limit, over all types, ends the stream", ({ dialect }) => {
    const talk = talkWith("sotw", [plain("a")], { maxSubscriptionsPerStream: 3, dialect });
    talk.settle(talk.subscribe(1, CLUSTER));
    talk.settle(talk.subscribe(1, LISTENER));
    talk.list(1, CLUSTER, ["a", "b"]);
    talk.list(1, LISTENER, ["c"]);
    talk.list(1, CLUSTER, ["e"]);
    talk.list(1, LISTENER, ["c", "d"]);
    expect(talk.ended).toEqual([]);
    talk.list(1, LISTENER, ["c", "d", "f"]);
    const message = "subscribed to 4 names; at most 3 per stream are served";
    expect(talk.ended).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });

  test.each(["delta", "sotw"] as const)("for long names in %s counts each for several", (variant) => {
    const talk = talkWith(variant, [plain("a")], { maxSubscriptionsPerStream: 3 });
    const [fits, long] = ["f".repeat(2 * 256), "l".repeat(2 * 256 + 1)];
    const ask = (...names: string[]): unknown =>
      talk.hear(1, variant === "delta" ? delta(CLUSTER, { subscribe: names }) : sotw(CLUSTER, { names }));
    ask("a", fits);
    expect(talk.ended).toEqual([]);
    ask("a", fits, long);
    const message = "subscribed to 6 names; at most 3 per stream are served";
    expect(talk.ended).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });

  test("for more types than the limit ends the stream; as many as the limit are served", () => {
    const talk = talkWith("delta", [plain("a")], { maxTypesPerStream: 2 });
    talk.hear(1, delta(CLUSTER, {}));
    talk.hear(1, delta(UNKNOWN, {}));
    talk.hear(1, delta(CLUSTER, {}));
    expect(talk.ended).toEqual([]);
    talk.hear(1, delta(LISTENER, {}));
    const message = "asks for 3 types; at most 2 per stream are served";
    expect(talk.ended).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });

  test.each(["delta", "sotw"] as const)("that goes on asking in %s and answers nothing ends the stream", (variant) => {
    const talk = new Conversation({ maxUnacknowledgedPerType: 3 });
    talk.put(resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1"));
    talk.open(1, variant);
    const ask = (name: string): unknown =>
      talk.hear(1, variant === "delta" ? delta(ENDPOINTS, { subscribe: ["a"] }) : sotw(ENDPOINTS, { names: [name] }));
    for (const name of ["a", "b", "a"]) ask(name);
    expect(talk.ended).toEqual([]);
    ask("b");
    ask("a");
    const message = "4 responses of a type were neither accepted nor refused; at most 3 may be";
    expect(talk.ended).toEqual([[1, { code: statusCode.RESOURCE_EXHAUSTED, message }]]);
  });
});

test("a client that says nothing more ends its stream too, when it is sent more than it may leave unanswered", () => {
  const talk = talkWith("delta", [plain("a")], { maxUnacknowledgedPerType: 2 });
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

test("S-OBS-02 the end of a stream names the limit that it exceeds", () => {
  const endOf = (limits: Partial<ServerMachineOptions>): unknown => {
    const talk = talkWith("delta", [], { accountOf: () => ({ key: "a", by: "address" }), ...limits });
    talk.hear(1, delta(CLUSTER, { subscribe: ["a", "b"] }));
    return talk.asked;
  };
  const end = (limit: string, message: string): unknown => [
    { kind: "close-stream", stream: 1, status: { code: statusCode.RESOURCE_EXHAUSTED, message }, limit },
  ];
  expect(endOf({ maxSubscriptionsPerStream: 1 })).toEqual(
    end("maxSubscriptionsPerStream", "subscribed to 2 names; at most 1 per stream are served"),
  );
  const message = "the streams of this address hold 2 names; at most 1 are served (maxSubscriptionsPerPeer)";
  expect(endOf({ maxSubscriptionsPerPeer: 1 })).toEqual(end("maxSubscriptionsPerPeer", message));
});

describe("the memory of nodes", () => {
  const heavy = (id: string): Node => ({ ...node(id), metadata: { list: Array(100).fill({}) } });
  const each = bytesOfValue(heavy("a"));
  const ended = (used: number, most: number): unknown => ({
    code: statusCode.RESOURCE_EXHAUSTED,
    message: `what the streams and polls of this server say of themselves takes ${used} bytes of memory; at most ${most} are served (maxClientBytes)`,
  });

  test("beyond the limit ends the stream at its first request; a stream that ends makes room", () => {
    const talk = new Conversation({ maxClientBytes: 2 * each });
    for (const stream of [1, 2, 3]) {
      talk.open(stream, "delta");
      talk.hear(stream, delta(CLUSTER, { node: heavy(`${stream}`) }));
    }
    expect([talk.ended, talk.machine.clientBytes]).toEqual([[[3, ended(3 * each, 2 * each)]], 2 * each]);
    talk.on({ kind: "stream-closed", stream: 1 });
    talk.open(4, "delta");
    talk.hear(4, delta(CLUSTER, { node: heavy("4") }));
    expect([talk.ended.length, talk.machine.clientBytes]).toEqual([1, 2 * each]);
    for (const stream of [2, 4]) talk.on({ kind: "stream-closed", stream });
    expect(talk.machine.clientBytes).toBe(0);
  });

  test("goes with that of versions that a client listed, until they were compared", () => {
    const client = node("n");
    const versions = { ...initialVersionsOf([["a", "1"]]), byteLength: 1_000 };
    const talk = new Conversation({ maxClientBytes: bytesOfValue(client) + 1_500 });
    talk.open(1, "delta");
    const list = (type: TypeUrl): void =>
      talk.receive(1, delta(type, { node: client, subscribe: ["*"], initialVersions: versions }));
    const before = talk.machine.clientBytes;
    list(CLUSTER);
    const listed = talk.machine.clientBytes;
    talk.turns();
    expect([before, listed, talk.machine.clientBytes]).toEqual([0, bytesOfValue(client) + 1_000, bytesOfValue(client)]);
    list(LISTENER);
    list(ENDPOINTS);
    const used = bytesOfValue(client) + 2_000;
    expect([talk.ended, talk.machine.clientBytes]).toEqual([[[1, ended(used, used - 500)]], 0]);
  });

  test("goes with that of the reasons of NACKs, until a response with the resource is ACKed", () => {
    const most = bytesOfValue(node("n")) + 10_000;
    const talk = talkWith("delta", [plain("a")], { maxClientBytes: most });
    const reject = (type: TypeUrl, nonce: string | undefined): void =>
      void talk.hear(1, delta(type, { nonce, error: { code: 3, message: "x".repeat(2_000) } }));
    const [first] = talk.hear(1, delta(CLUSTER, { node: node("n"), subscribe: ["a"] }));
    reject(CLUSTER, first?.nonce);
    // As the newest NACK, and as one of this resource.
    const bytes = bytesOfValue(node("n")) + 2 * (2_000 + 32);
    expect([talk.machine.clientBytes, talk.ended]).toEqual([bytes, []]);
    talk.put(resource(CLUSTER, "a", "2"));
    const [second] = talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: second?.nonce }));
    expect(talk.machine.clientBytes).toBe(bytesOfValue(node("n")));
    for (let round = 3; talk.ended.length === 0 && round < 20; round++) {
      talk.put(resource(CLUSTER, "a", String(round)));
      for (const { nonce } of talk.turns()) reject(CLUSTER, nonce);
    }
    expect(talk.ended).toEqual([[1, ended(bytesOfValue(node("n")) + 5 * (2_000 + 32), most)]]);
  });

  test("is that of the first and of the newest node, which counts instead of the one before", () => {
    const talk = new Conversation({ maxClientBytes: 2 * each });
    const request = (by: Node): unknown => talk.hear(1, delta(CLUSTER, { node: by }));
    talk.open(1, "delta");
    const light = node("a");
    for (const by of [light, light]) request(by);
    expect(talk.machine.clientBytes).toBe(bytesOfValue(light));
    for (const by of [heavy("a"), heavy("a")]) request(by);
    expect([talk.ended, talk.machine.clientBytes]).toEqual([[], bytesOfValue(light) + each]);
    request({ ...heavy("a"), metadata: { lists: [heavy("a").metadata, heavy("a").metadata] } });
    expect([talk.ended.map(([stream]) => stream), talk.machine.clientBytes]).toEqual([[1], 0]);
  });

  test("of a client that is not admitted does not count", () => {
    const talk = new Conversation({ nodeMapping: () => ({ refused: "no" }) });
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, { node: heavy("a") }));
    expect([talk.ended.length, talk.machine.clientBytes]).toEqual([1, 0]);
  });
});
