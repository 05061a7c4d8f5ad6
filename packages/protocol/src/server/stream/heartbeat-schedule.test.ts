import { describe, expect, test } from "vitest";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS } from "../../../test/support/resources.ts";
import type { ServerEffect } from "../contract/effect.ts";
import { HeartbeatSchedule } from "./heartbeat-schedule.ts";

const clusters = { view: viewOf(new WrittenLayer("base")), type: CLUSTER };
const endpoints = { ...clusters, type: ENDPOINTS };
const elsewhere = { ...clusters, view: viewOf(new WrittenLayer("other")) };

function started(): {
  readonly schedule: HeartbeatSchedule;
  readonly keep: (what: typeof clusters, ms: number) => unknown;
} {
  let timers = 0;
  const schedule = new HeartbeatSchedule(() => ++timers);
  const keep = (what: typeof clusters, ms: number): unknown => {
    const effects: ServerEffect[] = [];
    return [schedule.keep(what, ms, effects), ...effects];
  };
  return { schedule, keep };
}

const start = (timer: number, ms: number): ServerEffect => ({ kind: "start-timer", timer, ms });

describe("S-TTL-14: a heartbeat", () => {
  test("has one timer for each view and type", () => {
    const { keep } = started();
    expect(keep(clusters, 10)).toEqual([false, start(1, 10)]);
    expect(keep(endpoints, 10)).toEqual([false, start(2, 10)]);
    expect(keep(elsewhere, 10)).toEqual([false, start(3, 10)]);
    expect([keep(clusters, 10), keep(clusters, 11), keep(endpoints, 20)]).toEqual([[false], [false], [false]]);
  });

  test("is due at once when it is needed sooner: how long the longer timer had run is unknown", () => {
    const { schedule, keep } = started();
    keep(clusters, 10);
    expect(keep(clusters, 9)).toEqual([true, { kind: "cancel-timer", timer: 1 }, start(2, 9)]);
    expect([schedule.fired(1), schedule.fired(2)]).toMatchObject([undefined, clusters]);
  });

  test("is started again only when a client needs it", () => {
    const { schedule, keep } = started();
    keep(clusters, 10);
    keep(endpoints, 10);
    expect(schedule.fired(1)).toMatchObject(clusters);
    expect(schedule.fired(1)).toBeUndefined();
    expect(keep(clusters, 20)).toEqual([false, start(3, 20)]);
    expect(keep(endpoints, 20)).toEqual([false]);
  });
});
