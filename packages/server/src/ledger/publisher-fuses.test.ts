import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import {
  base,
  CLUSTER,
  cluster,
  ENDPOINTS,
  origin,
  resource,
  start,
  tripNothing,
} from "../../test/ledger/support/publishing.ts";
import { MemoryLedgerStore } from "./memory-store.ts";

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
