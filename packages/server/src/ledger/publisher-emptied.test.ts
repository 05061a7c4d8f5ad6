import { LedgerState } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  base,
  cluster,
  compact,
  ENDPOINTS,
  origin,
  resource,
  start,
  tripNothing,
} from "../../test/ledger/support/publishing.ts";
import { MemoryLedgerStore } from "./memory-store.ts";
import type { Publisher, PublisherOptions } from "./publisher.ts";
import { bodiesIn } from "./retention.ts";

const MINUTE = 60_000;
const START = 1_750_000_000_000;
const endpoints = (name: string, text: string) => resource(ENDPOINTS, name, text);
const none = (name: string) => endpoints(name, "none");
const kindsOf = async (publisher: Publisher): Promise<readonly string[]> =>
  (await publisher.history.newest({ before: 100, limit: 100 }))
    .map(({ number, kind }) => `${number} ${kind}`)
    .reverse();
const heldBack = ({ emptied }: Publisher): readonly string[] =>
  emptied.map(({ layer, name, number, until }) => `${layer} ${name} by ${number} for ${left(until)} min`);
const left = (until: Date): number => (until.getTime() - Date.now()) / MINUTE;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: START }));
afterEach(() => vi.useRealTimers());

/** A publisher that holds emptied endpoints back for ten minutes; two clusters have endpoints. */
async function startWithEndpoints(more: Partial<PublisherOptions> = {}, store = new MemoryLedgerStore()) {
  const { judge = tripNothing, ...others } = more;
  const started = await start(store, judge, { endpointsEmptiedMs: 10 * MINUTE, ...others });
  const layers = base(cluster("a"), endpoints("a", "1"), endpoints("b", "1"));
  await started.publisher.publish({ layers, origin });
  started.inForce.length = 0;
  return started;
}

describe("endpoints that become empty", () => {
  test("are held back each by itself, and are in force after ten minutes", async () => {
    const { publisher, inForce } = await startWithEndpoints();
    const layers = base(cluster("a", "2"), none("a"), endpoints("b", "2"), none("new"));
    expect(await publisher.publish({ layers, origin })).toEqual({
      ...{ kind: "applied", number: 4, revision: 2 },
      emptied: [{ layer: "base", type: ENDPOINTS, name: "a" }],
    });
    expect(await kindsOf(publisher)).toEqual(["1 revision", "2 live", "3 emptied", "4 revision"]);
    expect(inForce).toEqual(["+base b=2 +base new=none +base a=2"]);
    expect(heldBack(publisher)).toEqual(["base a by 3 for 10 min"]);
    expect(await publisher.publish({ layers, origin })).toMatchObject({ kind: "unchanged", number: 4 });
    await vi.advanceTimersByTimeAsync(10 * MINUTE - 1);
    expect(inForce).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await vi.waitFor(() => expect(inForce.slice(1)).toEqual(["+base a=none"]));
    expect([heldBack(publisher), (await kindsOf(publisher)).at(-1)]).toEqual([[], "5 live"]);
    expect(await publisher.publish({ layers, origin })).toMatchObject({ kind: "unchanged", number: 5 });
  });

  test("leave no timer behind when the publisher is closed in that moment", async () => {
    const { publisher } = await startWithEndpoints();
    const published = publisher.publish({ layers: base(cluster("a"), none("a"), endpoints("b", "1")), origin });
    await publisher.close();
    expect(await published).toMatchObject({ kind: "unchanged", emptied: [{ name: "a" }] });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("are held back no longer once endpoints come back, and anew when these go", async () => {
    const { publisher, inForce } = await startWithEndpoints();
    const full = base(cluster("a"), endpoints("a", "1"), endpoints("b", "1"));
    const emptied = base(cluster("a"), none("a"), endpoints("b", "1"));
    await publisher.publish({ layers: emptied, origin });
    await vi.advanceTimersByTimeAsync(9 * MINUTE);
    expect(await publisher.publish({ layers: full, origin })).toMatchObject({ kind: "unchanged" });
    expect(heldBack(publisher)).toEqual([]);
    await publisher.publish({ layers: emptied, origin });
    expect(heldBack(publisher)).toEqual(["base a by 4 for 10 min"]);
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    await publisher.publish({ layers: base(cluster("a"), none("a"), none("b")), origin });
    expect(heldBack(publisher)).toEqual(["base a by 5 for 5 min", "base b by 5 for 10 min"]);
    await publisher.publish({ changes: [{ layer: "base", puts: [endpoints("a", "2")] }], origin });
    expect([heldBack(publisher), inForce]).toEqual([["base b by 5 for 10 min"], ["+base a=2"]]);
    await publisher.publish({ changes: [{ layer: "base", puts: [endpoints("b", "1")] }], origin });
    expect(heldBack(publisher)).toEqual([]);
  });

  test("are in force once a person approves them, for a quarter of an hour in any publication", async () => {
    const { publisher, inForce } = await startWithEndpoints();
    const emptied = base(cluster("a"), none("a"), endpoints("b", "1"));
    await publisher.publish({ layers: emptied, origin });
    expect(await publisher.planDecision("approve", 2)).toMatchObject({
      ...{ result: "applied", trips: [{ fuse: "endpoints-emptied" }] },
    });
    expect(await publisher.approve(3)).toMatchObject({ kind: "refused", reason: "3 is not held; nothing is" });
    expect(await publisher.approve(2, { author: "ann" })).toMatchObject({ kind: "applied", number: 3 });
    expect([inForce, heldBack(publisher)]).toEqual([["+base a=none"], []]);
    expect(await publisher.publish({ layers: emptied, origin })).toMatchObject({ kind: "unchanged", number: 3 });
    await publisher.publish({ layers: base(cluster("a"), endpoints("a", "2"), endpoints("b", "1")), origin });
    await publisher.publish({ layers: emptied, origin });
    expect(inForce.slice(1)).toEqual(["+base a=2", "+base a=none"]);
    expect(await publisher.rollback(1)).toMatchObject({ kind: "unchanged" });
  });

  test("go on waiting after a restart, with the time that is left, without their source", async () => {
    const store = new MemoryLedgerStore();
    const first = await startWithEndpoints({}, store);
    await first.publisher.publish({ layers: base(cluster("a"), none("a"), endpoints("b", "1")), origin });
    await vi.advanceTimersByTimeAsync(6 * MINUTE);
    const kept = await MemoryLedgerStore.after(store);
    await first.publisher.close();
    await compact(kept);
    const second = await start(kept, tripNothing, { endpointsEmptiedMs: 10 * MINUTE });
    expect(heldBack(second.publisher)).toEqual(["base a by 2 for 4 min"]);
    expect(second.inForce).toEqual(["+base a= +base a=1 +base b=1"]);
    await second.publisher.publish({ layers: base(cluster("a"), none("a"), endpoints("b", "2")), origin });
    expect([second.inForce.slice(1), heldBack(second.publisher)]).toEqual([["+base b=2"], ["base a by 2 for 4 min"]]);
    await vi.advanceTimersByTimeAsync(4 * MINUTE);
    await vi.waitFor(() => expect(second.inForce.slice(2)).toEqual(["+base a=none"]));
  });

  test("are put in force by the process that may publish only, also if it does so late", async () => {
    let mayPublish = true;
    const { publisher, inForce } = await startWithEndpoints({ mayPublish: () => mayPublish });
    await publisher.publish({ layers: base(cluster("a"), none("a"), endpoints("b", "1")), origin });
    mayPublish = false;
    await vi.advanceTimersByTimeAsync(20 * MINUTE);
    expect([inForce, heldBack(publisher)]).toEqual([[], ["base a by 2 for -10 min"]]);
    mayPublish = true;
    await vi.advanceTimersByTimeAsync(MINUTE);
    await vi.waitFor(() => expect(inForce).toEqual(["+base a=none"]));
  });

  test("are not held back if they go with what refers to them, or were not there", async () => {
    const { publisher, inForce } = await startWithEndpoints();
    await publisher.publish({ layers: base(endpoints("b", "1"), none("c")), origin });
    expect([inForce, heldBack(publisher)]).toEqual([["+base c=none -base a -base a"], []]);
    await publisher.publish({ layers: base(endpoints("b", "1")), origin });
    expect(heldBack(publisher)).toEqual([]);
  });

  test("are told by a plan, with what else would be in force", async () => {
    const { publisher } = await startWithEndpoints();
    const trip = {
      ...{ fuse: "endpoints-emptied", layer: "base", type: ENDPOINTS },
      message: "ClusterLoadAssignment a of layer base would lose all endpoints; held back for up to 10 min",
    };
    const plan = (layers: ReturnType<typeof base>) => publisher.plan({ layers, origin });
    expect(await plan(base(cluster("a"), none("a"), endpoints("b", "1")))).toMatchObject({
      ...{ result: "held", trips: [trip] },
    });
    expect(await plan(base(cluster("a"), none("a"), endpoints("b", "2")))).toMatchObject({
      ...{ result: "applied", trips: [trip] },
    });
  });

  test("flow at once if the fuse is off", async () => {
    const { publisher, inForce } = await startWithEndpoints({ endpointsEmptiedMs: "off" });
    await publisher.publish({ layers: base(cluster("a"), none("a"), endpoints("b", "1")), origin });
    expect([inForce, heldBack(publisher)]).toEqual([["+base a=none"], []]);
  });

  test("wait beside a change that a fuse holds, while other live data flows", async () => {
    let trips: { readonly fuse: string; readonly message: string }[] = [];
    const { publisher, inForce } = await startWithEndpoints({
      // biome-ignore lint/correctness/useYield: there is nothing to look at
      judge: function* () {
        return trips;
      },
    });
    trips = [{ fuse: "no-listeners", message: "no" }];
    const layers = base(cluster("a", "2"), none("a"), endpoints("b", "2"));
    expect(await publisher.publish({ layers, origin })).toMatchObject({ kind: "held", number: 4 });
    expect([inForce, heldBack(publisher)]).toEqual([["+base b=2"], ["base a by 3 for 10 min"]]);
    await publisher.reject(4);
    expect(await publisher.publish({ layers, origin })).toMatchObject({ kind: "rejected" });
    expect([inForce, heldBack(publisher)]).toEqual([["+base b=2"], ["base a by 3 for 10 min"]]);
  });
});

test("the bodies of endpoints that are held back are kept as long as they are", () => {
  const state = LedgerState.empty();
  const entry = (body: string) => ({ version: body, body, size: 1 });
  const place = { layer: "base", type: ENDPOINTS, name: "a" };
  const change = { ...place, before: entry("full"), after: { ...entry("empty"), isEmpty: true as const } };
  state.apply({
    kind: "live",
    number: 1,
    time: 1,
    origin,
    changes: [{ ...place, before: undefined, after: entry("full") }],
  });
  state.apply({ kind: "emptied", number: 2, time: 2, origin, changes: [change] });
  expect([...new Set(bodiesIn(state.toSnapshot()))].sort()).toEqual(["empty", "full"]);
  state.apply({ kind: "emptied", number: 3, time: 3, origin, changes: [] });
  expect([...bodiesIn(state.toSnapshot())]).toEqual(["full"]);
});
