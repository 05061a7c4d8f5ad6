import type { Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import {
  base,
  CLUSTER,
  cluster,
  compact,
  ENDPOINTS,
  origin,
  resource,
  start,
} from "../../test/ledger/support/publishing.ts";

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
