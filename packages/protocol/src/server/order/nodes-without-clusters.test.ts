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
  expect(one.isElsewhere).toBe(true);
});
