import fc from "fast-check";
import { expect, test } from "vitest";
import { anonymousNode, type LoadReport } from "../../src/index.ts";
import { LoadReporter, type LoadReporterEvent, type LoadRequest, type StartedLoad } from "../../src/internal.ts";

const names = ["a", "b", "c"];

type Step =
  | { readonly kind: "start" | "drop"; readonly cluster: string; readonly address: string }
  | { readonly kind: "finish"; readonly place: number; readonly isGood: boolean }
  | { readonly kind: "ask"; readonly clusters: readonly string[] | "all"; readonly intervalMs: number }
  | { readonly kind: "wait" | "break" | "stall" };

const cluster = fc.constantFrom(...names);
const address = fc.constantFrom("1:1", "2:2");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom("start" as const, "drop" as const), cluster, address }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("finish" as const), place: fc.nat(), isGood: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      clusters: fc.oneof(fc.constant("all" as const), fc.subarray(names)),
      intervalMs: fc.constantFrom(0, 1_000, 5_000),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("wait" as const, "break" as const, "stall" as const) }) },
);

interface Sum {
  issued: number;
  succeeded: number;
  failed: number;
  dropped: number;
}

const nothing = (): Sum => ({ issued: 0, succeeded: 0, failed: 0, dropped: 0 });

/** Performs what the reporter asks for, and keeps its own books of what is owed to the server. */
class World {
  readonly #reporter = new LoadReporter({ node: anonymousNode, backOff: { baseMs: 500, maxMs: 1_000 } });
  readonly #underWay: { readonly cluster: string; readonly load: StartedLoad }[] = [];
  readonly #owed = new Map(names.map((name) => [name, nothing()]));
  /** What the server last heard to be in progress. */
  readonly #standing = new Map<string, number>();
  #asked: ReadonlySet<string> = new Set();
  #request: LoadRequest = { clusters: names, sendAllClusters: false, intervalMs: 1_000, endpoints: true };
  #now = 0;
  #stream = 0;
  #timers = new Map<number, number>();
  #isOpen = false;
  #isStalled = false;

  constructor() {
    this.#on({ kind: "reporting-started" });
  }

  play(step: Step): void {
    switch (step.kind) {
      case "start": {
        const { cluster, address } = step;
        this.#underWay.push({ cluster, load: this.#reporter.tally.start({ cluster, address }) });
        this.#owe(cluster, "issued");
        break;
      }
      case "drop":
        this.#reporter.tally.drop(step, "x");
        this.#owe(step.cluster, "dropped");
        break;
      case "finish":
        this.#finish(step);
        break;
      case "ask": {
        const isAll = step.clusters === "all";
        this.#request = {
          clusters: step.clusters === "all" ? [] : step.clusters,
          sendAllClusters: isAll,
          intervalMs: step.intervalMs,
          endpoints: true,
        };
        if (this.#isOpen) this.#ask();
        break;
      }
      case "wait":
        this.#wait();
        break;
      case "stall":
        this.#isStalled = true;
        break;
      case "break":
        this.#isOpen = false;
        this.#on({ kind: "stream-closed", stream: this.#stream, status: { code: 14, message: "" } });
    }
  }

  /** Everything that is owed is told in the end, and then the reporter knows of nothing any more. */
  end(): void {
    while (this.#underWay.length > 0) this.#finish({ place: 0, isGood: true });
    for (let i = 0; i < 4; i++) this.#wait();
    expect([...this.#owed.values()]).toEqual(names.map(nothing));
    expect(this.#timers.size).toBe(1);
  }

  #finish({ place, isGood }: { readonly place: number; readonly isGood: boolean }): void {
    const [one] = this.#underWay.splice(place % Math.max(1, this.#underWay.length), 1);
    if (one === undefined) return;
    one.load.finish(isGood ? "succeeded" : "failed");
    this.#owe(one.cluster, isGood ? "succeeded" : "failed");
  }

  #owe(cluster: string, what: keyof Sum): void {
    const sum = this.#owed.get(cluster);
    if (sum !== undefined && this.#asked.has(cluster)) sum[what]++;
  }

  #ask(): void {
    const { clusters, sendAllClusters } = this.#request;
    const asked = new Set(sendAllClusters ? names : clusters);
    for (const name of names) if (!asked.has(name) || !this.#asked.has(name)) this.#owed.set(name, nothing());
    this.#asked = asked;
    this.#on({ kind: "request-received", stream: this.#stream, request: this.#request });
  }

  #wait(): void {
    if (this.#isStalled) {
      this.#isStalled = false;
      this.#on({ kind: "report-sent", stream: this.#stream });
    }
    const [next] = [...this.#timers].sort(([, a], [, b]) => a - b);
    if (next === undefined) return;
    const [timer, atMs] = next;
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, atMs);
    this.#on({ kind: "timer-fired", timer });
  }

  #on(event: LoadReporterEvent): void {
    for (const effect of this.#reporter.on(event, { nowMs: this.#now, chance: 0.5 })) {
      if (effect.kind === "open-stream") this.#opened(effect.stream);
      else if (effect.kind === "start-timer") this.#timers.set(effect.timer, this.#now + effect.ms);
      else if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      else if (effect.kind === "send-report") this.#told(effect.report);
    }
  }

  #opened(stream: number): void {
    this.#stream = stream;
    this.#isStalled = false;
    this.#isOpen = true;
    this.#on({ kind: "stream-opened", stream });
    this.#ask();
  }

  #told({ node, clusters }: LoadReport): void {
    for (const load of clusters) {
      const sum = nothing();
      sum.dropped = load.dropped;
      for (const { endpoints, ...counts } of load.localities) {
        for (const key of ["issued", "succeeded", "failed"] as const) {
          sum[key] += counts[key];
          expect(endpoints.reduce((total, endpoint) => total + endpoint[key], 0)).toBe(counts[key]);
        }
        this.#standing.set(load.cluster, counts.inProgress);
      }
      expect([load.cluster, sum]).toEqual([load.cluster, this.#owed.get(load.cluster)]);
      this.#owed.set(load.cluster, nothing());
    }
    for (const name of node === undefined ? this.#asked : []) {
      const underWay = this.#underWay.filter(({ cluster }) => cluster === name).length;
      expect([name, this.#standing.get(name) ?? 0]).toEqual([name, underWay]);
    }
    if (!this.#isStalled) this.#on({ kind: "report-sent", stream: this.#stream });
  }
}

test("C-LRS-04 C-LRS-05 what is reported is what was counted of clusters that are asked for, whatever streams do", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      for (const one of steps) world.play(one);
      world.end();
    }),
    { numRuns: 2_000 },
  );
});
