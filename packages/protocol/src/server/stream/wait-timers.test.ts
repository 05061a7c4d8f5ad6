import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER, ROUTE } from "../../../test/support/resources.ts";
import { typeStream } from "../../../test/support/type-streams.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { WaitingType } from "../order/stream-waits.ts";
import type { TypeStream } from "../type/type-stream.ts";
import { type WaitingStream, WaitTimers } from "./wait-timers.ts";

let clusters: TypeStream;
let routes: TypeStream;

beforeEach(() => {
  [clusters, routes] = [typeStream(CLUSTER), typeStream(ROUTE)];
});

const start = (timer: number, ms: number): ServerEffect => ({ kind: "start-timer", timer, ms });
const cancel = (timer: number): ServerEffect => ({ kind: "cancel-timer", timer });
const wait = (type: TypeStream, what: WaitingType["what"], limitMs: number): WaitingType => ({
  type,
  what,
  limitMs,
});

/** A stream that waits for what the test says. */
class Waiter implements WaitingStream {
  isSettled = false;
  /** How often it was asked. */
  asked = 0;
  all: readonly WaitingType[];

  constructor(...all: readonly WaitingType[]) {
    this.all = all;
  }

  waiting(): readonly WaitingType[] {
    this.asked++;
    return this.all;
  }
}

function timersFrom1(): WaitTimers<Waiter> {
  let last = 0;
  return new WaitTimers(() => ++last);
}

describe("S-ORD-06: everything that a stream waits for", () => {
  test("has a timer of its own, from when it began until it ends", () => {
    const timers = timersFrom1();
    const [ack, order] = [wait(clusters, "ack", 10), wait(clusters, "order", 20)];
    const stream = new Waiter(ack, order);
    expect([timers.update(stream, 5), timers.update(stream, 6)]).toEqual([[start(1, 10), start(2, 20)], []]);
    stream.all = [wait(routes, "order", 20), order];
    expect(timers.update(stream, 7)).toEqual([cancel(1), start(3, 20)]);
    expect([timers.fired(1), timers.fired(2), timers.fired(2)]).toEqual([
      undefined,
      { stream, waiting: order, since: 5 },
      undefined,
    ]);
    expect(timers.update(stream, 8)).toEqual([start(4, 20)]);
    stream.all = [];
    expect([timers.update(stream, 9), timers.update(stream, 10)]).toEqual([[cancel(3), cancel(4)], []]);
  });

  test("with another limit is another wait", () => {
    const timers = timersFrom1();
    const stream = new Waiter(wait(clusters, "order", 10));
    timers.update(stream, 1);
    stream.all = [wait(clusters, "order", 20)];
    expect(timers.update(stream, 2)).toEqual([cancel(1), start(2, 20)]);
  });

  test("is timed for each stream apart; one that is settled and has no timers is not asked", () => {
    const timers = timersFrom1();
    const [one, other] = [new Waiter(wait(clusters, "ack", 10)), new Waiter(wait(clusters, "ack", 10))];
    expect([timers.update(one, 1), timers.update(other, 2)]).toEqual([[start(1, 10)], [start(2, 10)]]);
    expect([timers.forget(one), timers.forget(one), timers.fired(1), timers.fired(2)?.stream === other]).toEqual([
      [cancel(1)],
      [],
      undefined,
      true,
    ]);
    for (const settled of [one, other]) settled.isSettled = true;
    other.all = [];
    timers.update(other, 3);
    const before = [one.asked, other.asked];
    expect([timers.update(one, 4), timers.update(other, 4), timers.cancelEnded(other)]).toEqual([[], [], []]);
    expect([one.asked, other.asked]).toEqual(before);
  });

  test("loses its timer as soon as it ends, and what begins anew gets one in the next flush", () => {
    const timers = timersFrom1();
    const stream = new Waiter(wait(clusters, "ack", 10), wait(routes, "ack", 10));
    expect(timers.cancelEnded(stream)).toEqual([]);
    timers.update(stream, 1);
    expect(timers.cancelEnded(stream)).toEqual([]);
    stream.all = [wait(routes, "ack", 10), wait(clusters, "order", 10)];
    expect([timers.cancelEnded(stream), timers.cancelEnded(stream)]).toEqual([[cancel(1)], []]);
    expect([timers.fired(1), timers.update(stream, 2)]).toEqual([undefined, [start(3, 10)]]);
    stream.all = [];
    expect(timers.cancelEnded(stream)).toEqual([cancel(2), cancel(3)]);
    stream.isSettled = true;
    expect(timers.update(stream, 3)).toEqual([]);
  });
});
