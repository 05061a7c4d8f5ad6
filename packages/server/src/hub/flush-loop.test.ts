import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DueFlushes, type FlushClock, FlushLoop } from "./flush-loop.ts";

const STREAMS = 20;
const MAX_DEBOUNCE_MS = 100;
const RUNS = 500;
/** More of them in a row are no accident. */
const MAX_EMPTY_SLICES = 100;
/** One stream that asked for something has its turn after so many others. */
const CHANGED_PER_ASKING = 8;

/** What happens so long after the event before it. A change makes the first so many streams due. */
type WorldEvent =
  | { readonly afterMs: number; readonly kind: "change"; readonly streams: number }
  | { readonly afterMs: number; readonly kind: "ack" | "subscribe" | "finish"; readonly stream: number };

/** How long a stream was due until it was flushed. */
interface Wait {
  readonly kind: WorldEvent["kind"];
  readonly stream: number;
  readonly totalMs: number;
  /** The part of it in which nothing was flushed. */
  readonly idleMs: number;
  /** Other flushes meanwhile. */
  readonly flushes: number;
}

/** Streams of which each flush takes `flushMs`, on a virtual clock. */
class World implements FlushClock, DueFlushes {
  readonly waits: Wait[] = [];
  readonly turns: FlushLoop;
  flushedChanged = 0;
  pausedFlushes = 0;
  /** Clients that are to be placed; each makes that stream due, if it is one. */
  readonly unplaced: (number | undefined)[] = [];
  /** How many clients were placed before each slice ended. */
  readonly placed: number[] = [];
  /** When the last one was placed. */
  placedAt = 0;
  #placed = 0;
  /** The streams that ended, and whether something was still to be sent to them. */
  readonly finished: { readonly stream: number; readonly isDue: boolean }[] = [];
  /** How many flushes each slice was. */
  readonly slices: number[] = [];
  /** When each large response was sent, of those that were added. */
  readonly largeAt: number[] = [];
  #large = 0;
  readonly #flushMs: number;
  readonly #answerMs: number;
  readonly #due = new Map<
    number,
    { readonly kind: WorldEvent["kind"]; readonly at: number; readonly busyMs: number; readonly flushes: number }
  >();
  /** Those of them that asked for something. */
  readonly #asking = new Set<number>();
  #changedInARow = 0;
  #now = 0;
  #busyMs = 0;
  #flushes = 0;
  #flushesBefore = 0;
  #soon: (() => void)[] = [];
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  /** `answerMs`: what a flush takes of a stream that asked. */
  constructor(flushMs: number, maxDebounceMs = MAX_DEBOUNCE_MS, answerMs = flushMs) {
    this.#flushMs = flushMs;
    this.#answerMs = answerMs;
    this.turns = new FlushLoop({
      ...{ due: this, clock: this, maxDebounceMs },
      failed: (cause) => {
        throw cause;
      },
      write: () => {
        this.slices.push(this.#flushes - this.#flushesBefore);
        this.placed.push(this.#placed);
        this.#placed = 0;
        this.#flushesBefore = this.#flushes;
        return { responses: 0, bytes: 0 };
      },
      finished: (stream) => {
        this.finished.push({ stream, isDue: this.#due.has(stream) });
        this.turns.forget(stream);
      },
      report: () => {},
    });
  }

  now(): number {
    return this.#now;
  }

  soon(run: () => void): void {
    this.#soon.push(run);
  }

  later(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get isDue(): boolean {
    return this.#due.size > 0 || this.isLargeDue || this.isPlacementDue;
  }

  get isPlacementDue(): boolean {
    return this.unplaced.length > 0;
  }

  get isLargeDue(): boolean {
    return this.#large > 0;
  }

  addLarge(): void {
    this.#large++;
    this.turns.schedule();
  }

  sendLarge(): void {
    this.#large--;
    this.largeAt.push(this.#now);
    this.#now += this.#flushMs;
  }

  /** How many flushes the answer to each stream still takes. */
  readonly paused = new Map<number, number>();
  /** The streams that asked for something, and whose clients do not read. */
  readonly unread = new Set<number>();

  isAnswerPending(stream: number): boolean {
    return this.paused.has(stream) || this.#asking.has(stream) || this.unread.has(stream);
  }

  get changedStreams(): number {
    return this.#due.size - this.#asking.size + this.unplaced.length;
  }

  get isAskingDue(): boolean {
    return this.#asking.size > 0;
  }

  flushNext(): void {
    const changed = [...this.#due.keys()].find((stream) => !this.#asking.has(stream));
    if (this.isAskingDue && (this.#changedInARow === CHANGED_PER_ASKING || changed === undefined)) {
      this.#changedInARow = 0;
      this.flushAsking();
    } else if (changed !== undefined) {
      this.flushedChanged++;
      this.#changedInARow++;
      this.#flush(changed, this.#flushMs);
    }
  }

  flushAsking(): void {
    const [first] = this.#asking;
    if (first === undefined) return;
    this.#asking.delete(first);
    this.#flush(first, this.#answerMs);
    if (this.#due.has(first)) this.#asking.add(first);
  }

  #flush(stream: number, ms: number): void {
    const due = this.#due.get(stream);
    if (due === undefined) return;
    this.#due.delete(stream);
    const left = this.paused.get(stream);
    if (left === 1) this.paused.delete(stream);
    else if (left !== undefined) {
      this.paused.set(stream, left - 1);
      this.pausedFlushes++;
      this.#due.set(stream, due);
    }
    const totalMs = this.#now - due.at;
    const idleMs = totalMs - (this.#busyMs - due.busyMs);
    this.waits.push({ kind: due.kind, stream, totalMs, idleMs, flushes: this.#flushes - due.flushes });
    this.#now += ms;
    this.#busyMs += ms;
    this.#flushes++;
  }

  placeNext(): void {
    const stream = this.unplaced.shift();
    this.#placed++;
    this.#now += this.#flushMs;
    this.placedAt = this.#now;
    if (stream !== undefined) this.#makeDue("change", stream);
  }

  /** Plays all events, and whatever follows from them. */
  play(events: readonly WorldEvent[]): readonly Wait[] {
    let at = 0;
    for (const event of events) {
      at += event.afterMs;
      this.#run(at);
      this.#now = Math.max(this.#now, at);
      this.#happen(event);
    }
    this.#run(Number.POSITIVE_INFINITY);
    return this.waits;
  }

  #happen(event: WorldEvent): void {
    if (event.kind === "finish") {
      this.turns.finish(event.stream, 1);
      return;
    }
    const numbers = event.kind === "change" ? Array.from({ length: event.streams }, (_, i) => i) : [event.stream];
    for (const stream of numbers) this.#makeDue(event.kind, stream);
    if (event.kind === "change") this.turns.changed();
    if (event.kind === "subscribe") this.#asking.add(event.stream);
    this.turns.schedule();
  }

  #makeDue(kind: WorldEvent["kind"], stream: number): void {
    if (this.#due.has(stream)) return;
    this.#due.set(stream, { kind, at: this.#now, busyMs: this.#busyMs, flushes: this.#flushes });
  }

  /** Runs the loop up to a time; a slice may last longer. */
  #run(until: number): void {
    for (let empty = 0; this.#now < until; ) {
      const soon = this.#soon.splice(0);
      const before = this.#now;
      for (const run of soon) run();
      empty = soon.length > 0 && this.#now === before ? empty + 1 : 0;
      if (empty === MAX_EMPTY_SLICES) throw new Error("the loop turns, and nothing is done");
      if (soon.length > 0) continue;
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > until) return;
      this.#now = Math.max(this.#now, next.at);
      this.#timers.delete(next);
      next.run();
    }
  }
}

const anyGap = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 5, noNaN: true }), fc.integer({ min: 5, max: 300 }));
const anyStream = fc.nat(STREAMS - 1);
const anyEvent: fc.Arbitrary<WorldEvent> = fc.oneof(
  fc.record({ afterMs: anyGap, kind: fc.constant("change"), streams: fc.integer({ min: 1, max: STREAMS }) }),
  fc.record({ afterMs: anyGap, kind: fc.constant("ack"), stream: anyStream }),
  fc.record({ afterMs: anyGap, kind: fc.constant("subscribe"), stream: anyStream }),
);
const anyFlushMs = fc.constantFrom(0.01, 0.3, 2, 40);
/** For sums of fractions. */
const TOLERANCE_MS = 1e-6;

const change = (afterMs: number, streams = STREAMS): WorldEvent => ({ afterMs, kind: "change", streams });

describe("the lag of a change", () => {
  test("is at most one pause and two fan-outs, whatever else happens", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), anyFlushMs, (events, flushMs) => {
        const waits = new World(flushMs).play(events);
        const ahead = events.filter(({ kind }) => kind === "subscribe").length;
        const late = waits.filter(
          ({ idleMs, flushes }) => idleMs > MAX_DEBOUNCE_MS + TOLERANCE_MS || flushes > 2 * STREAMS + ahead,
        );
        expect(late).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("is nothing for a new subscription", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), anyFlushMs, (events, flushMs) => {
        const waits = new World(flushMs).play(events);
        expect(waits.filter(({ kind, idleMs }) => kind === "subscribe" && idleMs > TOLERANCE_MS)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("is nothing for the rest of a paused answer to a new subscription", () => {
    const world = new World(2);
    world.paused.set(STREAMS, 20);
    const waits = world.play([
      ...Array.from({ length: 100 }, () => change(5)),
      { afterMs: 1, kind: "subscribe", stream: STREAMS },
      ...Array.from({ length: 100 }, () => change(5)),
    ]);
    const ofTheAnswer = waits.filter(({ stream }) => stream === STREAMS);
    expect(ofTheAnswer).toHaveLength(20);
    expect(ofTheAnswer.filter(({ idleMs }) => idleMs > TOLERANCE_MS)).toEqual([]);
  });

  test("is nothing for a change on an idle server, and for its ACKs", () => {
    const world = new World(2);
    const ack = (afterMs: number, stream: number): WorldEvent => ({ afterMs, kind: "ack", stream });
    const acks = Array.from({ length: STREAMS }, (_, stream) => ack(stream === 0 ? 50 : 0, stream));
    const waits = world.play([change(0), ...acks, change(200), ...acks]);
    expect(waits.filter(({ idleMs }) => idleMs > TOLERANCE_MS)).toEqual([]);
    expect(waits.length).toBe(4 * STREAMS);
  });

  test("is that of its place in the queue, also for a stream that was flushed for a new subscription before", () => {
    const subscribe = (afterMs: number, stream: number): WorldEvent => ({ afterMs, kind: "subscribe", stream });
    const waits = new World(1).play([change(0, 2), subscribe(5, 3), subscribe(0, 2), change(200, 3)]);
    expect(waits.map(({ stream }) => stream)).toEqual([0, 1, 3, 2, 0, 1, 2]);
  });

  test.each([200, 400])("is no longer beside %i streams that come at once and ask for something", (count) => {
    const herd = Array.from({ length: count }, (_, i): WorldEvent => {
      return { afterMs: 0, kind: "subscribe", stream: STREAMS + i };
    });
    const waits = new World(1).play([...herd, ...Array.from({ length: 10 }, () => change(10, 1))]);
    const changes = waits.filter(({ kind }) => kind === "change");
    expect(changes).toHaveLength(10);
    expect(changes.filter(({ flushes, idleMs }) => flushes > 0 || idleMs > TOLERANCE_MS)).toEqual([]);
    expect(waits).toHaveLength(count + 10);
  });

  test("is over before a stream ends that is sent no more after it, however many ask meanwhile", () => {
    const world = new World(1);
    const herd = Array.from({ length: 200 }, (_, i): WorldEvent => {
      return { afterMs: 0, kind: "subscribe", stream: STREAMS + i };
    });
    world.play([change(0, 10), change(11, 1), ...herd, { afterMs: 0, kind: "finish", stream: 0 }]);
    expect(world.finished).toEqual([{ stream: 0, isDue: false }]);
  });

  test("does not grow with what the answers to those that ask cost", () => {
    const herd = Array.from({ length: 20 }, (_, i): WorldEvent => {
      return { afterMs: 0, kind: "subscribe", stream: STREAMS + i };
    });
    const waits = new World(0.2, MAX_DEBOUNCE_MS, 4).play([...herd, change(0, 2), change(8, 2)]);
    // The pause after two flushes of 0.2 ms is over when the answers of their slice are.
    expect(waits.filter(({ kind, flushes }) => kind === "change" && flushes > 2)).toEqual([]);
    expect(waits).toHaveLength(24);
  });

  test("is four times the cost of the fan-out before it, up to the maximum", () => {
    const idleOf = (flushMs: number, streams: number, afterMs: number): number => {
      const waits = new World(flushMs).play([change(0, streams), change(afterMs, 1)]);
      return Math.round(waits.at(-1)?.idleMs ?? Number.NaN);
    };
    // 10 flushes of 1 ms are over after 10 ms, and their pause after 50 ms.
    expect([idleOf(1, 10, 11), idleOf(1, 10, 30), idleOf(1, 10, 50)]).toEqual([39, 20, 0]);
    // The maximum of 100 ms after 20 flushes of 3 ms, instead of 240.
    expect([idleOf(3, 20, 60), idleOf(3, 20, 159), idleOf(3, 20, 160)]).toEqual([100, 1, 0]);
    // Few clients: less than a millisecond, which is no pause.
    expect(idleOf(0.1, 2, 0.25)).toBe(0);
  });
});

describe("a slice of the event loop", () => {
  test("ends after 5 ms of flushes", () => {
    const world = new World(1.5);
    world.play([change(0, 10)]);
    expect(world.slices).toEqual([4, 4, 2]);
  });

  test("ends after a part of an answer that takes many flushes, however short it was", () => {
    const world = new World(0.1);
    world.paused.set(STREAMS, 4);
    const waits = world.play([{ afterMs: 0, kind: "subscribe", stream: STREAMS }, change(0, 2)]);
    expect(waits.map(({ stream }) => stream)).toEqual([0, 1, STREAMS, STREAMS, STREAMS, STREAMS]);
    expect(world.slices).toEqual([3, 1, 1, 1]);
  });
});

test("a stream that is sent no more ends when its client has read what it asked for, and costs no slices until then", () => {
  const world = new World(1);
  const finish: WorldEvent = { afterMs: 0, kind: "finish", stream: STREAMS };
  world.unread.add(STREAMS);
  world.play([finish, { ...finish, stream: STREAMS + 1 }, change(0, 2)]);
  expect([world.finished, world.slices]).toEqual([[{ stream: STREAMS + 1, isDue: false }], [2]]);
  world.unread.delete(STREAMS);
  world.play([{ afterMs: 100, kind: "subscribe", stream: STREAMS }]);
  expect(world.finished.slice(1)).toEqual([{ stream: STREAMS, isDue: false }]);
});

describe("clients that are to be placed", () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

  test("are placed in slices of 5 ms, however many there are", () => {
    for (const count of [200, 400]) {
      const world = new World(0.125);
      world.unplaced.push(...numbers(count).map(() => undefined));
      world.play([change(0, 0)]);
      expect(world.placed).toEqual(numbers(count / 40).map(() => 40));
    }
  });

  test("take turns with flushes", () => {
    const world = new World(0.5);
    world.unplaced.push(...numbers(10).map((i) => 100 + i));
    const waits = world.play([change(0, 5)]);
    expect([world.placed, world.slices]).toEqual([
      [5, 5, 0],
      [5, 5, 5],
    ]);
    expect(waits.map(({ stream }) => stream)).toEqual([...numbers(5), ...numbers(10).map((i) => 100 + i)]);
  });

  test("are placed in the pause after a fan-out, and flushed after it", () => {
    const world = new World(1);
    world.play([change(0, 10)]);
    world.unplaced.push(100, 101);
    const [first, second] = world.play([change(11, 0)]).slice(10);
    expect(world.placedAt).toBe(13);
    expect([first, second].map((wait) => [wait?.stream, wait?.idleMs])).toEqual([
      [100, 38],
      [101, 37],
    ]);
  });
});

describe("many changes in a row", () => {
  const changes = Array.from({ length: 1_000 }, () => change(1));

  test("reach a client in few flushes", () => {
    const flushesOf = (maxDebounceMs: number): number => new World(0.3, maxDebounceMs).play(changes).length;
    expect([flushesOf(MAX_DEBOUNCE_MS), flushesOf(0)]).toEqual([35 * STREAMS, 3_354]);
  });
});
