import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { cluster, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest } from "../../../test/support/resources.ts";
import type { DiscoveryRequest, ListedVersion } from "../../message/request.ts";
import type { View } from "../../state/view.ts";
import { CurrentView } from "./current-view.ts";
import { KnownVersions } from "./known-versions.ts";
import { noPendingRemovals } from "./pending-removals.ts";
import { SharedResponses } from "./shared-responses.ts";

const common = { type: CLUSTER, node: undefined, nonce: undefined, error: undefined };

function delta(pairs: readonly ListedVersion[]): DiscoveryRequest {
  const initialVersions = { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs[Symbol.iterator]() };
  return { ...common, kind: "delta", subscribe: ["*"], unsubscribe: [], initialVersions };
}

function sotw(versionInfo: string | undefined): DiscoveryRequest {
  return { ...common, kind: "sotw", versionInfo, names: [] };
}

/** What the server is asked of a view. */
function asking(view: View, shared = new SharedResponses(digest)): (request: DiscoveryRequest) => boolean {
  const known = new KnownVersions();
  shared.advance(100, undefined);
  const current = new CurrentView(view, shared);
  return (request) => known.covers(request, CLUSTER, current);
}

/** What a client of the view holds that was sent everything. */
function held(view: View): readonly ListedVersion[] {
  return [...view.members(CLUSTER)].map(({ name, version }) => [name, version]);
}

interface Write {
  readonly isTop: boolean;
  readonly name: string;
  /** Undefined: deleted. */
  readonly label: string | undefined;
}

const name = fc.constantFrom("a", "b", "c");
const write: fc.Arbitrary<Write> = fc.record({
  isTop: fc.boolean(),
  name,
  label: fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined }),
});

describe("what a client brings is known", () => {
  test("if it is of states that were in force, in delta even of several", () => {
    const property = fc.property(
      fc.array(write, { minLength: 1, maxLength: 30 }),
      fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
      fc.nat(),
      (writes, picks, foreign) => {
        const [top, base] = [new WrittenLayer("top"), new WrittenLayer("base", [cluster("a", "1")])];
        const view = viewOf(top, base);
        const knows = asking(view);
        const states = [{ pairs: held(view), version: view.typeVersion(CLUSTER) }];
        for (const [index, { isTop, name: written, label }] of writes.entries()) {
          const layer = isTop ? top : base;
          if (label === undefined) layer.delete(index + 2, written);
          else layer.put(index + 2, cluster(written, label));
          states.push({ pairs: held(view), version: view.typeVersion(CLUSTER) });
        }
        for (const { pairs, version } of states) {
          expect([knows(delta(pairs)), knows(sotw(version))]).toEqual([true, true]);
        }
        // As of a client that is in the middle of changes.
        const mixed = picks.flatMap((pick, at) => states[pick % states.length]?.pairs.slice(at, at + 1) ?? []);
        expect(knows(delta(mixed))).toBe(true);
        const unheard = cluster(["a", "b", "c", "d"][foreign % 4] ?? "", "never");
        const strange = mixed.toSpliced(foreign % (mixed.length + 1), 0, [unheard.name, unheard.version]);
        expect([knows(delta(strange)), knows(sotw("never"))]).toEqual([false, false]);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  test("if it was served here, and not if only by a worker that is ahead", () => {
    const view = viewOf(new WrittenLayer("base", [cluster("a", "1")]));
    const shared = new SharedResponses(digest);
    const knows = asking(view, shared);
    for (const revision of [99, 100, 101]) {
      const position = { view: viewOf(new WrittenLayer("base", [], revision)), revision };
      shared.served.note({ type: CLUSTER, version: `of ${revision}`, position, pendingRemovals: noPendingRemovals });
    }
    expect([99, 100, 101].map((revision) => knows(sotw(`of ${revision}`)))).toEqual([true, true, false]);
  });

  test("if it is nothing", () => {
    const knows = asking(viewOf(new WrittenLayer("base", [cluster("a", "1")])));
    expect([knows(delta([])), knows(sotw(undefined))]).toEqual([true, true]);
  });

  test("as far back as the journal goes, and what it has of a layer of other nodes is not", () => {
    const [base, elsewhere] = [new WrittenLayer("base", [cluster("a", "1")]), new WrittenLayer("other")];
    const view = viewOf(base);
    const knows = asking(view);
    const [first, version] = [held(view), view.typeVersion(CLUSTER)];
    for (const label of ["2", "3"]) base.put(Number(label), cluster("a", label));
    elsewhere.put(4, cluster("b", "1"));
    expect([knows(delta(first)), knows(sotw(version))]).toEqual([true, true]);
    expect(knows(delta(held(viewOf(elsewhere))))).toBe(false);
    base.put(5, cluster("a", "4"));
    base.tableFor(CLUSTER).journal.trim(2);
    expect([knows(delta(first)), knows(sotw(version))]).toEqual([false, false]);
  });

  test("without reading the journal of a layer again for each node that has a view of its own", () => {
    const base = new WrittenLayer("base", [cluster("a", "1")]);
    const former = held(viewOf(base));
    base.put(2, cluster("a", "2"));
    const known = new KnownVersions();
    const shared = new SharedResponses(digest);
    shared.advance(100, undefined);
    const read = vi.spyOn(base.tableFor(CLUSTER).journal, "backwards");
    for (let index = 0; index < 1_000; index++) {
      const view = viewOf(new WrittenLayer(`node/${index}`), base);
      expect(known.covers(delta(former), CLUSTER, new CurrentView(view, shared))).toBe(true);
    }
    expect(read).toHaveBeenCalledTimes(1);
    base.put(3, cluster("a", "3"));
    const second = new CurrentView(viewOf(base), shared);
    expect(known.covers(delta([["a", cluster("a", "2").version]]), CLUSTER, second)).toBe(true);
  });

  test("by a name that is written in another way", () => {
    const base = new WrittenLayer("base", [cluster("xdstp://x/envoy.config.cluster.v3.Cluster/c?a=1&b=2", "1")]);
    const [[, version] = []] = held(viewOf(base));
    const pair = ["xdstp://x/envoy.config.cluster.v3.Cluster/c?b=2&a=1", version ?? ""] as const;
    expect(asking(viewOf(base))(delta([pair]))).toBe(true);
  });
});
