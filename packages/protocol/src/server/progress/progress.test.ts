import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/conversation.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Standing, StragglerType } from "../contract/progress.ts";
import type { Wait } from "../contract/wait.ts";
import { RevisionFollower } from "./follower.ts";
import type { ProgressMember } from "./member.ts";
import { Progress } from "./progress.ts";

const all = (): boolean => true;

/** A client of a node that has everything up to `reached`, with what keeps it from more. */
class Client implements ProgressMember {
  node: ProgressMember["node"];
  reached: number;
  why: Exclude<Standing, "deployed">;
  wait: Wait | undefined;

  constructor(nodeId: string, reached: number, why: Client["why"] = "pending", wait?: Wait) {
    this.node = node(nodeId);
    this.reached = reached;
    this.why = why;
    this.wait = wait;
  }

  standing(revision: number): Standing {
    return this.reached >= revision ? "deployed" : this.why;
  }

  behind(revision: number): readonly StragglerType[] {
    return this.standing(revision) === "deployed" ? [] : [this.type];
  }

  get type(): StragglerType {
    const state = this.why === "nacked" ? "nacked" : "pending";
    return { type: CLUSTER, state, wait: this.wait, names: [`of ${this.reached}`], error: undefined };
  }
}

describe("how far nodes are with a revision", () => {
  const waits: Wait = { for: "cluster", name: "c" };
  const clients = [
    ...[new Client("done", 5), new Client("done", 6), new Client("half", 5), new Client("half", 3)],
    ...[new Client("no", 2, "nacked"), new Client("no", 9), new Client("waits", 1, "pending", waits)],
    ...[new Client("mixed", 1, "nacked"), new Client("mixed", 2), new Client("mixed", 1, "pending", waits)],
  ] as const;
  const progress = new Progress(() => [clients]);

  test("is what each has not: NACKed only if nothing else is left, and the whole node by its furthest behind", () => {
    const [, , , half, no, , waiting, ...mixed] = clients;
    const straggler = (...of: readonly Client[]): unknown => ({
      node: of[0]?.node,
      types: of.map(({ type }) => type),
    });
    expect(progress.of(5, all)).toEqual({
      ...{ revision: 5, nodes: 5, deployed: 1, disconnected: [] },
      pending: [straggler(half), straggler(waiting), straggler(...mixed)],
      nacked: [straggler(no)],
    });
    expect(progress.of(5, (id) => id === "half" || id === "done")).toMatchObject({
      ...{ nodes: 2, deployed: 1, pending: [straggler(half)], nacked: [] },
    });
    expect(progress.of(1, all)).toMatchObject({ nodes: 5, deployed: 5, pending: [], nacked: [] });
  });

  test("is counted by state, of which the furthest from done counts for a node", () => {
    const none = { deployed: 0, pending: 0, waiting: 0, nacked: 0, disconnected: 0 };
    expect([1, 2, 5, 99].map((revision) => progress.states(revision))).toEqual([
      { ...none, deployed: 5 },
      { ...none, deployed: 3, waiting: 2 },
      { ...none, deployed: 1, pending: 1, waiting: 2, nacked: 1 },
      { ...none, pending: 3, waiting: 2 },
    ]);
    expect(new Progress(() => []).states(1)).toEqual(none);
  });

  test("is what each client reached", () => {
    expect([...progress.reached()].map(({ id, reached }) => `${id} ${reached}`)).toEqual(
      clients.map((client) => `${client.node.id} ${client.reached}`),
    );
  });
});

describe("nodes that disconnected", () => {
  const lost = (progress: Progress, revision = 100): unknown => progress.of(revision, all).disconnected;

  test("are remembered without the revision, with what they had, until they connect again", () => {
    const clients: ProgressMember[] = [];
    const progress = new Progress(() => [clients]);
    progress.left(new Client("a", 3), 3, 10);
    progress.left(new Client("b", 7), 7, 10);
    expect([lost(progress, 3), lost(progress, 4), lost(progress, 8)]).toEqual([
      [],
      [{ id: "a", reached: 3 }],
      [
        { id: "a", reached: 3 },
        { id: "b", reached: 7 },
      ],
    ]);
    expect([progress.states(8).disconnected, progress.of(8, (id) => id === "b").disconnected]).toEqual([
      2,
      [{ id: "b", reached: 7 }],
    ]);
    clients.push(new Client("a", 9));
    expect(lost(progress)).toEqual([{ id: "b", reached: 7 }]);
    clients.pop();
    progress.found(node("b"));
    expect(lost(progress)).toEqual([{ id: "a", reached: 3 }]);
  });

  test("have the least of their clients that disconnected together, and what the last one had otherwise", () => {
    const progress = new Progress(() => []);
    for (const [reached, head] of [
      [5, 10],
      [3, 10],
      [4, 10],
    ] as const)
      progress.left(new Client("a", reached), reached, head);
    expect(lost(progress)).toEqual([{ id: "a", reached: 3 }]);
    progress.left(new Client("a", 8), 8, 11);
    expect(lost(progress)).toEqual([{ id: "a", reached: 8 }]);
  });

  test("are the last 10,000 with ids of at most 1,024 characters", () => {
    const progress = new Progress(() => []);
    const leave = (id: string): void => progress.left(new Client(id, 1), 1, 10);
    leave("x".repeat(1025));
    leave("x".repeat(1024));
    expect(progress.states(9).disconnected).toBe(1);
    leave("first");
    for (let i = 0; i < 9_998; i++) leave(`n${i}`);
    expect(progress.states(9).disconnected).toBe(10_000);
    leave("first");
    leave("last");
    const ids = progress.of(9, all).disconnected.map(({ id }) => id);
    expect([ids.length, ids[0], ids.at(-2), ids.at(-1)]).toEqual([10_000, "n0", "first", "last"]);
  });
});

test("clients of the command line count neither while they are connected nor after, nor as the node that they name", () => {
  const observer = new Client("edge", 1);
  observer.node = { ...node("edge"), userAgentName: "xds-cli" };
  const progress = new Progress(() => [[observer]]);
  const follower = progress.follow(5, all);
  progress.note(observer);
  progress.left(new Client("edge", 3), 3, 10);
  progress.found(observer.node);
  progress.left(observer, 9, 10);
  expect([progress.of(5, all), [...progress.reached()], follower.pending]).toEqual([
    { revision: 5, nodes: 0, deployed: 0, pending: [], nacked: [], disconnected: [{ id: "edge", reached: 3 }] },
    [],
    0,
  ]);
  expect(progress.states(5)).toEqual({ deployed: 0, pending: 0, waiting: 0, nacked: 0, disconnected: 1 });
});

describe("who follows a revision", () => {
  test("is told of all clients that are connected, and kept current until the end", () => {
    const [a, b] = [new Client("a", 1), new Client("b", 5)];
    const clients = [a, b];
    const progress = new Progress(() => [clients]);
    const follower = progress.follow(5, all);
    const counts = (): unknown => [follower.pending, follower.nacked, follower.deployedNodes];
    expect([follower.revision, counts()]).toEqual([5, [1, 0, 1]]);
    a.why = "nacked";
    progress.note(a);
    expect(counts()).toEqual([0, 1, 1]);
    a.reached = 5;
    progress.note(a);
    expect(counts()).toEqual([0, 0, 2]);
    progress.left(b, 5, 5);
    expect(counts()).toEqual([0, 0, 1]);
    progress.unfollow(follower);
    progress.left(a, 5, 5);
    expect(counts()).toEqual([0, 0, 1]);
  });

  test("counts a node as long as one of its clients has the revision, and only those that are wanted", () => {
    const follower = new RevisionFollower(5, ({ node: { id } }) => id !== "other");
    const [one, two, other] = [new Client("n", 5), new Client("n", 5), new Client("other", 5)];
    const counts = (): unknown => [follower.pending, follower.nacked, follower.deployedNodes];
    for (const client of [one, two, other, one]) follower.note(client);
    expect(counts()).toEqual([0, 0, 1]);
    one.reached = 4;
    follower.note(one);
    expect(counts()).toEqual([1, 0, 1]);
    follower.forget(two);
    expect(counts()).toEqual([1, 0, 0]);
    follower.forget(two);
    follower.forget(one);
    expect(counts()).toEqual([0, 0, 0]);
    two.why = "nacked";
    two.reached = 1;
    follower.note(two);
    expect(counts()).toEqual([0, 1, 0]);
    follower.forget(two);
    expect(counts()).toEqual([0, 0, 0]);
  });
});
