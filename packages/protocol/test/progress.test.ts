import type { TypeUrl } from "@xdskit/protocol";
import type { RevisionProgress } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node } from "./support/conversation.ts";
import { initialVersionsOf } from "./support/model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, resource } from "./support/resources.ts";

const everybody = (): boolean => true;
const error = { code: 13, message: "no" };

/** Progress in short: `a: cds pending`, a line for each straggler. */
function shown({ nodes, deployed, pending, nacked, disconnected }: RevisionProgress): readonly string[] {
  const short = (type: TypeUrl): string => type.slice(type.lastIndexOf(".") + 1);
  const lines = [...pending, ...nacked].flatMap((one) =>
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
    this.subscribe(stream, type, [], { node: node(id) });
  }
}

function fleet(): Fleet {
  const talk = new Fleet();
  talk.put(resource(CLUSTER, "a", "1", { references: [] }));
  return talk;
}

test("a node waits if what it lacks has to wait for something else, and counts by what is furthest from done", () => {
  const talk = fleet();
  const route = (cluster: string): ReturnType<typeof resource> =>
    resource(ROUTE, "r", cluster, { references: [{ type: CLUSTER, name: cluster }] });
  const states = (): unknown => talk.machine.progress.states(talk.machine.revision);
  const none = { deployed: 0, pending: 0, waiting: 0, nacked: 0, disconnected: 0 };
  talk.put(route("a"));
  talk.join(1, "n");
  expect(states()).toEqual({ ...none, pending: 1 });
  talk.ack(1, CLUSTER);
  talk.subscribe(1, ROUTE, ["r"]);
  talk.ack(1, ROUTE);
  expect(states()).toEqual({ ...none, deployed: 1 });
  talk.put(resource(CLUSTER, "b", "1", { references: [] }), route("b"));
  talk.turns();
  expect(states()).toEqual({ ...none, waiting: 1 });
  talk.ack(1, CLUSTER);
  expect(states()).toEqual({ ...none, pending: 1 });
  talk.nack(1, ROUTE);
  expect(states()).toEqual({ ...none, nacked: 1 });
});

describe("a node has a revision", () => {
  test("when it ACKed everything up to it, and not before it asked or while an answer is on its way", () => {
    const talk = fleet();
    expect(talk.who()).toEqual(["0 of 0"]);
    talk.open(1, "delta");
    expect(talk.who()).toEqual(["0 of 0"]);
    talk.receive(1, delta(CLUSTER, { node: node("n") }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster not-sent"]);
    talk.turns();
    expect(talk.who()).toEqual(["0 of 1", "n Cluster pending"]);
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("in State of the World too", () => {
    const talk = fleet();
    talk.open(1, "sotw");
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    expect(talk.who()).toEqual(["0 of 1", "n Cluster pending"]);
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("not while a request of it waits for content, also one that names the node first", () => {
    const talk = fleet();
    const withhold = (stream: number, missing: readonly string[]): void =>
      talk.on({ kind: "request-withheld", stream, request: delta(LISTENER, { node: node("n") }), missing });
    talk.open(1, "delta", LISTENER);
    withhold(1, ["l", "m"]);
    expect(talk.who()).toEqual(["0 of 1", "n Listener not-sent l m content"]);
    withhold(1, ["m"]);
    talk.join(2, "n");
    talk.ack(2, CLUSTER);
    expect([talk.who(), talk.who(0)]).toEqual([
      ["0 of 1", "n Listener not-sent m content"],
      ["0 of 1", "n Listener not-sent m content"],
    ]);
    expect(talk.machine.streamState(1)).toMatchObject({
      ...{ node: node("n"), layers: ["base"] },
      types: [{ type: LISTENER, isWildcard: true, names: 0, wait: { for: "content", name: "m" }, waiting: ["m"] }],
    });
    expect([...talk.machine.progress.reached()].map(({ reached }) => reached)).toEqual([-1, Number.POSITIVE_INFINITY]);
    talk.put(resource(LISTENER, "m", "1"));
    talk.subscribe(1, LISTENER, [], { node: node("n") });
    expect(talk.who()).toEqual(["0 of 1", "n Listener pending"]);
    talk.ack(1, LISTENER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("an older one, while a newer one is on its way", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.ack(1, CLUSTER);
    talk.put(resource(CLUSTER, "a", "2", { references: [] }));
    expect([talk.who(1), talk.who(2)]).toEqual([["1 of 1"], ["0 of 1", "n Cluster not-sent"]]);
    talk.turns();
    expect([talk.who(1), talk.who(2)]).toEqual([["1 of 1"], ["0 of 1", "n Cluster pending"]]);
  });

  test("that does not concern it", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.ack(1, CLUSTER);
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
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["0 of 1", "n Listener pending"]);
    talk.ack(2, LISTENER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("when it reconnected with the versions of it, and ACKed that nothing is new", () => {
    const talk = fleet();
    const version = [...talk.machine.resources(["base"], CLUSTER)][0]?.version ?? "";
    talk.open(1, "delta");
    const said = talk.subscribe(1, CLUSTER, [], {
      node: node("n"),
      initialVersions: initialVersionsOf([["a", version]]),
    });
    expect(said.map(({ says }) => says)).toEqual([[]]);
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("not when it moved to other layers, until it was told: a move is a revision", () => {
    const talk = fleet();
    talk.change({ layer: "other", puts: [resource(CLUSTER, "b", "1", { references: [] })] });
    talk.join(1, "n");
    talk.join(2, "stays");
    for (const stream of [1, 2]) talk.ack(stream, CLUSTER);
    expect(talk.who()).toEqual(["2 of 2"]);
    talk.machine.on({
      kind: "transaction-committed",
      nodeMapping: ({ id }) => (id === "n" ? ["other", "base"] : ["base"]),
    });
    expect([talk.machine.revision, talk.who()]).toEqual([3, ["1 of 2", "n Cluster not-sent"]]);
    talk.turns();
    expect(talk.who()).toEqual(["1 of 2", "n Cluster pending"]);
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["2 of 2"]);
  });
});

describe("a rejection", () => {
  test("counts from the response that brought it until the name is ACKed in another", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.ack(1, CLUSTER);
    talk.put(resource(CLUSTER, "a", "bad", { references: [] }));
    talk.turns();
    talk.nack(1, CLUSTER);
    talk.put(resource(CLUSTER, "b", "1", { references: [] }));
    talk.turns();
    talk.ack(1, CLUSTER);
    expect([talk.who(1), talk.who(3)]).toEqual([["1 of 1"], ["0 of 1", "n Cluster nacked"]]);
    talk.put(resource(CLUSTER, "a", "good", { references: [] }));
    expect(talk.who()).toEqual(["0 of 1", "n Cluster not-sent"]);
    talk.turns();
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });

  test("says what was NACKed, and why", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.nack(1, CLUSTER);
    expect(talk.who()).toEqual(["0 of 1", "n Cluster nacked a no"]);
  });

  test("ends when the resource is deleted", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.nack(1, CLUSTER);
    talk.delete(CLUSTER, "a");
    talk.turns();
    talk.ack(1, CLUSTER);
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
    talk.subscribe(1, CLUSTER, [], { node: node("n") });
    talk.ack(1, CLUSTER);
    talk.subscribe(1, ROUTE, ["r"]);
    talk.ack(1, ROUTE);
    expect(talk.who()).toEqual(["1 of 1"]);
    talk.change({
      puts: [resource(CLUSTER, "b", "1", { references: [] }), route("b")],
      deletes: [{ type: CLUSTER, name: "a" }],
    });
    talk.turns();
    expect(talk.who()).toEqual(["0 of 1", "n Cluster pending users", "n RouteConfiguration not-sent cluster"]);
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["0 of 1", "n Cluster removal a users", "n RouteConfiguration pending"]);
    talk.ack(1, ROUTE);
    expect(talk.who()).toEqual(["0 of 1", "n Cluster pending"]);
    talk.ack(1, CLUSTER);
    expect(talk.who()).toEqual(["1 of 1"]);
  });
});

describe("a node that disconnected", () => {
  test("is told with the revision that it had, until it comes back", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.ack(1, CLUSTER);
    talk.close(1);
    expect(talk.who()).toEqual(["0 of 0"]);
    talk.put(resource(CLUSTER, "a", "2", { references: [] }));
    expect(talk.who()).toEqual(["0 of 0", "n left at 1"]);
    expect(talk.who(2, (id) => id !== "n")).toEqual(["0 of 0"]);
    talk.join(2, "n");
    expect(talk.who()).toEqual(["0 of 1", "n Cluster pending"]);
  });

  test("left with less, if an answer was on its way", () => {
    const talk = fleet();
    talk.join(1, "n");
    talk.close(1);
    expect(talk.who()).toEqual(["0 of 0", "n left at -1"]);
  });

  test("is not remembered with a name longer than 1,024, and with 10,000 others at most", () => {
    const talk = fleet();
    const ids = ["x".repeat(1_025), ...Array.from({ length: 10_001 }, (_, i) => `n${i}`)];
    for (const [i, id] of ids.entries()) {
      talk.join(i, id);
      talk.close(i);
    }
    const { disconnected } = talk.machine.progress.of(1, everybody);
    expect([disconnected.length, disconnected[0]?.id]).toEqual([10_000, "n1"]);
  });
});

describe("a poller", () => {
  const p = { node: node("p") };

  test("without a version, as from curl, does not count however often it polls, for it never says what it has", () => {
    const talk = fleet();
    for (let i = 0; i < 2; i++) talk.poll(CLUSTER, p);
    expect(talk.who()).toEqual(["0 of 0"]);
    for (let i = 0; i < 4; i++) talk.poll(CLUSTER, { node: node("") });
    expect(talk.who()).toEqual(["0 of 0"]);
    expect(
      [...talk.machine.streams()].map(({ types }) => types.map(({ pending, nacked }) => [pending, nacked])),
    ).toEqual([[[[], undefined]], [[[], undefined]]]);
  });

  test("that says who it is and takes nothing again and again counts as one that rejects", () => {
    const talk = fleet();
    for (let i = 0; i < 3; i++) talk.poll(CLUSTER, p);
    expect(talk.who()).toEqual(["0 of 1", expect.stringMatching(/^p Cluster nacked a suspected: /)]);
  });

  test("counts once it names a version, and has what it names", () => {
    const talk = fleet();
    talk.poll(CLUSTER, p);
    expect(talk.who()).toEqual(["0 of 0"]);
    const versionInfo = [...talk.machine.streams()][0]?.types[0]?.sentVersion;
    talk.poll(CLUSTER, { ...p, versionInfo });
    expect(talk.who()).toEqual(["1 of 1"]);
    talk.put(resource(CLUSTER, "a", "2", { references: [] }));
    talk.turns();
    expect(talk.who()).toEqual(["0 of 1", "p Cluster pending"]);
    talk.poll(CLUSTER, { ...p, versionInfo, error });
    expect(talk.who()).toEqual(["0 of 1", "p Cluster nacked a no"]);
  });
});

test("a poller between two polls does not have a new node mapping", () => {
  const talk = fleet();
  const first = talk.poll(CLUSTER, { node: node("p") });
  const versionInfo = talk.answers.get(first)?.body?.version;
  const second = talk.poll(CLUSTER, { node: node("p"), versionInfo });
  talk.on({ kind: "poll-closed", poll: second });
  expect(talk.who()).toEqual(["1 of 1"]);
  talk.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
  expect(talk.who()).toEqual(["0 of 1", "p Cluster not-sent"]);
});

test("a stream that closes long before its node leaves does not say what the node had", () => {
  const talk = fleet();
  talk.join(1, "n");
  talk.join(2, "n", LISTENER);
  talk.ack(1, CLUSTER);
  talk.close(2);
  talk.put(resource(CLUSTER, "a", "2", { references: [] }));
  talk.turns();
  talk.ack(1, CLUSTER);
  talk.close(1);
  talk.put(resource(CLUSTER, "a", "3", { references: [] }));
  expect(talk.who()).toEqual(["0 of 0", "n left at 2"]);
});

test("many streams of few nodes are no more nodes", () => {
  const talk = fleet();
  for (const stream of [1, 2, 3]) {
    talk.join(stream, stream === 3 ? "b" : "a");
    talk.ack(stream, CLUSTER);
  }
  const follower = talk.machine.progress.follow(1, everybody);
  expect([follower.pending, follower.deployedNodes]).toEqual([0, 2]);
  talk.close(1);
  expect(follower.deployedNodes).toBe(2);
  talk.close(2);
  expect(follower.deployedNodes).toBe(1);
});

test("following a revision is told of each client as it goes on, and ends", () => {
  const talk = fleet();
  talk.join(1, "n");
  talk.join(2, "m");
  const follower = talk.machine.progress.follow(1, everybody);
  const left = (): readonly number[] => [follower.pending, follower.nacked];
  expect(left()).toEqual([2, 0]);
  talk.ack(1, CLUSTER);
  expect(left()).toEqual([1, 0]);
  talk.nack(2, CLUSTER);
  expect(left()).toEqual([0, 1]);
  talk.join(3, "o");
  expect(left()).toEqual([1, 1]);
  talk.close(3);
  talk.close(2);
  expect(left()).toEqual([0, 0]);
  talk.join(4, "p");
  talk.machine.progress.unfollow(follower);
  talk.ack(4, CLUSTER);
  expect(left()).toEqual([1, 0]);
});

test("endpoints that are owed to another stream of the client are pending there", () => {
  const talk = fleet();
  talk.put(resource(ENDPOINTS, "a", "1"));
  talk.open(1, "delta", CLUSTER);
  talk.open(2, "delta", ENDPOINTS);
  talk.subscribe(1, CLUSTER, [], { node: node("n") });
  talk.ack(1, CLUSTER);
  talk.subscribe(2, ENDPOINTS, ["a"], { node: node("n") });
  talk.ack(2, ENDPOINTS);
  expect(talk.who()).toEqual(["1 of 1"]);
  talk.put(resource(CLUSTER, "a", "2"));
  talk.turns();
  expect(talk.who()).toEqual(["0 of 1", "n Cluster pending", "n ClusterLoadAssignment pending"]);
});
