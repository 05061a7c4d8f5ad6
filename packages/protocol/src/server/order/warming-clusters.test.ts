import type { Resource } from "@xdskit/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, ENDPOINTS, LISTENER, plain, resource } from "../../../test/support/resources.ts";
import { answer, streamWith, typeStream } from "../../../test/support/type-streams.ts";
import type { TypeStream } from "../type/type-stream.ts";
import type { OrderedStream } from "./order-members.ts";
import { WarmingClusters } from "./warming-clusters.ts";

/** No Cluster needs anything beside endpoints. */
const needsNothing = { areLacking: () => false };

let clusters: TypeStream;
let endpoints: TypeStream;
let aggregated: OrderedStream;
let separate: OrderedStream;

beforeEach(() => {
  [clusters, endpoints] = [typeStream(CLUSTER), typeStream(ENDPOINTS)];
  [aggregated, separate] = [streamWith(true), streamWith(false)];
});

const withEndpoints = (name: string): Resource => resource(CLUSTER, name, "1");
const assignment = (name: string): Resource => resource(ENDPOINTS, name, "1");

/** Clusters a and b were sent in answer 5, and are new to the client. */
function warming(...brought: readonly Resource[]): WarmingClusters {
  const clustersOfOne = new WarmingClusters(needsNothing);
  clustersOfOne.bring(clusters, answer(CLUSTER, 5, brought), () => "new");
  return clustersOfOne;
}

const left = (all: WarmingClusters): readonly string[] => ["a", "b"].filter((name) => all.has(name));

describe("S-ORD-03: a new Cluster is in use", () => {
  test("if the client did not hold it: others are none", () => {
    const all = new WarmingClusters(needsNothing);
    all.bring(clusters, answer(CLUSTER, 5, [plain("a"), plain("b")]), ({ name }) => (name === "b" ? "new" : undefined));
    expect([left(all), all.isEmpty, all.mayBeAny]).toEqual([["b"], false, false]);
  });

  test("for the first time, unless the client came back with an older state: then something may use it", () => {
    const all = new WarmingClusters(needsNothing);
    const renamed = resource(CLUSTER, "a", "2", { references: [{ type: ENDPOINTS, name: "new" }] });
    all.bring(clusters, answer(CLUSTER, 5, [withEndpoints("a"), plain("b")]), ({ name }) =>
      name === "a" ? "changed" : "new",
    );
    const areNew = (): readonly boolean[] => ["a", "b", "c"].map((name) => all.isNew(name));
    expect([left(all), areNew()]).toEqual([
      ["a", "b"],
      [false, true, false],
    ]);
    all.follow(clusters, answer(CLUSTER, 6, [renamed]));
    expect([left(all), areNew()]).toEqual([
      ["a", "b"],
      [false, true, false],
    ]);
  });

  test("without endpoints, as long as there are none, which is noted until the Cluster or the wait is gone", () => {
    const isVacant = (end: (all: WarmingClusters) => void = () => {}, stream = aggregated): readonly boolean[] => {
      const all = warming(withEndpoints("a"), plain("b"));
      all.accept(clusters, stream, answer(CLUSTER, 5, [withEndpoints("a"), plain("b")]), 9);
      end(all);
      return [all.isVacant(withEndpoints("a")), all.isVacant(plain("b")), all.isEmpty];
    };
    const gone = [false, false, true];
    const bringsAgain = (all: WarmingClusters): void =>
      all.bring(clusters, answer(CLUSTER, 6, [withEndpoints("a")]), () => undefined);
    expect([
      isVacant(),
      isVacant(undefined, streamWith(true, assignment("a"))),
      isVacant((all) => all.follow(clusters, answer(CLUSTER, 6, [], { removed: ["a"] }))),
      isVacant((all) => all.follow(clusters, answer(CLUSTER, 6, [plain("b")], { variant: "sotw" }))),
      isVacant((all) => all.giveUp(["a"])),
      isVacant((all) => all.clear()),
      isVacant(bringsAgain),
    ]).toEqual([[true, false, false], gone, gone, gone, gone, gone, gone]);
  });

  test("that came back without endpoints, until there are some", () => {
    const lacking = (...there: readonly Resource[]): readonly boolean[] => {
      const all = new WarmingClusters(needsNothing);
      all.lack(ENDPOINTS, new Set(["a"]));
      all.forgetThere(streamWith(true, ...there).current.view);
      return [...[withEndpoints("a"), withEndpoints("b"), plain("a")].map((one) => all.isVacant(one)), all.isEmpty];
    };
    expect([lacking(), lacking(assignment("a"))]).toEqual([
      [true, false, false, false],
      [false, false, false, true],
    ]);
  });

  test("in its former state, which it has while it waits for what it references", () => {
    const all = new WarmingClusters(needsNothing);
    const sent = answer(CLUSTER, 5, [withEndpoints("a"), withEndpoints("b")]);
    all.bring(clusters, sent, ({ name }) => (name === "a" ? "changed" : "new"));
    const awaited = (): unknown => [ENDPOINTS, CLUSTER].map((type) => [...all.awaited(type)]);
    expect(awaited()).toEqual([["a"], []]);
    all.accept(clusters, aggregated, sent, 9);
    expect(awaited()).toEqual([[], []]);
  });

  test("after an ACK of the response that brought it, or of a later one with it, and of no earlier one", () => {
    const both = [plain("a"), plain("b")];
    const accepted = (at: number, ...puts: readonly Resource[]): readonly string[] => {
      const all = warming(...both);
      all.accept(clusters, aggregated, answer(CLUSTER, at, puts), 9);
      return left(all);
    };
    expect([accepted(4, ...both), accepted(5, ...both), accepted(6, plain("a"))]).toEqual([["a", "b"], [], ["b"]]);
  });

  test("after an ACK of any later full state, which contains everything", () => {
    const all = warming(plain("a"), plain("b"));
    all.accept(clusters, aggregated, answer(CLUSTER, 6, [plain("a")], { variant: "sotw" }), 9);
    expect(left(all)).toEqual([]);
  });

  test("not because of what else is ACKed", () => {
    const all = warming(plain("a"), withEndpoints("b"));
    all.accept(typeStream(LISTENER), aggregated, answer(LISTENER, 6, [resource(LISTENER, "a", "1")]), 9);
    all.countGiven();
    expect(left(all)).toEqual(["a", "b"]);
  });

  test("on a stream of its own after the ACK of endpoints that were sent after its own ACK", () => {
    const all = warming(withEndpoints("a"));
    const give = (at: number): void =>
      all.accept(endpoints, separate, answer(ENDPOINTS, at, [assignment("a"), assignment("x")]), 9);
    give(6);
    all.accept(clusters, separate, answer(CLUSTER, 5, [withEndpoints("a")]), 7);
    give(7);
    expect([left(all), [...all.takeOwed()], [...all.takeOwed()]]).toEqual([["a"], [[ENDPOINTS, new Set(["a"])]], []]);
    // A second ACK does not begin anew.
    all.accept(clusters, separate, answer(CLUSTER, 8, [withEndpoints("a")]), 9);
    expect([...all.takeOwed()]).toEqual([]);
    give(8);
    expect(left(all)).toEqual([]);
  });

  test("on a stream of its own at once if it needs no endpoints", () => {
    const all = warming(plain("a"), withEndpoints("b"));
    all.accept(clusters, separate, answer(CLUSTER, 5, [plain("a"), withEndpoints("b")]), 7);
    expect(left(all)).toEqual(["b"]);
  });
});

describe("S-ORD-06: where the ACK of Clusters is withheld, one counts as in use", () => {
  const placeholder = (name: string): Uint8Array => new TextEncoder().encode(`${name}=none`);
  const given = typeStream(ENDPOINTS, [], { placeholder });
  const counted = (one: Resource, at: number, cluster: Resource, ...held: readonly Resource[]): readonly string[] => {
    const all = warming(cluster);
    all.accept(given, streamWith(true, ...held), answer(ENDPOINTS, at, [one]), 9);
    all.countGiven();
    return left(all);
  };
  const secret = { type: LISTENER, name: "secret" };
  const needy = resource(CLUSTER, "a", "1", { references: [{ type: ENDPOINTS, name: "a" }, secret] });

  test("once its endpoints were ACKed that were sent after it", () => {
    expect(counted(assignment("a"), 6, withEndpoints("a"))).toEqual([]);
    expect(counted(assignment("a"), 4, withEndpoints("a"))).toEqual(["a"]);
    expect(counted(assignment("b"), 6, withEndpoints("a"))).toEqual(["a"]);
    expect(counted(assignment("a"), 6, plain("a"))).toEqual(["a"]);
  });

  test("not if the client goes on warming it then, but by its own ACK", () => {
    const warmsOn = (bytes: Uint8Array): boolean => new TextDecoder().decode(bytes).endsWith("checked");
    const checking = typeStream(CLUSTER, [], { warmsOn });
    const both = [resource(CLUSTER, "a", "checked"), withEndpoints("b")];
    const all = new WarmingClusters(needsNothing);
    all.bring(checking, answer(CLUSTER, 5, both), () => "new");
    all.accept(endpoints, aggregated, answer(ENDPOINTS, 6, [assignment("a"), assignment("b")]), 9);
    all.countGiven();
    expect(left(all)).toEqual(["a"]);
    all.accept(checking, aggregated, answer(CLUSTER, 5, both), 9);
    expect(left(all)).toEqual([]);
  });

  test("not if they are a placeholder", () => {
    expect(counted(resource(ENDPOINTS, "a", "none"), 6, withEndpoints("a"))).toEqual(["a"]);
    expect(counted(resource(ENDPOINTS, "a", "nine"), 6, withEndpoints("a"))).toEqual([]);
    expect(counted(resource(ENDPOINTS, "a", "no"), 6, withEndpoints("a"))).toEqual([]);
  });

  test("not without what it needs beside them", () => {
    expect(counted(assignment("a"), 6, needy)).toEqual(["a"]);
    expect(counted(assignment("a"), 6, needy, resource(LISTENER, "secret", "1"))).toEqual([]);
  });
});

describe("S-ORD-06: a Cluster is not waited for any more", () => {
  test("when a later response deletes it", () => {
    const removed = warming(plain("a"), plain("b"));
    removed.follow(clusters, answer(CLUSTER, 6, [], { removed: ["a"] }));
    const unlisted = warming(plain("a"), plain("b"));
    unlisted.follow(clusters, answer(CLUSTER, 6, [plain("b")], { variant: "sotw" }));
    expect([left(removed), left(unlisted)]).toEqual([["b"], ["b"]]);
  });

  test("by its former endpoints, when a later response has it with another EDS name", () => {
    const renamed = resource(CLUSTER, "a", "2", { references: [{ type: ENDPOINTS, name: "new" }] });
    const all = warming(withEndpoints("a"), withEndpoints("b"));
    all.accept(clusters, separate, answer(CLUSTER, 5, [withEndpoints("a"), withEndpoints("b")]), 5);
    all.follow(clusters, answer(CLUSTER, 6, [renamed, withEndpoints("b")]));
    all.accept(endpoints, separate, answer(ENDPOINTS, 7, [assignment("a"), assignment("b"), assignment("new")]), 7);
    const before = left(all);
    all.accept(clusters, separate, answer(CLUSTER, 6, [renamed, withEndpoints("b")]), 7);
    const owed = all.takeOwed();
    all.accept(endpoints, separate, answer(ENDPOINTS, 8, [assignment("new")]), 8);
    expect([before, owed, left(all)]).toEqual([["a"], new Map([[ENDPOINTS, new Set(["a", "b", "new"])]]), []]);
  });

  test("when its wait timed out, or nobody subscribes to Clusters", () => {
    const [timedOut, cleared] = [warming(plain("a"), plain("b")), warming(plain("a"))];
    for (const all of [timedOut, cleared]) all.bringUnknown(answer(CLUSTER, 6, []));
    timedOut.giveUp(["a"]);
    cleared.clear();
    expect([timedOut, cleared].map((all) => [left(all), all.mayBeAny])).toEqual([
      [["b"], false],
      [[], false],
    ]);
  });
});

test("S-REC-11: after a response to a client that holds an unknown set, any Cluster may be new, until that is ACKed", () => {
  const all = new WarmingClusters(needsNothing);
  const unknown = answer(CLUSTER, 5, []);
  all.bringUnknown(unknown);
  expect([all.mayBeAny, all.isEmpty]).toEqual([true, true]);
  all.accept(clusters, aggregated, answer(CLUSTER, 6, []), 9);
  expect(all.mayBeAny).toBe(true);
  all.accept(clusters, aggregated, unknown, 9);
  expect(all.mayBeAny).toBe(false);
  all.bringUnknown(unknown);
  all.countGiven();
  expect(all.mayBeAny).toBe(false);
});
