import { describe, expect, test } from "vitest";
import { CLUSTER, digest, failure, LISTENER, plain, resource } from "../../test/support/resources.ts";
import type { AccessGrant } from "../access/access-policy.ts";
import type { Resource } from "../resource/resource.ts";
import { LayerSet } from "../state/layer-set.ts";
import { finish } from "../state/steps.ts";
import type { LayerChange, Transaction } from "../state/transaction.ts";
import { noPendingRemovals, PendingRemovals } from "./cache/pending-removals.ts";
import { ServedVersions } from "./cache/served.ts";
import { SharedResponses } from "./cache/shared-responses.ts";
import type { Remembered } from "./contract/remembered.ts";
import { History } from "./history.ts";
import { ClusterSources } from "./order/cluster-sources.ts";

const listener = resource(LISTENER, "l", "1");

/** What one server remembers for the next. */
class Server {
  readonly layers = new LayerSet<object>({ keepsBodies: () => true }, { lines: 1_000, bytes: 1e9 });
  readonly clusterSources = new ClusterSources({ listsNews: true });
  readonly responses = new SharedResponses(digest, { served: new ServedVersions({ listsNews: true }) });
  readonly history = new History(this.layers, this.responses, (type) => type === CLUSTER, this.clusterSources);

  /** The records of a transaction, which then takes effect. */
  commit(...changes: readonly LayerChange[]): readonly Remembered[] {
    const revision = this.responses.revision + 1;
    const records = finish(this.history.changed({ changes }, revision));
    this.layers.apply({ changes }, revision);
    this.responses.advance(revision, undefined);
    return records.map(({ what }) => what);
  }

  serve(version: string, pendingRemovals = noPendingRemovals, grant?: AccessGrant): void {
    const view = this.layers.viewOf(["top", "base"], grant);
    this.layers.watch(view, {});
    const position = { view, revision: this.responses.revision };
    this.responses.served.note({ type: CLUSTER, version, position, pendingRemovals });
  }

  get served(): readonly Remembered[] {
    return this.history.served().map(({ what }) => what);
  }

  get present(): readonly Remembered[] {
    return [...this.history.present()];
  }
}

const record = (
  layer: string,
  puts: readonly Resource[],
  deletes: readonly string[] = [],
  revision = 1,
): Remembered => ({
  ...{ kind: "changed", revision, type: CLUSTER, layer, puts, deletes },
});

describe("the records of a transaction", () => {
  test("are the Clusters that it changes, by layer; what stays the same or is no Cluster is left out", () => {
    const server = new Server();
    const [a, b] = [plain("a"), plain("b")];
    expect(server.commit({ layer: "base", puts: [a, listener, b] }, { layer: "top", puts: [listener] })).toEqual([
      record("base", [a, b]),
    ]);
    const second = { ...b, ttlMs: 1_000 };
    const deletes = [
      { type: CLUSTER, name: "a" },
      { type: CLUSTER, name: "none" },
      { type: LISTENER, name: "l" },
    ];
    expect(server.commit({ layer: "base", puts: [second, plain("c")], deletes }, { layer: "top", puts: [b] })).toEqual([
      record("base", [plain("c")], ["a"], 2),
      record("top", [b], [], 2),
    ]);
    expect(server.commit({ layer: "base" })).toEqual([]);
  });

  test("have an error in place of a Cluster as its deletion", () => {
    const server = new Server();
    server.commit({ layer: "base", puts: [plain("a"), failure(CLUSTER, "b", 13)] });
    const failing = [failure(CLUSTER, "a", 13), failure(CLUSTER, "b", 14), failure(LISTENER, "l", 13)];
    expect(server.commit({ layer: "base", puts: failing })).toEqual([record("base", [], ["a"], 2)]);
  });
});

describe("the records of what clients were sent", () => {
  test("are versions with their layers and the deleted Clusters that they list, each once", () => {
    const server = new Server();
    server.commit({ layer: "base", puts: [plain("a")] });
    const gone = plain("gone");
    server.serve("v1", new PendingRemovals(new Map([["gone", { was: gone, since: 1 }]])));
    const served = { kind: "served", revision: 1, type: CLUSTER, layers: ["top", "base"], version: "v1" };
    expect([server.served, server.served]).toEqual([[{ ...served, pendingRemovals: [gone] }], []]);
  });

  test("leave out what was served of parts of layers", () => {
    const server = new Server();
    server.serve("v1", noPendingRemovals, { key: "part", isWhole: false, visible: () => "all" });
    expect(server.served).toEqual([]);
  });

  test("say which nodes get their Clusters elsewhere", () => {
    const server = new Server();
    server.clusterSources.sourceOf("n", false).noteElsewhere();
    expect([server.served, server.served]).toEqual([
      [{ kind: "clusters-elsewhere", node: "n", isElsewhere: true }],
      [],
    ]);
  });
});

describe("the records of what there is", () => {
  test("are all Clusters, the versions that are still current, and the nodes that get theirs elsewhere", () => {
    const server = new Server();
    const [a, b] = [plain("a"), plain("b")];
    server.commit(
      { layer: "base", puts: [a, listener, failure(CLUSTER, "x", 13)] },
      { layer: "empty", puts: [listener] },
    );
    server.serve("old");
    server.commit({ layer: "top", puts: [b] });
    server.serve("new");
    server.serve("part", noPendingRemovals, { key: "part", isWhole: false, visible: () => "all" });
    server.clusterSources.sourceOf("n", false).noteElsewhere();
    expect(server.present).toEqual([
      record("base", [a], [], 2),
      record("top", [b], [], 2),
      { kind: "served", revision: 2, type: CLUSTER, layers: ["top", "base"], version: "new", pendingRemovals: [] },
      { kind: "clusters-elsewhere", node: "n", isElsewhere: true },
    ]);
  });
});

describe("a restarted server", () => {
  function restarted(...records: readonly Remembered[]): Server {
    const server = new Server();
    server.history.restore(records);
    return server;
  }

  const completed = (server: Server, ...changes: readonly LayerChange[]): Transaction =>
    server.history.complete({ changes });

  test("goes on from the state of the previous one, and has no news of it", () => {
    const gone = plain("gone");
    const server = restarted(
      record("base", [plain("a"), plain("b")], [], 5),
      record("base", [], ["b"], 7),
      { kind: "served", revision: 7, type: CLUSTER, layers: ["base"], version: "v1", pendingRemovals: [gone] },
      { kind: "served", revision: 6, type: CLUSTER, layers: ["base"], version: "v0", pendingRemovals: [] },
      { kind: "clusters-elsewhere", node: "n", isElsewhere: true },
    );
    const view = server.layers.viewOf(["base"]);
    const found = server.responses.served.find(CLUSTER, "v1", view);
    expect([server.responses.revision, [...view.members(CLUSTER)].map(({ name }) => name), server.served]).toEqual([
      7,
      ["a"],
      [],
    ]);
    expect([found?.position.revision, [...(found?.pendingRemovals.names ?? [])]]).toEqual([
      7,
      [["gone", { was: gone, since: 7 }]],
    ]);
    expect(server.responses.served.find(CLUSTER, "v0", view)?.pendingRemovals).toBe(noPendingRemovals);
    expect(server.clusterSources.sourceOf("n", false).isElsewhere).toBe(true);
  });

  test("replaces the Clusters of the previous one with its first transaction: those that are not put are deleted", () => {
    const server = restarted(record("base", [plain("a"), plain("b")]), record("old", [plain("c")]));
    const first = { layer: "base", puts: [plain("a", "2"), listener] };
    expect(completed(server, first).changes).toEqual([
      { layer: "base", deletes: [{ type: CLUSTER, name: "b" }] },
      { layer: "old", deletes: [{ type: CLUSTER, name: "c" }] },
      first,
    ]);
    expect(completed(server, first).changes).toEqual([first]);
  });

  test("does not tell apart layers or types by a name alone", () => {
    const server = restarted(record("base", [plain("a")]));
    const elsewhere = { layer: "top", puts: [plain("a")] };
    const other = { layer: "base", puts: [resource(LISTENER, "a", "1")] };
    expect(completed(server, elsewhere, other).changes[0]).toEqual({
      ...{ layer: "base", deletes: [{ type: CLUSTER, name: "a" }] },
    });
  });

  test("takes over what its first transaction says of an equal Cluster, such as metadata, without a change", () => {
    const held = (put: Resource): Resource | undefined => {
      const server = restarted(record("base", [plain("a")]));
      completed(server, { layer: "base", puts: [put] });
      return server.layers.layer("base")?.table(CLUSTER)?.resources.get("a");
    };
    const metadata = new Uint8Array([1]);
    const same = { ...plain("a"), metadata };
    expect([
      held(same)?.metadata,
      held({ ...same, version: "other" })?.metadata,
      held({ ...same, bytes: new Uint8Array(same.bytes.length) })?.metadata,
      held({ ...same, bytes: new Uint8Array(1) })?.metadata,
    ]).toEqual([metadata, undefined, undefined, undefined]);
  });

  test("changes nothing if there is no previous one", () => {
    const transaction = { changes: [{ layer: "base", puts: [plain("a")] }] };
    expect(new Server().history.complete(transaction)).toBe(transaction);
  });
});
