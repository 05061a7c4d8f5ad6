import { expect, test } from "vitest";
import { NodesWithoutClusters } from "./nodes-without-clusters.ts";

test("the oldest nodes are forgotten beyond 16,384, and the next server is told", () => {
  const nodes = new NodesWithoutClusters({ listsNews: true });
  for (let i = 0; i < 16_385; i++) nodes.sourceOf(`n${i}`, false).noteElsewhere();
  expect([nodes.sourceOf("n0", false).isElsewhere, nodes.sourceOf("n1", false).isElsewhere]).toEqual([false, true]);
  expect([...nodes.current()].length).toBe(16_384);
  const news = nodes.takeNews();
  expect(news.find(({ node }) => node === "n0")).toEqual({ node: "n0", isElsewhere: false });
  expect(nodes.takeNews()).toEqual([]);
});

test.each([
  ["without an id", "", false],
  ["with a very long id", "n".repeat(513), false],
  ["on an aggregated stream", "n", true],
])("a node %s is not remembered", (_, id, isAggregated) => {
  const nodes = new NodesWithoutClusters({ listsNews: true });
  const source = nodes.sourceOf(id, isAggregated);
  source.noteElsewhere();
  expect([source.isElsewhere, nodes.takeNews()]).toEqual([false, []]);
});

test("a node with several streams of Clusters has some until the last one closes", () => {
  const nodes = new NodesWithoutClusters({ listsNews: false });
  const [one, other] = [nodes.sourceOf("n", false), nodes.sourceOf("n", true)];
  one.subscribe();
  other.subscribe();
  one.unsubscribe();
  one.noteElsewhere();
  expect(one.isElsewhere).toBe(false);
  other.unsubscribe();
  one.noteElsewhere();
  expect([one.isElsewhere, nodes.takeNews()]).toEqual([true, []]);
});

test("a node that subscribed to Clusters here is known for it, the oldest of more than 16,384 no longer", () => {
  const nodes = new NodesWithoutClusters({ listsNews: false });
  const of = (id: string) => nodes.sourceOf(id, false);
  expect(of("n0").isKnownHere).toBe(false);
  for (let i = 0; i < 16_384; i++) of(`n${i}`).subscribe();
  of("n0").subscribe();
  expect([of("n0").isKnownHere, of("n1").isKnownHere]).toEqual([true, true]);
  of("n16384").subscribe();
  expect([of("n0").isKnownHere, of("n1").isKnownHere]).toEqual([false, true]);
  of("n1").unsubscribe();
  expect(of("n1").isKnownHere).toBe(true);
  of("n1").noteElsewhere();
  expect([of("n1").isKnownHere, of("n1").isElsewhere]).toEqual([false, true]);
});
