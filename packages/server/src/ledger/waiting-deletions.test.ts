import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Reference, type Resource, type TypeUrl } from "@xdskit/protocol";
import { defaultFuses, tripFuses } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryLedgerStore } from "./memory-store.ts";
import { Publisher } from "./publisher.ts";
import type { PlacedResource } from "./references.ts";
import { DEFAULT_RETENTION } from "./retention.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const api = createEnvoyApi();
const kindOf = (type: TypeUrl) => api.traits(type)?.kind ?? "opaque";
const origin = { writer: "directory" };

function made(type: TypeUrl, name: string, text: string, references: readonly Reference[] = []): Resource {
  return createResource({ type, name, references, bytes: new TextEncoder().encode(text) }, contentDigest);
}

const cluster = (name: string, ...endpointsOf: readonly string[]): Resource =>
  made(
    CLUSTER,
    name,
    endpointsOf.join(),
    endpointsOf.map((one) => ({ type: ENDPOINTS, name: one })),
  );
const endpoints = (name: string, text = ""): Resource => made(ENDPOINTS, name, text);
const base = (...list: readonly Resource[]) => new Map<string, readonly Resource[]>([["base", list]]);
const deletion = (name: string, layer = "base") => ({ layer, deletes: [{ type: ENDPOINTS, name }] });

/** A publisher, and everything in force by layer and name: `base one`. */
async function start(store = new MemoryLedgerStore()) {
  const placed = new Map<string, PlacedResource>();
  let revision = 0;
  const publisher = await Publisher.open({
    ...{ store, retention: DEFAULT_RETENTION, digest: contentDigest, kindOf, nodesBy: () => [] },
    holdsSecret: () => false,
    judge: (change, state) => tripFuses(change, state, { time: Date.now(), kindOf, nodes: [] }, defaultFuses),
    target: {
      get revision() {
        return revision;
      },
      check: () => undefined,
      apply({ changes }) {
        for (const { layer, puts = [], deletes = [] } of changes) {
          for (const resource of puts) placed.set(`${layer} ${resource.name}`, { layer, resource });
          for (const { name } of deletes) placed.delete(`${layer} ${name}`);
        }
        return ++revision;
      },
      resources: () => placed.values(),
      changeMissing: () => undefined,
    },
    onRecorded: () => undefined,
    onResumed: () => undefined,
    onProblem: (message) => {
      throw new Error(message);
    },
  });
  return { publisher, store, inForce: () => [...placed.keys()].sort() };
}

const waits = (name: string, layer = "base") => ({ layer, type: ENDPOINTS, name });

test("endpoints that a cluster refers to stay until the cluster is gone or refers to others", async () => {
  const { publisher, inForce } = await start();
  await publisher.publish({
    layers: base(cluster("a", "e"), cluster("b", "f"), endpoints("e"), endpoints("f")),
    origin,
  });
  const asked = await publisher.publish({ changes: [deletion("e"), deletion("f")], origin: { writer: "api" } });
  expect(asked).toEqual({ kind: "unchanged", number: 1, revision: 1, waiting: [waits("e"), waits("f")] });
  expect(inForce()).toEqual(["base a", "base b", "base e", "base f"]);
  await publisher.publish({ changes: [{ layer: "base", puts: [cluster("a", "g")] }], origin });
  await expect.poll(inForce).toEqual(["base a", "base b", "base f"]);
  expect(publisher.waiting).toEqual([waits("f")]);
  await publisher.publish({ changes: [{ layer: "base", deletes: [{ type: CLUSTER, name: "b" }] }], origin });
  await expect.poll(inForce).toEqual(["base a"]);
  expect(publisher.waiting).toEqual([]);
});

test("a change that takes the cluster as well deletes its endpoints with it", async () => {
  const { publisher, inForce } = await start();
  await publisher.publish({ layers: base(cluster("a", "e"), endpoints("e")), origin });
  expect(await publisher.publish({ layers: base(), origin })).toEqual({ kind: "applied", number: 3, revision: 2 });
  expect(inForce()).toEqual([]);
});

test("a source that leaves them out for good is done once the cluster is gone, and one that brings them back keeps them", async () => {
  const { publisher, inForce } = await start();
  const a = cluster("a", "e");
  await publisher.publish({ layers: base(a, endpoints("e")), origin });
  expect(await publisher.publish({ layers: base(a), origin })).toMatchObject({ waiting: [waits("e")] });
  expect(await publisher.publish({ layers: base(a, endpoints("e", "2")), origin })).toMatchObject({ kind: "applied" });
  expect([publisher.waiting, inForce()]).toEqual([[], ["base a", "base e"]]);
  await publisher.publish({ layers: base(a), origin });
  await publisher.publish({ layers: base(), origin });
  await expect.poll(inForce).toEqual([]);
});

test("what another layer has under the name takes its place: nothing waits", async () => {
  const { publisher, inForce } = await start();
  const layers = new Map([...base(cluster("a", "e"), endpoints("e")), ["node/one", [endpoints("e", "own")]]]);
  await publisher.publish({ layers, origin });
  const asked = await publisher.publish({ changes: [deletion("e", "node/one")], origin });
  expect(asked).toMatchObject({ kind: "applied" });
  expect(inForce()).toEqual(["base a", "base e"]);
});

test("what is held and refers to them keeps them, and so does a decision that is open", async () => {
  const { publisher, inForce } = await start();
  const many = Array.from({ length: 30 }, (_, index) => cluster(`c${index}`));
  await publisher.publish({ layers: base(...many, endpoints("e"), endpoints("f")), origin });
  const held = await publisher.publish({ layers: base(cluster("new", "e"), endpoints("e")), origin });
  expect(held).toMatchObject({ kind: "held", number: 2 });
  await publisher.publish({ changes: [deletion("e")], origin: { writer: "api" } });
  const before = inForce().length;
  expect([before, publisher.waiting]).toEqual([32, [waits("f"), waits("e")]]);
  await publisher.approve(2);
  await expect.poll(inForce).toEqual(["base e", "base new"]);
  expect(publisher.waiting).toEqual([waits("e")]);
});

test("after a restart the held change still keeps what it refers to", async () => {
  const first = await start();
  const many = Array.from({ length: 30 }, (_, index) => cluster(`c${index}`));
  await first.publisher.publish({ layers: base(...many, endpoints("e")), origin });
  await first.publisher.publish({ layers: base(cluster("new", "e"), endpoints("e")), origin });
  const { publisher } = await start(first.store);
  const asked = await publisher.publish({ changes: [deletion("e")], origin: { writer: "api" } });
  expect(asked).toMatchObject({ kind: "unchanged", waiting: [waits("e")] });
});

test("many deletions beside as many changes look at each change a few times, however many there are", async () => {
  const lookedAt = async (count: number): Promise<number> => {
    const { publisher } = await start();
    const names = Array.from({ length: count }, (_, index) => `e${index}`);
    await publisher.publish({ layers: base(...names.map((name) => endpoints(name))), origin });
    let looks = 0;
    const counted = names.map((name): Resource => {
      const { references, ...others } = cluster(`c${name}`, name);
      return {
        ...others,
        get references() {
          looks++;
          return references;
        },
      };
    });
    const asked = await publisher.publish({ layers: base(...counted), origin });
    expect(asked).toMatchObject({ waiting: names.map((name) => waits(name)) });
    return looks;
  };
  expect(await lookedAt(200)).toBeLessThanOrEqual(2 * (await lookedAt(100)));
});

test("whatever is published, no cluster in force loses endpoints that it had, and in the end nothing waits in vain", async () => {
  const name = fc.constantFrom("e", "f", "g");
  const layer = fc.constantFrom("base", "group/x");
  const step = fc.oneof(
    fc.record({ kind: fc.constant("delete" as const), layer, name }),
    fc.record({ kind: fc.constant("endpoints" as const), layer, name }),
    fc.record({ kind: fc.constant("cluster" as const), layer, name, to: fc.option(name, { nil: undefined }) }),
    fc.record({ kind: fc.constant("drop" as const), layer, name }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 }), async (batches) => {
      const { publisher, inForce } = await start();
      const clusters = new Map<string, string | undefined>();
      const lacks = (): readonly string[] => {
        const now = new Set(inForce());
        return [...clusters].flatMap(([place, to]) => {
          const [at = ""] = place.split(" ");
          return to === undefined || now.has(`${at} ${to}`) || now.has(`base ${to}`) ? [] : [`${place} ${to}`];
        });
      };
      let lacked: readonly string[] = [];
      for (const batch of batches) {
        const published = batch.map((one) => {
          const place = `${one.layer} c-${one.name}`;
          if (one.kind === "cluster") clusters.set(place, one.to);
          if (one.kind === "drop") clusters.delete(place);
          const change =
            one.kind === "delete"
              ? deletion(one.name, one.layer)
              : one.kind === "endpoints"
                ? { layer: one.layer, puts: [endpoints(one.name)] }
                : one.kind === "drop"
                  ? { layer: one.layer, deletes: [{ type: CLUSTER, name: `c-${one.name}` }] }
                  : { layer: one.layer, puts: [cluster(`c-${one.name}`, ...(one.to === undefined ? [] : [one.to]))] };
          return { one, done: publisher.publish({ changes: [change], origin: { writer: "api" } }) };
        });
        await Promise.all(published.map(({ done }) => done));
        const touched = new Set(
          batch.filter(({ kind }) => kind === "cluster").map((one) => `${one.layer} c-${one.name}`),
        );
        const now = lacks();
        // A cluster may be published before its endpoints; but none that had them may lose them.
        expect(
          now.filter((one) => !lacked.includes(one) && !touched.has(one.split(" ").slice(0, 2).join(" "))),
        ).toEqual([]);
        lacked = now;
      }
      for (const place of clusters.keys()) {
        const [at = "", cds = ""] = place.split(" ");
        await publisher.publish({ changes: [{ layer: at, deletes: [{ type: CLUSTER, name: cds }] }], origin });
      }
      await expect.poll(() => publisher.waiting).toEqual([]);
    }),
    { numRuns: 200 },
  );
}, 60_000);
