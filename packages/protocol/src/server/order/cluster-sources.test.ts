import { expect, test } from "vitest";
import { ClusterSources } from "./cluster-sources.ts";

test("the oldest nodes are forgotten beyond 16,384, and the next server is told", () => {
  const sources = new ClusterSources({ listsNews: true });
  for (let i = 0; i < 16_385; i++) sources.sourceOf(`n${i}`, false).noteElsewhere();
  expect([sources.sourceOf("n0", false).isElsewhere, sources.sourceOf("n1", false).isElsewhere]).toEqual([false, true]);
  expect([...sources.current()].length).toBe(16_384);
  const news = sources.takeNews();
  expect(news.find(({ node }) => node === "n0")).toEqual({ node: "n0", isElsewhere: false });
  expect(sources.takeNews()).toEqual([]);
});

test.each([
  ["without an id", ""],
  ["with a very long id", "n".repeat(513)],
])("a node %s is not remembered", (_, id) => {
  const sources = new ClusterSources({ listsNews: true });
  const source = sources.sourceOf(id, false);
  source.noteElsewhere();
  expect([source.isElsewhere, sources.takeNews()]).toEqual([false, []]);
});

test("a node with a long id of 512 characters is remembered", () => {
  const source = new ClusterSources({ listsNews: false }).sourceOf("n".repeat(512), false);
  source.noteElsewhere();
  expect(source.isElsewhere).toBe(true);
});

test("a node with several streams of Clusters has some until the last one closes", () => {
  const sources = new ClusterSources({ listsNews: false });
  const [one, other] = [sources.sourceOf("n", false), sources.sourceOf("n", true)];
  one.subscribe();
  other.subscribe();
  one.unsubscribe();
  one.noteElsewhere();
  expect(one.isElsewhere).toBe(false);
  other.unsubscribe();
  one.noteElsewhere();
  expect([one.isElsewhere, sources.takeNews()]).toEqual([true, []]);
});

test("what a node does on aggregated streams is remembered, too, except that it subscribed to Clusters here", () => {
  const sources = new ClusterSources({ listsNews: true });
  const [aggregated, separate] = [sources.sourceOf("n", true), sources.sourceOf("n", false)];
  aggregated.noteElsewhere();
  expect([aggregated.isElsewhere, separate.isElsewhere, sources.takeNews()]).toEqual([
    ...[true, true, [{ node: "n", isElsewhere: true }]],
  ]);
  aggregated.subscribe();
  expect([separate.isElsewhere, separate.isKnownHere, sources.takeNews()]).toEqual([
    ...[false, false, [{ node: "n", isElsewhere: false }]],
  ]);
});

test("a node that subscribed to Clusters here is known for it, the oldest of more than 16,384 no longer", () => {
  const sources = new ClusterSources({ listsNews: false });
  const of = (id: string) => sources.sourceOf(id, false);
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

test("the next server is told of nodes that subscribed to Clusters here, and of those that no longer do", () => {
  const [sources, next] = [new ClusterSources({ listsNews: true }), new ClusterSources({ listsNews: false })];
  const [one, other] = [sources.sourceOf("n1", false), sources.sourceOf("n2", false)];
  one.subscribe();
  one.subscribe();
  other.noteElsewhere();
  const all = [
    { node: "n1", isElsewhere: false, isHere: true },
    { node: "n2", isElsewhere: true },
  ];
  expect(sources.takeNews()).toEqual(all);
  expect([...sources.current()].sort((a, b) => a.node.localeCompare(b.node))).toEqual(all);
  const known = (): readonly boolean[] => ["n1", "n2"].map((id) => next.sourceOf(id, true).isKnownHere);
  for (const note of all) next.restore(note as Parameters<ClusterSources["restore"]>[0]);
  const before = known();
  for (const _ of "12") one.unsubscribe();
  one.noteElsewhere();
  for (const note of sources.takeNews()) next.restore(note);
  expect([before, known()]).toEqual([
    [true, false],
    [false, false],
  ]);
});
