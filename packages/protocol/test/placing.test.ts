import type { NodeMapping, Variant } from "@xdskit/protocol";
import type { RevisionProgress, ServerMachineOptions } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, says } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, resource } from "./support/resources.ts";

const everybody = (): boolean => true;
const refused: NodeMapping = () => ({ refused: "no" });

/** Nodes with the layer `one` that are mapped to `two`, none of them in the event that does that. */
class Fleet extends Conversation {
  /** The nodes that were mapped, oldest first. */
  readonly mapped: string[] = [];

  constructor(options: Partial<ServerMachineOptions> = {}) {
    super({ nodeMapping: () => ["one"], placedAtOnce: 0, ...options });
    this.commit([
      { layer: "one", puts: [plain("a", "1"), plain("b", "1")] },
      { layer: "two", puts: [plain("a", "2"), plain("b", "1")] },
    ]);
  }

  join(stream: number, id: string, variant: Variant = "delta"): void {
    this.open(stream, variant, undefined, stream);
    this.settle(this.subscribe(stream, CLUSTER, [], { node: node(id) }));
  }

  /** Maps all nodes to that layer, or by that mapping. */
  map(to: string | NodeMapping): void {
    const mapping = typeof to === "string" ? () => [to] : to;
    const nodeMapping: NodeMapping = (of, from) => {
      this.mapped.push(of.id);
      return typeof mapping === "function" ? mapping(of, from) : [];
    };
    this.on({ kind: "transaction-committed", nodeMapping });
  }

  /** Places one client; returns which nodes were mapped for that. */
  place(): readonly string[] {
    const before = this.mapped.length;
    for (const effect of this.machine.placeNext()) {
      if (effect.kind === "report") this.reports.push(effect.report);
      else this.asked.push(effect);
    }
    return this.mapped.slice(before);
  }

  /** Who has the newest revision. */
  get progress(): Pick<RevisionProgress, "deployed" | "pending" | "nacked"> {
    const { deployed, pending, nacked } = this.machine.progress.of(this.machine.revision, everybody);
    return { deployed, pending, nacked };
  }

  get layers(): readonly (readonly string[])[] {
    return [...this.machine.streams()].map(({ layers }) => layers);
  }
}

const notSent = { type: CLUSTER, state: "not-sent", wait: undefined, names: [], error: undefined };

describe("a new node mapping", () => {
  test("maps 50 nodes at once, and the others one by one, however many there are", () => {
    for (const count of [100, 200]) {
      const fleet = new Fleet({ placedAtOnce: 50 });
      const ids = Array.from({ length: count }, (_, i) => `n${i}`);
      for (const [i, id] of ids.entries()) fleet.join(i, id);
      fleet.map("two");
      expect([fleet.mapped, fleet.machine.changedStreams]).toEqual([ids.slice(0, 50), count]);
      expect(ids.slice(50).map(() => fleet.place())).toEqual(ids.slice(50).map((id) => [id]));
      expect([fleet.machine.isPlacementDue, fleet.place()]).toEqual([false, []]);
      expect(says(fleet.turns())).toEqual(ids.map(() => ["a@2"]));
    }
  });

  test("maps all streams of a client together, also when that are more than are mapped at once", () => {
    const fleet = new Fleet({ placedAtOnce: 1 });
    for (const [stream, type] of [CLUSTER, ENDPOINTS, LISTENER].entries()) {
      fleet.open(stream, "delta", type);
      fleet.subscribe(stream, type, [], { node: node("n") });
    }
    fleet.join(3, "m");
    fleet.map("two");
    const atOnce = [...fleet.mapped];
    expect([atOnce, fleet.place()]).toEqual([["n", "n", "n"], ["m"]]);
  });

  test("that comes before the last one was applied everywhere is the one that is applied", () => {
    const fleet = new Fleet();
    fleet.join(1, "n");
    fleet.map("two");
    fleet.map("one");
    expect([fleet.place(), fleet.place(), says(fleet.turns())]).toEqual([["n"], [], []]);
    expect(fleet.progress).toEqual({ deployed: 1, pending: [], nacked: [] });
  });
});

describe.each(["delta", "sotw"] as const)("a node that is not placed, in %s", (variant) => {
  const changed = variant === "delta" ? ["a@2"] : ["a@2", "b@1"];

  function unplaced(to: string | NodeMapping = "two"): Fleet {
    const fleet = new Fleet();
    fleet.join(1, "n", variant);
    fleet.map(to);
    return fleet;
  }

  test("is sent what its new layers have, and never what is new in its old ones", () => {
    const fleet = unplaced();
    fleet.change({ layer: "one", puts: [plain("a", "3"), plain("c", "3")] });
    expect(says(fleet.turns(2))).toEqual([changed]);
    expect(fleet.layers).toEqual([["two"]]);
  });

  test("that is due for a flush is placed by it", () => {
    const fleet = new Fleet();
    fleet.join(1, "n", variant);
    fleet.change({ layer: "one", puts: [plain("a", "3")] });
    fleet.map("two");
    expect(says(fleet.turns(1))).toEqual([changed]);
    expect(fleet.machine.isDue).toBe(false);
  });

  test("does not have what is new, however little it would be sent, until it is placed", () => {
    const fleet = unplaced("one");
    const { revision, progress } = fleet.machine;
    const follower = progress.follow(revision, everybody);
    const pending = [{ node: node("n"), types: [notSent] }];
    expect([fleet.progress, follower.pending]).toEqual([{ deployed: 0, pending, nacked: [] }, 1]);
    expect([...progress.reached()]).toEqual([{ id: "n", reached: revision - 1 }]);
    fleet.place();
    expect([fleet.progress, follower.pending]).toEqual([{ deployed: 1, pending: [], nacked: [] }, 0]);
    expect(fleet.machine.isDue).toBe(false);
  });

  test("is placed by its next request", () => {
    const fleet = unplaced();
    expect(says(fleet.subscribe(1, ENDPOINTS, ["x"]))).toContainEqual(changed);
    expect(fleet.machine.isPlacementDue).toBe(false);
  });

  test("is told to those who judge with the layers that it is about to have", () => {
    const fleet = unplaced();
    expect([fleet.layers, [...fleet.machine.placedStreams()].map(({ layers }) => layers)]).toEqual([
      [["one"]],
      [["two"]],
    ]);
  });

  test("and may not be served any more is sent nothing, ended when it is placed, and not told to those who judge", () => {
    const fleet = unplaced(refused);
    fleet.change({ layer: "one", puts: [plain("a", "3")] });
    expect([...fleet.machine.placedStreams()]).toEqual([]);
    expect(says(fleet.turns())).toEqual([]);
    expect(fleet.ended).toEqual([[1, { code: 7, message: "no" }]]);
    expect(fleet.machine.isDue).toBe(false);
  });

  test("is ended by a request, which is not answered", () => {
    const fleet = unplaced(refused);
    fleet.change({ layer: "one", puts: [plain("a", "3")] });
    expect(fleet.subscribe(1, ENDPOINTS, ["x"])).toEqual([]);
    expect(fleet.ended).toEqual([[1, { code: 7, message: "no" }]]);
  });

  test("is forgotten when it goes, with what it had", () => {
    const [moves, stays] = [unplaced("two"), unplaced("one")];
    for (const fleet of [moves, stays]) fleet.close(1);
    const lost = ({ machine }: Fleet): unknown => machine.progress.of(machine.revision, everybody).disconnected;
    expect([lost(moves), lost(stays)]).toEqual([[{ id: "n", reached: moves.machine.revision - 1 }], []]);
    expect([moves.machine.isDue, stays.machine.isDue, moves.place()]).toEqual([false, false, []]);
  });
});

test("a node that is not placed does not lag behind changes that do not concern it", () => {
  const lines = (fleet: Fleet): void => {
    for (const label of ["2", "3", "4"]) fleet.change({ layer: "one", puts: [resource(LISTENER, "l", label, {})] });
    for (const label of ["2", "3", "4"]) fleet.change({ layer: "one", puts: [plain("b", label)] });
  };
  const [stays, moves] = ["one", "two"].map((to) => {
    const fleet = new Fleet({ maxJournalLines: 1 });
    fleet.open(1, "delta", undefined, 1);
    fleet.settle(fleet.subscribe(1, CLUSTER, ["a"], { node: node("n") }));
    fleet.map(to);
    lines(fleet);
    return fleet;
  });
  expect([stays?.ended, moves?.ended.map(([, { code }]) => code)]).toEqual([[], [14]]);
});

test("what a node waits for ends in its new layers, if it is not placed when the time is over", () => {
  const fleet = new Fleet();
  fleet.join(1, "n");
  fleet.change({ layer: "one", puts: [plain("a", "3")] });
  fleet.turns();
  fleet.change({ layer: "one", puts: [plain("a", "4")] });
  fleet.turns();
  fleet.map("two");
  const [timer] = fleet.timers.keys();
  fleet.fire(timer ?? 0);
  expect([fleet.mapped, says(fleet.turns())]).toEqual([["n"], [["a@2"]]]);
});

describe("while nodes are not placed", () => {
  test("new streams and polls have the new layers, and so have those of the same client", () => {
    const fleet = new Fleet();
    fleet.open(1, "delta", CLUSTER);
    fleet.settle(fleet.subscribe(1, CLUSTER, [], { node: node("n") }));
    fleet.map("two");
    fleet.open(2, "delta", ENDPOINTS);
    fleet.receive(2, delta(ENDPOINTS, { node: node("n") }));
    expect([fleet.layers, fleet.machine.isPlacementDue]).toEqual([[["two"], ["two"]], false]);
  });

  test("a poll has the new layers, one that waits too, and its poller has what is new when it is placed", () => {
    const fleet = new Fleet();
    const first = fleet.poll(CLUSTER, { node: node("n") });
    const versionInfo = fleet.answers.get(first)?.body?.version;
    const waiting = fleet.poll(CLUSTER, { node: node("n"), versionInfo });
    const follower = fleet.machine.progress.follow(fleet.machine.revision + 1, everybody);
    fleet.map("two");
    expect(fleet.progress).toEqual({ deployed: 0, pending: [{ node: node("n"), types: [notSent] }], nacked: [] });
    fleet.change({ layer: "one", puts: [plain("a", "3")] });
    expect([...fleet.machine.placedStreams()].map(({ layers }) => layers)).toEqual([["two"]]);
    const other = fleet.poll(CLUSTER, { node: node("m") });
    expect([waiting, other].map((poll) => fleet.answers.get(poll)?.says)).toEqual(["given a b", "given a b"]);
    expect(fleet.answers.get(waiting)?.body).toBe(fleet.answers.get(other)?.body);
    expect(fleet.machine.isPlacementDue).toBe(false);
    fleet.poll(CLUSTER, { node: node("n"), versionInfo: fleet.answers.get(waiting)?.body?.version });
    expect([follower.pending, fleet.progress.deployed]).toEqual([0, 1]);
  });

  test("a poller that stays as it is has what is new once it is placed", () => {
    const fleet = new Fleet();
    const first = fleet.poll(CLUSTER, { node: node("n") });
    fleet.poll(CLUSTER, { node: node("n"), versionInfo: fleet.answers.get(first)?.body?.version });
    const before = fleet.machine.revision;
    fleet.map("one");
    const follower = fleet.machine.progress.follow(before + 1, everybody);
    expect([follower.pending, fleet.progress.deployed]).toEqual([1, 0]);
    fleet.place();
    expect([follower.pending, fleet.progress.deployed]).toEqual([0, 1]);
  });
});
