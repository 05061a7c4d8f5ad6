import type { TypeUrl } from "@xdskit/protocol";
import type { RevisionProgress, SotwRequest } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource } from "./support/resources.ts";

const everybody = (): boolean => true;
const error = { code: 13, message: "no" };

/** Progress in short: `a: cds unacked`, a line for each straggler. */
function shown({ nodes, deployed, pending, rejected, disconnected }: RevisionProgress): readonly string[] {
  const short = (type: TypeUrl): string => type.slice(type.lastIndexOf(".") + 1);
  const lines = [...pending, ...rejected].flatMap((one) =>
    one.types.map(({ type, state, names, wait, error: why }) =>
      [one.node.id, short(type), state, ...names, wait?.for, why?.message]
        .filter((part) => part !== undefined)
        .join(" "),
    ),
  );
  return [`${deployed} of ${nodes}`, ...lines, ...disconnected.map(({ id, reached }) => `${id} left at ${reached}`)];
}

class Fleet extends Conversation {
  /** Who has a revision; the newest, unless given. */
  who(revision = this.machine.revision, isWanted: (id: string) => boolean = everybody): readonly string[] {
    return shown(this.machine.progress.of(revision, isWanted));
  }

  join(stream: number, id: string, type: TypeUrl = CLUSTER): void {
    this.open(stream, "delta", undefined, stream);
    this.hear(stream, delta(type, { node: node(id) }));
  }
}

function fleet(): Fleet {
  const talk = new Fleet();
  talk.put(resource(CLUSTER, "a", "1", { references: [] }));
  return talk;
}

describe("a node has a revision", () => {
  test("when it ACKed everything up to it, and not before it asked or while an answer is on its way", () => {
    const talk = fleet();
    expect(talk.who()).toEqual(["0 of 0"]);
    talk.open(1, "delta");
    expect(talk.who()).toEqual(["0 of 0"]);
    talk.receive(1, delta(CLUSTER, { node: node("n") }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unsent"]);
    talk.turns();
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unacked"]);
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("in State of the World too", () => {
    const talk = fleet();
    talk.open(1, "sotw");
    talk.hear(1, sotw(CLUSTER, { node: node("n") }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unacked"]);
    const versionInfo = [...talk.machine.streams()][0]?.types[0]?.sentVersion;
    talk.hear(1, sotw(CLUSTER, { nonce: "1", versionInfo }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("an older one, while a newer one is on its way", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.put(resource(CLUSTER, "a", "2", { references: [] }));
    expect([talk.who(1), talk.who(2)]).toEqual([["1 of 1"], ["0 of 1", "n Cluster unsent"]]);
    talk.turns();
    expect([talk.who(1), talk.who(2)]).toEqual([["1 of 1"], ["0 of 1", "n Cluster unacked"]]);
  });

  test("that does not concern it", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.put(resource(LISTENER, "l", "1"));
    expect(talk.who()).toEqual(["1 of 1"]);
    talk.turns();
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("when all its streams have it", () => {
    const talk = fleet();
    talk.put(resource(LISTENER, "l", "1"));
    talk.join(1, "n");
    talk.join(2, "n", LISTENER);
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    expect(talk.who()).toEqual(["0 of 1", "n Listener unacked"]);
    talk.hear(2, delta(LISTENER, { nonce: "1" }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("when it reconnected with the versions of it, and ACKed that nothing is new", () => {
    const talk = fleet();
    const version = [...talk.machine.resources(["base"], CLUSTER)][0]?.version ?? "";
    talk.open(1, "delta");
    const said = talk.hear(
      1,
      delta(CLUSTER, { node: node("n"), initialVersions: initialVersionsOf([["a", version]]) }),
    );
    expect(said.map(({ says }) => says)).toEqual([[]]);
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("not when it moved to other layers, until it was told: a move is a revision", () => {
    const talk = fleet();
    talk.change({ layer: "other", puts: [resource(CLUSTER, "b", "1", { references: [] })] });
    talk.join(1, "n");
    talk.join(2, "stays");
    for (const stream of [1, 2]) talk.hear(stream, delta(CLUSTER, { nonce: "1" }));
    expect(talk.who()).toEqual(["2 of 2"]);
    talk.machine.on({
      kind: "transaction-committed",
      nodeMapping: ({ id }) => (id === "n" ? ["other", "base"] : ["base"]),
    });
    expect([talk.machine.revision, talk.who()]).toEqual([3, ["1 of 2", "n Cluster unsent"]]);
    talk.turns();
    expect(talk.who()).toEqual(["1 of 2", "n Cluster unacked"]);
    talk.hear(1, delta(CLUSTER, { nonce: "2" }));
    expect(talk.who()).toEqual(["2 of 2"]);
  });
});

describe("a rejection", () => {
  test("counts from the response that brought it until the name is ACKed in another", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.put(resource(CLUSTER, "a", "bad", { references: [] }));
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "2", error }));
    talk.put(resource(CLUSTER, "b", "1", { references: [] }));
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "3" }));
    expect([talk.who(1), talk.who(3)]).toEqual([["1 of 1"], ["0 of 1", "n Cluster rejected"]]);
    talk.put(resource(CLUSTER, "a", "good", { references: [] }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unsent"]);
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "4" }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("says what was rejected, and why", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.hear(1, delta(CLUSTER, { nonce: "1", error }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster rejected a no"]);
  });

  test("ends when the resource is deleted", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.hear(1, delta(CLUSTER, { nonce: "1", error }));
    talk.change({ deletes: [{ type: CLUSTER, name: "a" }] });
    talk.turns();
    talk.hear(1, delta(CLUSTER, { nonce: "2" }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });
});

describe("what waits", () => {
  test("is pending, and says for what: a route for its cluster, a removal for its route", () => {
    const talk = new Fleet();
    const route = (to: string): ReturnType<typeof resource> =>
      resource(ROUTE, "r", to, { references: [{ type: CLUSTER, name: to }] });
    talk.put(resource(CLUSTER, "a", "1", { references: [] }), route("a"));
    talk.open(1, "delta");
    talk.hear(1, delta(CLUSTER, { node: node("n") }));
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.hear(1, delta(ROUTE, { subscribe: ["r"] }));
    talk.hear(1, delta(ROUTE, { nonce: "2" }));
    expect(talk.who()).toEqual(["1 of 1"]);
    talk.change({
      puts: [resource(CLUSTER, "b", "1", { references: [] }), route("b")],
      deletes: [{ type: CLUSTER, name: "a" }],
    });
    talk.turns();
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unacked users", "n RouteConfiguration unsent cluster"]);
    talk.hear(1, delta(CLUSTER, { nonce: "3" }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster removal a users", "n RouteConfiguration unacked"]);
    talk.hear(1, delta(ROUTE, { nonce: "4" }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unacked"]);
    talk.hear(1, delta(CLUSTER, { nonce: "5" }));
    expect(talk.who()).toEqual(["1 of 1"]);
  });
});

describe("a node that disconnected", () => {
  test("is told with the revision that it had, until it comes back", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.hear(1, delta(CLUSTER, { nonce: "1" }));
    talk.machine.on({ kind: "stream-closed", stream: 1 });
    expect(talk.who()).toEqual(["0 of 0"]);
    talk.put(resource(CLUSTER, "a", "2", { references: [] }));
    expect(talk.who()).toEqual(["0 of 0", "n left at 1"]);
    expect(talk.who(2, (id) => id !== "n")).toEqual(["0 of 0"]);
    talk.join(2, "n");
    expect(talk.who()).toEqual(["0 of 1", "n Cluster unacked"]);
  });

  test("left with less, if an answer was on its way", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.machine.on({ kind: "stream-closed", stream: 1 });
    expect(talk.who()).toEqual(["0 of 0", "n left at -1"]);
  });

  test("is not remembered with a name longer than 1,024, and with 10,000 others at most", () => {
    const talk = fleet();
    const ids = ["x".repeat(1_025), ...Array.from({ length: 10_001 }, (_, i) => `n${i}`)];
    for (const [i, id] of ids.entries()) {
      talk.join(i, id);
      talk.machine.on({ kind: "stream-closed", stream: i });
    }
    const { disconnected } = talk.machine.progress.of(1, everybody);
    expect([disconnected.length, disconnected[0]?.id]).toEqual([10_000, "n1"]);
  });
});

describe("a poller", () => {
  const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
  const poll = (talk: Fleet, id: number, what: Partial<SotwRequest>): void => {
    const request = { ...sotw(CLUSTER, { node: node("p"), ...what }), kind: "sotw" } as const;
    talk.machine.on({ kind: "poll-received", poll: id, peer, apiVersion: "v3", type: CLUSTER, request, holdMs: 1_000 });
    talk.turns();
  };

  test("without a version, as from curl, does not count however often it polls, for it never says what it has", () => {
    const talk = fleet();
    for (const id of [1, 2]) poll(talk, id, {});
    expect(talk.who()).toEqual(["0 of 0"]);
    const anonymous = { node: node("") };
    for (const id of [3, 4, 5, 6]) poll(talk, id, anonymous);
    expect(talk.who()).toEqual(["0 of 0"]);
    expect(
      [...talk.machine.streams()].map(({ types }) => types.map(({ pending, nacked }) => [pending, nacked])),
    ).toEqual([[[[], undefined]], [[[], undefined]]]);
  });

  test("that says who it is and takes nothing again and again counts as one that rejects", () => {
    const talk = fleet();
    for (const id of [1, 2, 3]) poll(talk, id, {});
    expect(talk.who()).toEqual(["0 of 1", expect.stringMatching(/^p Cluster rejected a suspected: /)]);
  });

  test("counts once it names a version, and has what it names", () => {
    const talk = fleet();
    poll(talk, 1, {});
    expect(talk.who()).toEqual(["0 of 0"]);
    const versionInfo = [...talk.machine.streams()][0]?.types[0]?.sentVersion;
    poll(talk, 2, { versionInfo });
    expect(talk.who()).toEqual(["1 of 1"]);
    talk.put(resource(CLUSTER, "a", "2", { references: [] }));
    talk.turns();
    expect(talk.who()).toEqual(["0 of 1", "p Cluster unacked"]);
    poll(talk, 3, { versionInfo, error });
    expect(talk.who()).toEqual(["0 of 1", "p Cluster rejected a no"]);
  });
});

test("a poller between two polls does not have a new node mapping", () => {
  const talk = fleet();
  const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
  const poll = (id: number, versionInfo?: string): void => {
    const request = { ...sotw(CLUSTER, { versionInfo }), node: node("p") };
    talk.machine.on({ kind: "poll-received", poll: id, peer, apiVersion: "v3", type: CLUSTER, request, holdMs: 1_000 });
    talk.turns();
  };
  poll(1);
  const versionInfo = [...talk.machine.streams()][0]?.types[0]?.sentVersion;
  poll(2, versionInfo);
  talk.machine.on({ kind: "poll-closed", poll: 2 });
  expect(talk.who()).toEqual(["1 of 1"]);
  talk.machine.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
  expect(talk.who()).toEqual(["0 of 1", "p Cluster unsent"]);
});

test("a stream that closes long before its node leaves does not say what the node had", () => {
  const talk = fleet();
  talk.join(1, "n");
  talk.join(2, "n", LISTENER);
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.machine.on({ kind: "stream-closed", stream: 2 });
  talk.put(resource(CLUSTER, "a", "2", { references: [] }));
  talk.turns();
  talk.hear(1, delta(CLUSTER, { nonce: "2" }));
  talk.machine.on({ kind: "stream-closed", stream: 1 });
  talk.put(resource(CLUSTER, "a", "3", { references: [] }));
  expect(talk.who()).toEqual(["0 of 0", "n left at 2"]);
});

test("many streams of few nodes are no more nodes", () => {
  const talk = fleet();
  for (const stream of [1, 2, 3]) {
    talk.join(stream, stream === 3 ? "b" : "a");
    talk.hear(stream, delta(CLUSTER, { nonce: "1" }));
  }
  const follower = talk.machine.progress.follow(1, everybody);
  expect([follower.pending, follower.deployedNodes]).toEqual([0, 2]);
  talk.machine.on({ kind: "stream-closed", stream: 1 });
  expect(follower.deployedNodes).toBe(2);
  talk.machine.on({ kind: "stream-closed", stream: 2 });
  expect(follower.deployedNodes).toBe(1);
});

test("following a revision is told of each client as it goes on, and ends", () => {
  const talk = fleet();
  talk.join(1, "n");
  talk.join(2, "m");
  const follower = talk.machine.progress.follow(1, everybody);
  const left = (): readonly number[] => [follower.pending, follower.rejected];
  expect(left()).toEqual([2, 0]);
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  expect(left()).toEqual([1, 0]);
  talk.hear(2, delta(CLUSTER, { nonce: "1", error }));
  expect(left()).toEqual([0, 1]);
  talk.join(3, "o");
  expect(left()).toEqual([1, 1]);
  talk.machine.on({ kind: "stream-closed", stream: 3 });
  talk.machine.on({ kind: "stream-closed", stream: 2 });
  expect(left()).toEqual([0, 0]);
  talk.join(4, "p");
  talk.machine.progress.unfollow(follower);
  talk.hear(4, delta(CLUSTER, { nonce: "1" }));
  expect(left()).toEqual([1, 0]);
});

test("endpoints that are owed to another stream of the client are pending there", () => {
  const talk = fleet();
  talk.put(resource(ENDPOINTS, "a", "1"));
  talk.open(1, "delta", CLUSTER);
  talk.open(2, "delta", ENDPOINTS);
  talk.hear(1, delta(CLUSTER, { node: node("n") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  talk.hear(2, delta(ENDPOINTS, { node: node("n"), subscribe: ["a"] }));
  talk.hear(2, delta(ENDPOINTS, { nonce: "1" }));
  expect(talk.who()).toEqual(["1 of 1"]);
  talk.put(resource(CLUSTER, "a", "2"));
  talk.turns();
  expect(talk.who()).toEqual(["0 of 1", "n Cluster unacked", "n ClusterLoadAssignment unacked"]);
});
