import { expect, test } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import { PastVersions } from "./past-versions.ts";
import { PendingRemovals } from "./pending-removals.ts";

/** A version with what it stands for, as a server that served the client would have noted it. */
function told(past: PastVersions, version: string, view: ReturnType<typeof viewOf>): unknown {
  const served = past.find(CLUSTER, version, view);
  return served && [served.position.revision, ...[...served.pendingRemovals.names.keys()].sort()];
}

test("S-REC-09: the version of each former state is known, and of none that never was", () => {
  const base = new WrittenLayer("base", [cluster("a", "1")]);
  const top = new WrittenLayer("top");
  const view = viewOf(top, base);
  const versions = [view.typeVersion(CLUSTER)];
  const steps: readonly ((revision: number) => void)[] = [
    (revision) => base.put(revision, cluster("b", "1"), cluster("c", "1")),
    (revision) => top.put(revision, cluster("a", "2")),
    (revision) => base.delete(revision, "b"),
    (revision) => base.put(revision, cluster("a", "3")),
    (revision) => top.delete(revision, "a"),
  ];
  for (const [index, step] of steps.entries()) {
    step(index + 2);
    versions.push(view.typeVersion(CLUSTER));
  }
  const past = new PastVersions();
  // The fifth change is hidden by the layer above: its version is that of the fourth, of which the newest counts.
  expect(versions.map((version) => told(past, version, view))).toEqual([[1], [2], [3], [5], [5], [6]]);
  const unheard = ["", "1", "v1.2.3.4567", `${versions[0]}.`, `${versions[0]}.abcd`];
  expect(unheard.map((version) => past.find(CLUSTER, version, view))).toEqual(unheard.map(() => undefined));
});

test("S-ORD-05: what a client still lists of removed Clusters is known by the marks in its version", () => {
  const base = new WrittenLayer("base", [cluster("a", "1"), cluster("b", "1"), cluster("c", "1")]);
  const view = viewOf(base);
  const listing = (...names: readonly string[]): string => {
    const set = new PendingRemovals(new Map(names.map((name) => [name, { was: cluster(name, "1"), since: 2 }])));
    return view.typeVersionWith(CLUSTER, set.sum, set.marks);
  };
  base.delete(2, "a", "b");
  const [a, both, never] = [listing("a"), listing("b", "a"), listing("a", "x")];
  base.delete(3, "c");
  const all = listing("a", "b", "c");
  const past = new PastVersions();
  expect([a, both, all, never].map((version) => told(past, version, view))).toEqual([
    [2, "a"],
    [2, "a", "b"],
    [3, "a", "b", "c"],
    undefined,
  ]);
  const stale = past.find(
    CLUSTER,
    a.replace(/^./, (digit) => (digit === "A" ? "B" : "A")),
    view,
  );
  expect(stale).toBe(undefined);
});

test("S-VER-08: nothing is known of versions that the caller set, nor from before the journal begins", () => {
  const base = new WrittenLayer("base", [cluster("a", "1")]);
  const view = viewOf(base);
  const first = view.typeVersion(CLUSTER);
  base.put(2, cluster("a", "2"));
  const second = view.typeVersion(CLUSTER);
  base.put(3, cluster("a", "3"));
  base.tableFor(CLUSTER).journal.trim(2);
  expect([first, second].map((version) => told(new PastVersions(), version, view))).toEqual([undefined, [2]]);
});
