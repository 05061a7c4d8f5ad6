import { describe, expect, test } from "vitest";
import {
  base,
  CLUSTER,
  cluster,
  ENDPOINTS,
  origin,
  recordsOf,
  resource,
  SECRET,
  start,
} from "../../test/ledger/support/publishing.ts";
import { MemoryLedgerStore } from "./memory-store.ts";
import type { Publisher } from "./publisher.ts";
import type { Appended, LedgerHead, LedgerStore } from "./store.ts";

/** A store that lets appends through one at a time, or refuses them. */
class GatedStore extends MemoryLedgerStore {
  readonly sizes: number[] = [];
  refusal: string | undefined;
  /** Appends reject, before or after they took effect. */
  rejects: "before" | "after" | undefined;
  isUnreadable = false;

  override snapshot(): ReturnType<LedgerStore["snapshot"]> {
    return this.isUnreadable ? Promise.reject(new Error("input/output error")) : super.snapshot();
  }

  override async append(expected: LedgerHead, appended: Appended): ReturnType<LedgerStore["append"]> {
    this.sizes.push(appended.records.length);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.refusal !== undefined) return { kind: "unavailable", reason: this.refusal };
    if (this.rejects === "before") throw new Error("input/output error");
    const result = await super.append(expected, appended);
    if (this.rejects === "after") throw new Error("input/output error");
    return result;
  }
}

describe("a store whose append rejects", () => {
  const publish = (publisher: Publisher, name: string) =>
    publisher.publish({ changes: [{ layer: "base", puts: [cluster(name)] }], origin });
  const refused = { kind: "refused", reason: "the store of the ledger failed: input/output error" };

  test("refuses the change, says so, and takes the next one upon what it has", async () => {
    const store = new GatedStore();
    const { publisher, inForce, problems } = await start(store);
    store.rejects = "before";
    expect(await publish(publisher, "a")).toEqual(refused);
    store.rejects = undefined;
    expect(await publish(publisher, "b")).toEqual({ kind: "applied", number: 1, revision: 1 });
    expect(inForce).toEqual(["+base b="]);
    expect(problems).toEqual([refused.reason]);
  });

  test("puts in force what it recorded nevertheless", async () => {
    const store = new GatedStore();
    const { publisher, inForce, problems } = await start(store);
    store.rejects = "after";
    expect(await publish(publisher, "a")).toEqual(refused);
    store.rejects = undefined;
    expect(await publish(publisher, "a")).toEqual({ kind: "unchanged", number: 1, revision: 1 });
    expect(await publish(publisher, "b")).toEqual({ kind: "applied", number: 2, revision: 2 });
    expect(inForce).toEqual(["+base a=", "+base b="]);
    expect(problems).toEqual([refused.reason]);
  });
});

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

  const live = (publisher: Publisher, name: string, text: string) =>
    publisher.publish({ changes: [{ layer: "base", puts: [resource(ENDPOINTS, name, text)] }], origin });

  test("are one commit if they change live data, with the newest of each name", async () => {
    const { publisher, inForce, recorded } = await start();
    const changes = [{ layer: "base", puts: [cluster("a")] }];
    const results = await Promise.all([
      ...[live(publisher, "a", "1"), live(publisher, "b", "1"), live(publisher, "a", "2")],
      ...[publisher.publish({ changes, origin }), live(publisher, "a", "3")],
    ]);
    expect(results.map((one) => "revision" in one && `${one.number} by ${one.revision}`)).toEqual([
      ...["1 by 1", "2 by 1", "3 by 1", "4 by 2", "5 by 3"],
    ]);
    expect(inForce).toEqual(["+base a=2 +base b=1", "+base a=", "+base a=3"]);
    expect(recorded).toEqual(["1 live 1", "2 live 1", "3 live 1", "4 revision 1", "5 live 1"]);
    expect([1, 2, 3].map((revision) => publisher.numberOf(revision))).toEqual([3, 4, 5]);
    expect([1, 2, 3].map((revision) => publisher.changeOf(revision))).toEqual([3, 4, 5]);
    expect([1, 2, 3].map((revision) => publisher.stableChangeOf(revision))).toEqual([undefined, 4, 4]);
  });

  test("do not keep each other back if one of them cannot be put in force", async () => {
    const { publisher, inForce, problems } = await start();
    const results = await Promise.allSettled(["1", "unfit", "3"].map((text) => live(publisher, text, text)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(inForce).toEqual(["+base 1=1", "+base 3=3"]);
    expect(problems).toEqual(["what is recorded cannot be put in force: it does not fit"]);
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
    expect(again.missing).toEqual(["+s,+t"]);
    expect(again.inForce).toEqual(["+base a="]);
    const changed = base(cluster("a"), resource(SECRET, "s", "key"), resource(SECRET, "t", "other"));
    await again.publisher.publish({ layers: changed, origin });
    expect(again.missing).toEqual(["+s,+t", "-t,-s"]);
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

test("the first load is one record, with its live data", async () => {
  const { publisher, recorded, store } = await start();
  const first = { layers: base(cluster("a"), resource(ENDPOINTS, "a")), origin };
  expect(await publisher.publish(first)).toEqual({ kind: "applied", number: 1, revision: 1 });
  await publisher.publish({ layers: base(cluster("a", "2"), resource(ENDPOINTS, "a", "2")), origin });
  expect(recorded).toEqual(["1 revision 2", "2 live 1", "3 revision 1"]);
  expect(await publisher.rollback(1)).toMatchObject({ kind: "applied", number: 4 });
  expect((await recordsOf(store)).at(-1)).toMatchObject({ changes: [{ type: CLUSTER }] });
});
