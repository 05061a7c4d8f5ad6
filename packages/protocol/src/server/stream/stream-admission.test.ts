import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says, talkWith } from "../../../test/support/conversation.ts";
import { CLUSTER, plain, resource, UNKNOWN } from "../../../test/support/resources.ts";
import type { ClientChoice } from "../../dialect/choice.ts";
import { statusCode } from "../../message/status.ts";

describe("the first request of a stream", () => {
  test("names its node, which is placed", () => {
    const talk = talkWith("delta", [plain("a")], { nodeMapping: ({ id }, { address }) => [id, address, "base"] });
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    expect(talk.reports[0]).toEqual({
      kind: "node-connected",
      stream: 1,
      node: node("n"),
      layers: ["n", "127.0.0.1:1", "base"],
    });
  });

  test("may leave the node out, unless one is required", () => {
    const lax = talkWith("delta", [plain("a")]);
    expect(says(lax.hear(1, delta(CLUSTER, {})))).toEqual([["a@1"]]);
    const strict = talkWith("delta", [plain("a")], { dialect: { requireNode: true } });
    expect(strict.hear(1, delta(CLUSTER, {}))).toEqual([]);
    const message = "the first request of a stream needs a node";
    expect(strict.ended).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message }]]);
    strict.open(2, "delta");
    expect(says(strict.hear(2, delta(CLUSTER, { node: node("n") })))).toEqual([["a@1"]]);
    expect(says(strict.hear(2, delta(CLUSTER, { nonce: "1" })))).toEqual([]);
    expect(strict.understood()).toBe("ack, acked 1");
  });

  test("ends the stream of a node that must not be served", () => {
    const talk = talkWith("delta", [plain("a")], { nodeMapping: () => ({ refused: "not you" }) });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    expect(talk.ended).toEqual([[1, { code: statusCode.PERMISSION_DENIED, message: "not you" }]]);
    expect([...talk.machine.streams()]).toEqual([]);
  });
});

describe("a request", () => {
  test("of an unknown type is borne, once noted, or ends the stream where that is switched on", () => {
    const talk = talkWith("delta", [plain("a")]);
    talk.hear(1, delta(UNKNOWN, { subscribe: ["x"] }));
    expect(talk.reports.flatMap((one) => (one.kind === "anomaly" ? [one.what] : []))).toEqual(["unknown-type"]);
    talk.hear(1, delta(UNKNOWN, { nonce: "1" }));
    expect(talk.reports.filter((one) => one.kind === "anomaly").length).toBe(1);
    const strict = talkWith("delta", [plain("a")], { dialect: { unknownType: "reject" } });
    strict.hear(1, delta(UNKNOWN, {}));
    expect(strict.ended).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message: "unknown type acme.Unheard" }]]);
    strict.put(resource(UNKNOWN, "x", "1"));
    strict.open(2, "delta");
    expect(says(strict.hear(2, delta(UNKNOWN, { subscribe: ["x"] })))).toEqual([["x@1"]]);
  });

  test("with another node is borne, or ends the stream where that is switched on", () => {
    const talk = talkWith("delta", [plain("a")]);
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { node: { ...node("n"), metadata: { other: true } } }));
    expect(talk.reports.filter((one) => one.kind === "anomaly")).toEqual([]);
    for (const other of [node("m"), { ...node("n"), cluster: "x" }, node("n", "envoy")]) {
      talk.hear(1, delta(CLUSTER, { node: other }));
    }
    const odd = talk.reports.flatMap((one) => (one.kind === "anomaly" ? [one.what] : []));
    expect(odd).toEqual(["node-changed", "node-changed", "node-changed"]);
    const strict = talkWith("delta", [plain("a")], { dialect: { nodeChange: "reject" } });
    strict.hear(1, delta(CLUSTER, { node: node("n") }));
    strict.hear(1, delta(CLUSTER, { node: node("m") }));
    const message = 'the node of a stream cannot change from "n" to "m"';
    expect(strict.ended).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message }]]);
  });
});

describe("what the operator switched", () => {
  test("for a listener beats what is switched for all", () => {
    const talk = talkWith("delta", [plain("a")], { dialect: { wildcardTypes: false } });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    const listener = { name: "old", dialect: { wildcardTypes: true } };
    talk.open(2, "delta", undefined, 2, { listener });
    expect(says(talk.hear(2, delta(CLUSTER, {})))).toEqual([["a@1"]]);
  });

  test("for some clients holds for streams whose first request comes after it", () => {
    const clients: ClientChoice = ({ id }) =>
      id === "old" ? { name: "few", dialect: { wildcardTypes: false } } : undefined;
    const talk = talkWith("delta", [plain("a")], { clients });
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
    const talk = talkWith("delta", [plain("a")], { clients });
    expect(talk.hear(1, delta(CLUSTER, {}))).toEqual([]);
    expect(talk.ended).toMatchObject([[1, { code: statusCode.INVALID_ARGUMENT }]]);
  });
});

describe("nodes that are placed anew", () => {
  test("move, stay or go", () => {
    const talk = new Conversation({ nodeMapping: () => ["base"] });
    talk.put(plain("a"));
    talk.change({ layer: "other", puts: [plain("a", "2")] });
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
    talk.change({ layer: "other", puts: [plain("b")] });
    expect(talk.turns().map(({ stream }) => stream)).toEqual([1]);
  });
});
