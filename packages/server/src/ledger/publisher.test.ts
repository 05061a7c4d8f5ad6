import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource, type TypeUrl } from "@xdskit/protocol";
import { defaultFuses, type LedgerRecord, tripFuses } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Slices } from "../slices.ts";
import type { StateChange } from "./in-force.ts";
import { MemoryLedgerStore } from "./memory-store.ts";
import { Publisher, type PublisherOptions } from "./publisher.ts";
import { readLedger } from "./reading.ts";
import type { PlacedResource } from "./references.ts";
import { DEFAULT_RETENTION, keptOf, recordsOf as recordsIn } from "./retention.ts";
import type { Appended, LedgerHead, LedgerStore } from "./store.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const api = createEnvoyApi();
const kindOf = (type: TypeUrl) => api.traits(type)?.kind ?? "opaque";
const origin = { writer: "directory" };

function resource(type: TypeUrl, name: string, text = ""): Resource {
  return createResource({ type, name, bytes: new TextEncoder().encode(text) }, contentDigest);
}

const cluster = (name: string, text?: string): Resource => resource(CLUSTER, name, text);
const base = (...resources: readonly Resource[]) => new Map([["base", resources]]);

const tripUsual: PublisherOptions["judge"] = (change, state) =>
  tripFuses(change, state, { time: Date.now(), kindOf, nodes: [] }, defaultFuses);

// biome-ignore lint/correctness/useYield: there is nothing to look at
const tripNothing: PublisherOptions["judge"] = function* () {
  return [];
};

/** A publisher on a store, and what it puts in force, as text. */
async function start(store: LedgerStore = new MemoryLedgerStore(), judge: PublisherOptions["judge"] = tripUsual) {
  const inForce: string[] = [];
  const missing: string[] = [];
  const recorded: string[] = [];
  const problems: string[] = [];
  let revision = 0;
  const placed = new Map<string, PlacedResource>();
  const publisher = await Publisher.open({
    store,
    retention: DEFAULT_RETENTION,
    digest: contentDigest,
    holdsSecret: ({ type, bytes }) => type === SECRET || new TextDecoder().decode(bytes) === "a key",
    kindOf,
    judge,
    nodesBy: () => [
      { id: "edge", before: ["base"], after: ["base"], isCutOff: false, types: "any" },
      { id: "other", before: ["other"], after: ["other"], isCutOff: false, types: "any" },
    ],
    target: {
      get revision() {
        return revision;
      },
      check: ({ changes }) => (changes.some(({ layer }) => layer === "bad") ? "bad layer" : undefined),
      apply(change) {
        inForce.push(textOf(change));
        for (const { layer, puts = [], deletes = [] } of change.changes) {
          for (const resource of puts) placed.set(`${layer} ${resource.type} ${resource.name}`, { layer, resource });
          for (const { type, name } of deletes) placed.delete(`${layer} ${type} ${name}`);
        }
        return ++revision;
      },
      resources: () => placed.values(),
      setMissing: (list) => missing.push(list.map(({ name }) => name).join(",")),
    },
    onRecorded: ({ number, kind }, { length }) => recorded.push(`${number} ${kind} ${length}`),
    onResumed: ({ number, resources, missing: lost }) => recorded.push(`resumed ${number} ${resources} ${lost}`),
    onProblem: (message) => problems.push(message),
  });
  return { publisher, store, inForce, missing, recorded, problems };
}

function textOf({ changes, placement }: StateChange): string {
  const parts = changes.flatMap(({ layer, puts = [], deletes = [] }) => [
    ...puts.map(({ name, bytes }) => `+${layer} ${name}=${new TextDecoder().decode(bytes)}`),
    ...deletes.map(({ name }) => `-${layer} ${name}`),
  ]);
  return [
    ...parts,
    ...(placement === undefined ? [] : [`placed in ${placement.groups.map(({ name }) => name).join(",")}`]),
  ].join(" ");
}

async function recordsOf(store: LedgerStore): Promise<readonly LedgerRecord[]> {
  const records: LedgerRecord[] = [];
  for await (const { text } of store.read(0)) records.push(JSON.parse(text) as LedgerRecord);
  return records;
}

/** Writes a snapshot, and lets go of what is not kept beside it. */
async function compact(store: LedgerStore): Promise<void> {
  const { state, head } = await readLedger(store);
  const snapshot = state.toSnapshot();
  const how = { now: Date.now(), completeAfter: store.completeAfter, slices: new Slices() };
  const keep = await keptOf(recordsIn(store), snapshot, DEFAULT_RETENTION, how);
  await store.compact({ head, text: JSON.stringify(snapshot) }, keep);
}

/** A store that lets appends through one at a time, or refuses them. */
class GatedStore extends MemoryLedgerStore {
  readonly sizes: number[] = [];
  refusal: string | undefined;
  isUnreadable = false;

  override snapshot(): ReturnType<LedgerStore["snapshot"]> {
    return this.isUnreadable ? Promise.reject(new Error("input/output error")) : super.snapshot();
  }

  override async append(expected: LedgerHead, appended: Appended): ReturnType<LedgerStore["append"]> {
    this.sizes.push(appended.records.length);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.refusal !== undefined) return { kind: "unavailable", reason: this.refusal };
    return await super.append(expected, appended);
  }
}

describe("a publication of all layers", () => {
  test("is recorded and put in force by what differs", async () => {
    const { publisher, inForce, recorded } = await start();
    expect(await publisher.publish({ layers: base(cluster("a"), cluster("b")), origin })).toEqual({
      ...{ kind: "applied", number: 1, revision: 1 },
    });
    await publisher.publish({ layers: base(cluster("a", "2")), origin });
    expect(await publisher.publish({ layers: base(cluster("a", "2")), origin })).toEqual({
      ...{ kind: "unchanged", number: 2, revision: 2 },
    });
    expect(inForce).toEqual(["+base a= +base b=", "+base a=2 -base b"]);
    expect(recorded).toEqual(["1 revision 2", "2 revision 2"]);
  });

  test("leaves the layers of other writers alone", async () => {
    const { publisher, inForce } = await start();
    const changes = [{ layer: "dns", puts: [cluster("d")] }];
    await publisher.publish({ changes, origin: { writer: "api" } });
    await publisher.publish({ layers: base(cluster("a")), origin });
    await publisher.publish({ layers: new Map(), origin });
    expect(inForce).toEqual(["+dns d=", "+base a=", "-base a"]);
  });

  test("that cannot be put in force is refused and not recorded", async () => {
    const { publisher, recorded } = await start();
    const layers = new Map([["bad", [cluster("a")]]]);
    expect(await publisher.publish({ layers, origin })).toEqual({ kind: "refused", reason: "bad layer" });
    expect(recorded).toEqual([]);
  });

  test("with endpoints and clusters is two records and one change in force", async () => {
    const { publisher, inForce, recorded } = await start();
    await publisher.publish({ layers: base(cluster("b")), origin });
    await publisher.publish({ layers: base(cluster("a"), cluster("b"), resource(ENDPOINTS, "a", "e")), origin });
    expect(recorded).toEqual(["1 revision 1", "2 live 1", "3 revision 1"]);
    expect(inForce.slice(1)).toEqual(["+base a= +base a=e"]);
  });

  test("says who, why and whence", async () => {
    const { publisher, store } = await start();
    const git = { commit: "c0ffee", isDirty: false };
    const from = { writer: "directory", digest: "d", git };
    await publisher.publish({ layers: base(cluster("a")), author: "ann", message: "first", origin: from });
    expect(await recordsOf(store)).toMatchObject([{ number: 1, author: "ann", message: "first", origin: from }]);
  });
});

describe("operations that wait during an append", () => {
  test("go into the next one together, and each gets its own number", async () => {
    const store = new GatedStore();
    const { publisher } = await start(store);
    const publish = (name: string) =>
      publisher.publish({ changes: [{ layer: "base", puts: [cluster(name)] }], origin: { writer: "api" } });
    const first = publish("a");
    await Promise.resolve();
    await Promise.resolve();
    const results = await Promise.all([first, publish("b"), publish("c"), publish("d")]);
    expect(results.map((result) => "number" in result && result.number)).toEqual([1, 2, 3, 4]);
    expect(store.sizes).toEqual([1, 3]);
  });

  test("are not told of before they are durable and in force", async () => {
    const store = new GatedStore();
    const { publisher, inForce } = await start(store);
    const published = publisher.publish({ layers: base(cluster("a")), origin });
    const seen: (readonly [number: number, changes: number])[] = [];
    let isOver = false;
    void published.then(() => {
      isOver = true;
    });
    while (!isOver) {
      seen.push([publisher.number, inForce.length]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen.filter(([number, changes]) => number !== changes)).toEqual([]);
    expect(seen.length).toBeGreaterThan(0);
    expect([publisher.number, inForce.length]).toEqual([1, 1]);
  });

  test("are refused together if nothing can be written, and later ones work again", async () => {
    const store = new GatedStore();
    const { publisher, inForce, problems } = await start(store);
    await publisher.publish({ layers: base(cluster("a")), origin });
    store.refusal = "the disk is full";
    expect(await publisher.publish({ layers: base(cluster("b")), origin })).toEqual({
      ...{ kind: "refused", reason: "the disk is full" },
    });
    store.refusal = undefined;
    await publisher.publish({ layers: base(cluster("b")), origin });
    expect(inForce).toEqual(["+base a=", "+base b= -base a"]);
    expect(problems).toEqual(["the disk is full"]);
    expect((await recordsOf(store)).map(({ number, kind }) => `${number} ${kind}`)).toEqual([
      "1 revision",
      "2 revision",
    ]);
  });
});

describe("a ledger that fails", () => {
  test("and cannot be read either refuses everything until it can, and loses nothing", async () => {
    const store = new GatedStore();
    const { publisher, inForce, problems } = await start(store);
    await publisher.publish({ layers: base(cluster("a")), origin });
    store.refusal = "the disk is gone";
    store.isUnreadable = true;
    const reason = "the ledger cannot be read: input/output error";
    expect(await publisher.publish({ layers: base(cluster("b")), origin })).toMatchObject({ kind: "refused" });
    expect(await publisher.publish({ layers: base(cluster("b")), origin })).toEqual({ kind: "refused", reason });
    store.refusal = undefined;
    store.isUnreadable = false;
    expect(await publisher.publish({ layers: base(cluster("b")), origin })).toMatchObject({
      kind: "applied",
      number: 2,
    });
    expect([inForce, problems]).toEqual([
      ["+base a=", "+base b= -base a"],
      ["the disk is gone", reason, reason],
    ]);
  });

  test("refuses what was planned upon what it could not record", async () => {
    const store = new GatedStore();
    const { publisher } = await start(store);
    store.refusal = "the disk is full";
    const both = [0, 1].map(() => publisher.publish({ layers: base(cluster("a")), origin }));
    expect((await Promise.all(both)).map(({ kind }) => kind)).toEqual(["refused", "refused"]);
  });

  test("goes on in memory from what can be read", async () => {
    const { publisher, store } = await start();
    const many = Array.from({ length: 30 }, (_, index) => cluster(`c${index}`));
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(), origin });
    const again = await start(await MemoryLedgerStore.after(store));
    expect([again.publisher.number, again.publisher.held?.number]).toEqual([2, 2]);
    expect(await again.publisher.approve(2)).toMatchObject({ kind: "applied", number: 3 });
  });
});

describe("a publisher that is opened again", () => {
  test("deletes what is no longer in a layer of live data alone", async () => {
    const { publisher, store } = await start();
    await publisher.publish({ layers: new Map([["node/x", [resource(ENDPOINTS, "e")]]]), origin });
    const again = await start(store);
    await again.publisher.publish({ layers: base(cluster("a")), origin });
    expect(again.inForce).toEqual(["+node/x e=", "+base a= -node/x e"]);
  });

  const placement = { groups: [{ name: "edge", match: { id: ["e"] } }], clients: [], access: undefined };

  test("puts in force what was, before anything is published, and goes on from there", async () => {
    const { publisher, store } = await start();
    const layers = new Map([...base(cluster("a", "1")), ["group/edge", [cluster("b")]]]);
    await publisher.publish({ layers, placement, origin });
    const again = await start(store);
    expect(again.inForce).toEqual(["+base a=1 +group/edge b= placed in edge"]);
    expect(again.recorded).toEqual(["resumed 1 2 0"]);
    expect(await again.publisher.publish({ layers, placement, origin })).toEqual({
      ...{ kind: "unchanged", number: 1, revision: 1 },
    });
    await again.publisher.publish({ layers: base(cluster("a", "2")), placement, origin });
    expect(again.inForce.slice(1)).toEqual(["+base a=2 -group/edge b"]);
  });

  test("has no content of secrets until they are published again, which is no record", async () => {
    const { publisher, store } = await start();
    const layers = base(cluster("a"), resource(SECRET, "s", "key"), resource(SECRET, "t", "key"));
    await publisher.publish({ layers, origin });
    const again = await start(store);
    expect(again.missing).toEqual(["s,t"]);
    expect(again.inForce).toEqual(["+base a="]);
    const changed = base(cluster("a"), resource(SECRET, "s", "key"), resource(SECRET, "t", "other"));
    await again.publisher.publish({ layers: changed, origin });
    expect(again.missing).toEqual(["s,t", ""]);
    expect(again.inForce.slice(1)).toEqual(["+base t=other +base s=key"]);
    expect(again.recorded).toEqual(["resumed 1 1 2", "2 live 1"]);
    const bodies = await Promise.all((await recordsOf(store)).map((one) => JSON.stringify(one)));
    expect(bodies.join()).not.toContain(Buffer.from("key").toString("base64"));
  });

  test("knows that the numbers before are its first revision", async () => {
    const { publisher, store } = await start();
    await publisher.publish({ layers: base(cluster("a")), origin });
    await publisher.publish({ layers: base(cluster("b")), origin });
    expect([1, 2, 3].map((number) => publisher.revisionOf(number))).toEqual([1, 2, undefined]);
    expect([0, 1, 2, 9].map((revision) => publisher.numberOf(revision))).toEqual([0, 1, 2, 2]);
    const again = await start(store);
    await again.publisher.publish({ layers: base(cluster("c")), origin });
    expect([1, 2, 3, 4].map((number) => again.publisher.revisionOf(number))).toEqual([1, 1, 2, undefined]);
    expect([1, 2].map((revision) => again.publisher.numberOf(revision))).toEqual([2, 3]);
  });
});

test("a revision is known by the change that led to it, not by what was held or rejected meanwhile", async () => {
  const { publisher, store } = await start();
  const many = Array.from({ length: 20 }, (_, index) => cluster(`c${index}`));
  await publisher.publish({ layers: base(...many), origin });
  await publisher.publish({ layers: base(), origin });
  await publisher.reject(2);
  await publisher.publish({ layers: base(...many, resource(ENDPOINTS, "e"), cluster("more")), origin });
  expect([publisher.number, publisher.revisionOf(5)]).toEqual([5, 2]);
  expect([0, 1, 2, 3].map((revision) => publisher.changeOf(revision))).toEqual([0, 1, 5, 5]);
  expect([1, 2].map((revision) => publisher.numberOf(revision))).toEqual([3, 5]);
  const again = await start(store);
  expect([1, 2].map((revision) => again.publisher.changeOf(revision))).toEqual([5, 5]);
});

test("a plan is what the decision then does", async () => {
  const { publisher } = await start();
  const many = Array.from({ length: 20 }, (_, index) => cluster(`c${index}`));
  await publisher.publish({ layers: base(...many), origin });
  await publisher.publish({ layers: base(cluster("c0")), origin });
  const planned = await publisher.planDecision("approve", 2);
  const edge = { connected: 2, affected: [{ id: "edge", becomes: "resources" }] };
  expect(planned).toMatchObject({ result: "applied", isPlaced: false, nodes: edge });
  expect(planned.trips).toEqual(publisher.held?.trips);
  expect([publisher.number, publisher.held?.number]).toEqual([2, 2]);
  await publisher.approve(2);
  const back = await publisher.planDecision("rollback", 1);
  expect(back).toMatchObject({ result: "applied", irretrievable: [], trips: [], nodes: edge });
  await publisher.rollback(1);
  expect(await publisher.history.difference(3, 4)).toEqual(back.changes);
  const none = { changes: [], nodes: { connected: 2, affected: [] } };
  expect(await publisher.planDecision("rollback", 9)).toMatchObject({ result: "refused", ...none });
  expect(await publisher.planDecision("rollback", 4)).toMatchObject({ result: "unchanged", ...none });
});

describe("a change that trips a fuse", () => {
  const many = Array.from({ length: 30 }, (_, index) => cluster(`c${index}`));

  test("is held: nothing of it comes in force but live data, and not what is deleted there", async () => {
    const { publisher, inForce, recorded } = await start();
    const [endpoints, more] = [resource(ENDPOINTS, "c0", "1"), resource(ENDPOINTS, "c1", "1")];
    await publisher.publish({ layers: base(...many, endpoints, more), origin });
    const result = await publisher.publish({ layers: base(resource(ENDPOINTS, "c0", "2")), origin });
    expect(result).toEqual({
      ...{ kind: "held", number: 3 },
      trips: [
        {
          ...{ fuse: "resources-removed", layer: "base", type: CLUSTER },
          message: "30 of 30 Cluster resources would be gone from layer base",
        },
      ],
    });
    expect(inForce.slice(1)).toEqual(["+base c0=2"]);
    expect(recorded).toEqual(["1 revision 32", "2 live 1", "3 held 30"]);
    expect(publisher.held?.number).toBe(3);
  });

  test("is held once, and is dropped when the source has again what is in force", async () => {
    const { publisher, inForce, recorded } = await start();
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(), origin });
    expect(await publisher.publish({ layers: base(), origin })).toMatchObject({ kind: "held", number: 2 });
    expect(await publisher.publish({ layers: base(...many), origin })).toMatchObject({ kind: "unchanged", number: 3 });
    expect([inForce.length, recorded, publisher.held]).toEqual([
      ...[1, ["1 revision 30", "2 held 30", "3 withdrawn 0"], undefined],
    ]);
  });

  test("comes in force when it is approved, also after a restart", async () => {
    const { publisher, store } = await start();
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(cluster("c0", "2")), origin });
    const again = await start(store);
    expect(await again.publisher.approve(1)).toEqual({ kind: "refused", reason: "1 is not held; 2 is" });
    expect(await again.publisher.approve(2, { author: "ann" })).toMatchObject({ kind: "applied", number: 3 });
    expect(again.inForce[1]?.slice(0, 20)).toBe("+base c0=2 -base c1 ");
    expect(again.publisher.held).toBeUndefined();
    expect(await again.publisher.publish({ layers: base(cluster("c0", "2")), origin })).toMatchObject({
      ...{ kind: "unchanged", number: 3 },
    });
  });

  test("goes on waiting after a restart, also if it would trip nothing now", async () => {
    const { publisher, store } = await start();
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(many[0] as Resource), origin });
    const again = await start(store, tripNothing);
    expect(await again.publisher.publish({ layers: base(many[0] as Resource), origin })).toMatchObject({
      ...{ kind: "held", number: 2, trips: [{ fuse: "resources-removed" }] },
    });
    const edited = await again.publisher.publish({ layers: base(cluster("c0", "2")), origin });
    expect(edited).toMatchObject({ kind: "applied", number: 3 });
  });

  test("of a placement goes on waiting in whatever comes with it, also if fewer nodes are connected", async () => {
    const moved = { fuse: "nodes-moved", message: "9 of 9 connected nodes would get other layers" };
    const placement = { groups: [{ name: "edge", match: { id: ["edge-*"] } }], clients: [], access: undefined };
    let trips = [moved];
    // biome-ignore lint/correctness/useYield: there is nothing to look at
    const { publisher } = await start(undefined, function* () {
      return trips;
    });
    expect(await publisher.publish({ layers: base(cluster("a")), placement, origin })).toMatchObject({ kind: "held" });
    trips = [];
    const edited = { layers: base(cluster("a"), cluster("b")), origin };
    expect(await publisher.publish({ ...edited, placement })).toEqual({ kind: "held", number: 2, trips: [moved] });
    expect(await publisher.publish(edited)).toMatchObject({ kind: "applied", number: 3 });
  });

  test("is dropped when its deletions are back, also together with new live data, and not by another writer", async () => {
    const { publisher, recorded } = await start();
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(), origin });
    await publisher.publish({ layers: new Map([["other", []]]), origin: { writer: "other" } });
    expect(publisher.held?.number).toBe(2);
    await publisher.publish({ layers: base(...many, resource(ENDPOINTS, "c0")), origin });
    expect([recorded, publisher.held]).toEqual([
      ["1 revision 30", "2 held 30", "3 live 1", "4 withdrawn 0"],
      undefined,
    ]);
  });

  test("is gone when it is rejected", async () => {
    const { publisher, inForce } = await start();
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(), origin });
    expect(await publisher.reject(2)).toMatchObject({ kind: "applied", number: 3 });
    expect([inForce.length, publisher.held]).toEqual([1, undefined]);
  });

  test("stays rejected as long as the source has the same, also after a restart that would trip nothing", async () => {
    const { publisher, store, inForce, recorded } = await start();
    const few = base(many[0] as Resource, resource(ENDPOINTS, "c0"));
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: few, origin });
    await publisher.reject(3);
    expect(await publisher.publish({ layers: few, origin })).toEqual({ kind: "rejected", by: 4 });
    const again = await start(await MemoryLedgerStore.after(store), tripNothing);
    expect((await again.publisher.plan({ layers: few, origin })).result).toBe("rejected");
    expect(await again.publisher.publish({ layers: few, origin })).toEqual({ kind: "rejected", by: 4 });
    expect([inForce.length, recorded.length, again.inForce.length, again.recorded]).toEqual([
      ...[2, 4, 1, ["resumed 4 31 0"]],
    ]);
    expect(await again.publisher.publish({ layers: base(cluster("c0", "2")), origin })).toMatchObject({
      ...{ kind: "applied", number: 6 },
    });
    expect(await again.publisher.publish({ layers: few, origin })).toMatchObject({ kind: "applied" });
  });
});

test("the first load is one record, with its live data", async () => {
  const { publisher, recorded, store } = await start();
  const first = { layers: base(cluster("a"), resource(ENDPOINTS, "a")), origin };
  expect(await publisher.publish(first)).toEqual({ kind: "applied", number: 1, revision: 1 });
  await publisher.publish({ layers: base(cluster("a", "2"), resource(ENDPOINTS, "a", "2")), origin });
  expect(recorded).toEqual(["1 revision 2", "2 live 1", "3 revision 1"]);
  expect(await publisher.rollback(1)).toMatchObject({ kind: "applied", number: 4 });
  expect((await recordsOf(store)).at(-1)).toMatchObject({ changes: [{ type: CLUSTER }] });
});

describe("a rollback", () => {
  test("goes to no number of live data, and not to 0", async () => {
    const { publisher } = await start();
    expect(await publisher.rollback(0)).toEqual({ kind: "refused", reason: "nothing was in force at 0" });
    await publisher.publish({ layers: base(cluster("a")), origin });
    await publisher.publish({ layers: base(cluster("a", "2"), resource(ENDPOINTS, "a")), origin });
    expect(await publisher.rollback(0)).toEqual({ kind: "refused", reason: "nothing was in force at 0: use 1" });
    expect(await publisher.rollback(2)).toEqual({
      ...{ kind: "refused", reason: "2 is of live data, which a rollback leaves as it is: use 1 or 3" },
    });
    expect((await publisher.planDecision("rollback", 2)).result).toBe("refused");
  });

  test("that a fuse would hold is refused unless it is forced", async () => {
    const { publisher, inForce } = await start();
    const many = Array.from({ length: 30 }, (_, index) => cluster(`c${index}`));
    await publisher.publish({ layers: base(cluster("a")), origin });
    await publisher.publish({ layers: base(cluster("a"), ...many), origin });
    const reason = "a fuse stops this rollback: 30 of 31 Cluster resources would be gone from layer base";
    expect(await publisher.planDecision("rollback", 1)).toMatchObject({ result: "refused", reason });
    expect(await publisher.rollback(1)).toMatchObject({ kind: "refused", reason, trips: [{ layer: "base" }] });
    expect(inForce.length).toBe(2);
    expect(await publisher.rollback(1, { isForced: true })).toMatchObject({ kind: "applied", number: 3 });
  });

  test("brings back what was, and an unrelated change does not undo it", async () => {
    const { publisher, inForce } = await start();
    const [good, bad] = [cluster("a", "good"), cluster("a", "bad")];
    await publisher.publish({ layers: base(good), origin });
    await publisher.publish({ layers: base(bad), origin });
    expect(await publisher.rollback(1, { author: "ann" })).toMatchObject({ kind: "applied", number: 3 });
    expect(inForce.slice(1)).toEqual(["+base a=bad", "+base a=good"]);
    expect(await publisher.publish({ layers: base(bad, cluster("b")), origin })).toMatchObject({
      ...{ kind: "held", trips: [{ fuse: "pinned" }] },
    });
    const mended = await publisher.publish({ layers: base(cluster("a", "mended"), cluster("b")), origin });
    expect(mended).toMatchObject({ kind: "applied", number: 5 });
  });

  test("names what it cannot bring back, because it holds a secret", async () => {
    const { publisher, inForce } = await start();
    await publisher.publish({ layers: base(cluster("a", "a key"), cluster("b")), origin });
    await publisher.publish({ layers: base(cluster("a", "2"), cluster("b", "2")), origin });
    expect(await publisher.rollback(1)).toEqual({
      ...{ kind: "applied", number: 3, revision: 3 },
      irretrievable: [{ layer: "base", type: CLUSTER, name: "a" }],
    });
    expect(inForce.at(-1)).toBe("+base b=");
    expect(await publisher.rollback(1)).toEqual({
      ...{ kind: "refused", reason: "1 had only what holds a secret, which is not kept" },
    });
  });

  describe("brings the endpoints back that its clusters refer to", () => {
    const using = (name: string, text: string, ...endpoints: readonly string[]): Resource => ({
      ...cluster(name, text),
      references: endpoints.map((one) => ({ type: ENDPOINTS, name: one })),
    });
    const [old, next] = [using("a", "old", "one"), using("a", "next", "two")];
    const [one, two] = [resource(ENDPOINTS, "one", "1"), resource(ENDPOINTS, "two", "2")];

    test("and that were deleted since, also after a restart from a snapshot", async () => {
      const { publisher, store } = await start();
      await publisher.publish({ layers: base(old, one, resource(ENDPOINTS, "unused")), origin });
      await publisher.publish({ layers: base(next, two), origin });
      await compact(store);
      const again = await start(store);
      expect(await again.publisher.planDecision("rollback", 1)).toMatchObject({ result: "applied", trips: [] });
      expect(await again.publisher.rollback(1)).toEqual({ kind: "applied", number: 4, revision: 2 });
      expect(again.inForce.at(-1)).toBe("+base a=old +base one=1");
      expect(await again.publisher.publish({ layers: base(next, two), origin })).toMatchObject({ kind: "held" });
      expect(again.publisher.waiting).toEqual([{ layer: "base", type: ENDPOINTS, name: "one" }]);
    });

    test("unless they have a successor in their layer or in base", async () => {
      const { publisher, inForce } = await start();
      const layers = (...own: readonly Resource[]) => new Map([...base(one), ["group/x", own]]);
      await publisher.publish({ layers: layers(old, one), origin });
      await publisher.publish({ layers: layers(next), origin });
      await publisher.rollback(1);
      expect(inForce.at(-1)).toBe("+group/x a=old");
    });

    test("and names those that hold a secret", async () => {
      const { publisher, inForce } = await start();
      await publisher.publish({ layers: base(old, resource(ENDPOINTS, "one", "a key")), origin });
      await publisher.publish({ layers: base(next, two), origin });
      expect(await publisher.rollback(1)).toEqual({
        ...{ kind: "applied", number: 4, revision: 3 },
        irretrievable: [{ layer: "base", type: ENDPOINTS, name: "one" }],
      });
      expect(inForce.at(-1)).toBe("+base a=old");
    });
  });

  test("to what is not there is refused", async () => {
    const { publisher } = await start();
    expect(await publisher.rollback(7)).toMatchObject({ kind: "refused" });
  });
});

describe("the first publication of a source after a start", () => {
  test("is held if it is what was published before the newest, until it changes or is approved", async () => {
    const { publisher, store } = await start();
    await publisher.publish({ layers: base(cluster("a", "1")), origin });
    await publisher.publish({ layers: base(cluster("a", "2")), origin });
    const again = await start(store);
    expect(await again.publisher.publish({ layers: base(cluster("a", "1")), origin })).toMatchObject({
      ...{ kind: "held", number: 3, trips: [{ fuse: "stale-source" }] },
    });
    const edited = await again.publisher.publish({ layers: base(cluster("a", "3")), origin });
    expect(edited).toMatchObject({ kind: "applied", number: 4 });
    expect(again.inForce).toEqual(["+base a=2", "+base a=3"]);
  });

  test("is held until it is rejected, also if what came after it was approved", async () => {
    const { publisher, store } = await start();
    const many = Array.from({ length: 30 }, (_, index) => cluster(`c${index}`));
    await publisher.publish({ layers: base(...many), origin });
    await publisher.publish({ layers: base(), origin });
    await publisher.approve(2);
    const again = await start(store);
    const stale = { kind: "held", number: 4, trips: [{ fuse: "stale-source" }] };
    for (let time = 0; time < 2; time++)
      expect(await again.publisher.publish({ layers: base(...many), origin })).toMatchObject(stale);
    await again.publisher.reject(4);
    expect(await again.publisher.publish({ layers: base(...many), origin })).toEqual({ kind: "rejected", by: 5 });
  });
});
