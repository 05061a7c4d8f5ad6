import { Cluster, ClusterLoadAssignment, LbEndpoint, TypedExtensionConfig } from "@xdskit/envoy-api/resources";
import type { MeshLink, TypeUrl } from "@xdskit/protocol";
import type { MeshNode, TypeKind } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { Work } from "../../protocol/test/support/work.ts";
import { type MeshGround, MeshRunner } from "../src/mesh/mesh-runner.ts";
import { NodeStore } from "../src/mesh/node-store.ts";
import { Snapshot } from "../src/mesh/snapshot.ts";
import { StaticResources } from "../src/mesh/static-source.ts";
import { kindOf } from "../src/resource/kind-of.ts";
import { createResourceViews } from "../src/resource/xds-resource.ts";
import { grpcSource, server, testApi } from "./support/sources.ts";

const api = testApi();

/** The steps to look up whether each of so many extension configs fits where a mesh uses it. */
function lookUp(count: number): number {
  const type = TypedExtensionConfig.typeUrl;
  const names = Array.from({ length: count }, (_, i) => `x${i}`);
  const source = grpcSource([server(1)]);
  const ground = {
    api: api,
    config: { ads: source, authorities: new Map(), nodeContextParams: new Map() },
    statics: new StaticResources(undefined, api),
    driver: { watch: () => () => {} },
    report: () => {},
  } as unknown as MeshGround;
  const listener = { changed: () => {}, started: () => {}, demandEnded: () => {} };
  const runner = new MeshRunner(ground, { followsClusters: false }, listener);
  const id = runner.sources.add(source);
  for (const [root, term] of names.entries())
    runner.on({ kind: "root-added", root: { root, source: id, type, term, timeoutMs: 0 } });
  const steps = new Work().of(() => {
    for (const name of names) expect(runner.problemWith(type, name, undefined)).toBe(undefined);
  });
  runner.close();
  return steps;
}

test("whether an extension config fits is found without a look at the others of the mesh", () => {
  expect(lookUp(200)).toBeLessThan(2.1 * lookUp(100));
});

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

test("a change of one node among 10,000 costs little, though each is handed out", () => {
  const count = 10_000;
  const store = new NodeStore((type): TypeKind => kindOf(type, api));
  const put = (i: number): void => store.put(node(Cluster.typeUrl, `c${i}`, i));
  for (let i = 0; i < count; i++) put(i);
  const steps = new Work().of(() => {
    for (let i = 0; i < 1_000; i++) {
      store.handOut();
      put(i * 7);
    }
  });
  expect(steps / 1_000).toBeLessThan(count / 10);
  expect(store.handOut().byId.size).toBe(count);
});
