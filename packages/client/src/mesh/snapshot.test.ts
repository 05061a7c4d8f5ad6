import { Cluster, ClusterLoadAssignment, LbEndpoint } from "@xdskit/envoy-api/resources";
import type { MeshLink, TypeUrl } from "@xdskit/protocol";
import type { MeshNode, TypeKind } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { Work } from "../../../protocol/test/support/work.ts";
import { testApi } from "../../test/support/sources.ts";
import { kindOf } from "../resource/kind-of.ts";
import { createResourceViews } from "../resource/xds-resource.ts";
import { NodeStore } from "./node-store.ts";
import { Snapshot } from "./snapshot.ts";

const api = testApi();

function node(type: TypeUrl, name: string, watch: number, links: readonly MeshLink[] = []): MeshNode {
  const resource = { type, name, version: "1", aliases: [], ttlMs: undefined, bytes: new Uint8Array() };
  const rest = { source: "ads", isRoot: false, state: "ready", warming: undefined, failure: undefined } as const;
  return { ...rest, id: `${type} ${name}`, type, name, watches: [watch], resource, links };
}

function link(type: TypeUrl, name: string, watch: number): MeshLink {
  return { type, name, watch, node: `${type} ${name}`, state: "there" };
}

/** So many Clusters, each with endpoints in two collections. */
function snapshotOf(count: number): Snapshot {
  const store = new NodeStore((type): TypeKind => kindOf(type, api));
  for (let i = 0; i < count; i++) {
    const [eds, here, there] = [3 * i, 3 * i + 1, 3 * i + 2];
    store.put(node(Cluster.typeUrl, `c${i}`, -1, [link(ClusterLoadAssignment.typeUrl, `c${i}`, eds)]));
    const collections = [here, there].map((watch) => link(LbEndpoint.typeUrl, "*", watch));
    store.put(node(ClusterLoadAssignment.typeUrl, `c${i}`, eds, collections));
    store.put(node(LbEndpoint.typeUrl, `c${i}/a`, here));
    store.put(node(LbEndpoint.typeUrl, `c${i}/b`, there));
  }
  return new Snapshot({ nodes: store.handOut(), views: createResourceViews(api), revision: 1, isComplete: true });
}

test("the endpoints of a Cluster are found without a look at those of the others", () => {
  const steps = [100, 200].map((count) => {
    const snapshot = snapshotOf(count);
    const names: string[][] = [];
    const work = new Work().of(() => {
      for (const { lbEndpoints } of snapshot.clusters.values()) names.push(lbEndpoints.map(({ name }) => name));
    });
    expect([names.length, names[7]]).toEqual([count, ["c7/a", "c7/b"]]);
    return work;
  });
  expect(steps[1]).toBeLessThan(2.1 * (steps[0] ?? 0));
});
