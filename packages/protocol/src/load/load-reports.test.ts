import { describe, expect, test } from "vitest";
import { node } from "../../test/support/conversation.ts";
import { Work } from "../../test/support/work.ts";
import type { ClusterLoad, LocalityLoad } from "./load-report.ts";
import { type LoadEffect, type LoadReportSettings, LoadReports } from "./load-reports.ts";
import type { LoadLimits } from "./load-sums.ts";

const FEATURE = "envoy.lrs.supports_send_all_clusters";
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const here = { region: "eu", zone: "1", subZone: "" };

function locality(counts: Partial<LocalityLoad> = {}): LocalityLoad {
  const nothing = { succeeded: 0, failed: 0, issued: 0, inProgress: 0, priority: 0, metrics: [], endpoints: [] };
  return { ...nothing, activeConnections: 0, newConnections: 0, failedConnections: 0, locality: here, ...counts };
}

function cluster(name: string, localities: readonly LocalityLoad[], more: Partial<ClusterLoad> = {}): ClusterLoad {
  return { cluster: name, service: "", intervalMs: 1_000, dropped: 0, droppedBy: [], localities, ...more };
}

class Talk {
  readonly loads: LoadReports;
  now = 0;

  constructor(settings: Partial<LoadReportSettings> = {}, limits: Partial<LoadLimits> = {}) {
    this.loads = new LoadReports({
      settings: { intervalMs: 10_000, clusters: "all", endpoints: false, ...settings },
      limits: { maxEntries: 1_000, maxStandings: 1_000, ...limits },
      clustersOf: ({ id }) => [`${id}'s`],
    });
  }

  open(reporter: number, features: readonly string[] = [FEATURE], agent = "envoy"): readonly LoadEffect[] {
    this.loads.on({ kind: "reporter-opened", reporter, peer, at: this.now });
    const from = { ...node(`n${reporter}`, agent), clientFeatures: features };
    return this.loads.on({ kind: "report-received", reporter, report: { node: from, clusters: [] }, at: this.now });
  }

  report(reporter: number, ...clusters: readonly ClusterLoad[]): readonly LoadEffect[] {
    this.now += 1_000;
    return this.loads.on({ kind: "report-received", reporter, report: { node: undefined, clusters }, at: this.now });
  }

  /** `a: 3 issued, 1 in progress, 3/s`, in short. */
  get sums(): readonly string[] {
    return [...this.loads.clusters].flatMap(({ cluster: name, service, localities }) =>
      localities.map(({ issued, inProgress, requestsPerSecond }) => {
        const called = service === "" ? name : `${name}/${service}`;
        return `${called}: ${issued} issued, ${inProgress} in progress, ${requestsPerSecond}/s`;
      }),
    );
  }
}

const asks = (effects: readonly LoadEffect[]): unknown => effects.map(({ reporter, request }) => [reporter, request]);
const all = { clusters: [], sendAllClusters: true, intervalMs: 10_000, endpoints: false };

describe("S-LRS-02 S-LRS-03 what a client is asked to report", () => {
  test("S-LRS-03 is all clusters only if it announces that it understands that; else those of its view, by name", () => {
    const talk = new Talk();
    expect(asks(talk.open(1))).toEqual([[1, all]]);
    expect(asks(talk.open(2, []))).toEqual([[2, { ...all, sendAllClusters: false, clusters: ["n2's"] }]]);
    expect(talk.report(1)).toEqual([]);
  });

  test("is what is set, but for a client that loses the first name of a list", () => {
    const talk = new Talk({ clusters: ["a", "b"], endpoints: true });
    const named = { clusters: ["a", "b"], sendAllClusters: false, intervalMs: 10_000, endpoints: true };
    expect(asks(talk.open(1))).toEqual([[1, named]]);
    expect(asks(talk.open(2, [FEATURE], "gRPC Node Pure JS"))).toEqual([[2, { ...all, endpoints: true }]]);
    talk.report(2, cluster("a", [locality({ issued: 1 })]), cluster("c", [locality({ issued: 1 })]));
    expect(talk.sums).toEqual(["a: 1 issued, 0 in progress, 1/s"]);
  });

  test("S-LRS-02 is told again to all when it changes; never an interval below a second", () => {
    const talk = new Talk();
    talk.open(1);
    talk.open(2);
    talk.loads.on({ kind: "reporter-opened", reporter: 3, peer, at: 0 });
    const settings = { intervalMs: 0, clusters: ["a"], endpoints: false };
    const told = { clusters: ["a"], sendAllClusters: false, intervalMs: 1_000, endpoints: false };
    expect(asks(talk.loads.on({ kind: "settings-changed", settings }))).toEqual([
      [1, told],
      [2, told],
    ]);
  });
});

describe("S-LRS-06 sums", () => {
  test("S-LRS-06 are by cluster, service name, locality and priority; what is in progress is the newest word of each", () => {
    const talk = new Talk();
    talk.open(1);
    talk.open(2);
    const there = { ...here, zone: "2" };
    talk.report(1, cluster("a", [locality({ issued: 2, inProgress: 5 })], { service: "x" }));
    talk.report(2, cluster("a", [locality({ issued: 3, inProgress: 1 })], { service: "x", intervalMs: 500 }));
    talk.report(1, cluster("a", [locality({ issued: 4, inProgress: 2 })], { service: "x" }));
    talk.report(1, cluster("a", [locality({ issued: 1, locality: there }), locality({ issued: 1, priority: 1 })]));
    expect(talk.sums).toEqual([
      "a/x: 9 issued, 1 in progress, 6/s",
      "a: 1 issued, 0 in progress, 1/s",
      "a: 1 issued, 0 in progress, 1/s",
    ]);
  });

  test("S-LRS-06 hold drops by category, connections, metrics and endpoints", () => {
    const talk = new Talk();
    talk.open(1);
    const metrics = [{ name: "cpu", requests: 2, total: 0.5 }];
    const counts = { succeeded: 2, failed: 1, issued: 3, inProgress: 0 };
    const endpoints = [{ address: "10.0.0.1:80", ...counts }];
    const load = cluster(
      "a",
      [locality({ ...counts, newConnections: 1, failedConnections: 2, activeConnections: 4, metrics, endpoints })],
      { dropped: 7, droppedBy: [{ category: "throttle", count: 5 }] },
    );
    talk.report(1, load);
    talk.report(1, load);
    const [sums] = talk.loads.clusters;
    const [at] = sums?.localities ?? [];
    expect([sums?.dropped, [...(sums?.droppedBy ?? [])]]).toEqual([14, [["throttle", 10]]]);
    expect([at?.newConnections, at?.failedConnections, at?.activeConnections]).toEqual([2, 4, 4]);
    expect([...(at?.metrics ?? [])]).toEqual([["cpu", { requests: 4, total: 1 }]]);
    expect([...(at?.endpoints ?? [])]).toEqual([["10.0.0.1:80", { succeeded: 4, failed: 2, issued: 6 }]]);
  });

  test("of a client that is gone stay, but nothing of it is in progress", () => {
    const talk = new Talk();
    talk.open(1);
    talk.report(1, cluster("a", [locality({ issued: 2, inProgress: 5 })]));
    talk.loads.on({ kind: "reporter-closed", reporter: 1 });
    expect(talk.sums).toEqual(["a: 2 issued, 0 in progress, 0/s"]);
    expect([...talk.loads.reporters]).toEqual([]);
    expect(talk.report(1, cluster("a", [locality({ issued: 2 })]))).toEqual([]);
    expect(talk.sums).toEqual(["a: 2 issued, 0 in progress, 0/s"]);
  });

  test("one locality twice in a report counts twice", () => {
    const talk = new Talk();
    talk.open(1);
    const twice = cluster("a", [locality({ issued: 1, inProgress: 1 }), locality({ issued: 2, inProgress: 1 })]);
    talk.report(1, twice);
    talk.report(1, twice);
    expect(talk.sums).toEqual(["a: 6 issued, 2 in progress, 3/s"]);
  });

  test("of an interval that is not told are of the time between two reports", () => {
    const talk = new Talk();
    talk.open(1);
    talk.report(1, cluster("a", [locality({ issued: 4 })], { intervalMs: 0 }));
    expect(talk.sums).toEqual(["a: 4 issued, 0 in progress, 4/s"]);
  });
});

describe("bounds", () => {
  test("leave out what there is no room for, and count it", () => {
    const talk = new Talk({}, { maxEntries: 4 });
    talk.open(1);
    talk.report(1, ...["a", "b", "c"].map((name) => cluster(name, [locality({ issued: 1 })])));
    expect(talk.sums).toEqual(["a: 1 issued, 0 in progress, 1/s", "b: 1 issued, 0 in progress, 1/s"]);
    expect(talk.loads.leftOut).toBe(1);
    talk.report(1, cluster("x".repeat(600), [locality()]));
    expect(talk.loads.leftOut).toBe(2);
  });

  test("make room of what nobody reports any more, the longest silent first", () => {
    const talk = new Talk({}, { maxEntries: 4 });
    talk.open(1);
    talk.open(2);
    talk.report(1, cluster("a", [locality({ issued: 1 })]));
    talk.report(2, cluster("b", [locality({ issued: 1 })]));
    talk.report(1, cluster("c", [locality({ issued: 1 })]));
    expect(talk.sums.map((sum) => sum[0])).toEqual(["a", "b"]); // "a" was reported by 1 until the report was taken
    talk.report(1, cluster("c", [locality({ issued: 1 })]));
    expect(talk.sums.map((sum) => sum[0])).toEqual(["b", "c"]);
  });

  test("cost what is in a report, and not what is kept, once there is no room", () => {
    const [few, many] = [100, 2_000].map((maxEntries) => {
      const talk = new Talk({}, { maxEntries, maxStandings: maxEntries });
      talk.open(1);
      talk.open(2);
      const names = Array.from({ length: maxEntries / 2 }, (_, i) => cluster(`kept-${i}`, [locality()]));
      talk.report(1, ...names);
      const further = Array.from({ length: 100 }, (_, i) => cluster(`further-${i}`, [locality()]));
      const work = new Work().of(() => talk.report(2, ...further));
      expect(talk.loads.leftOut).toBe(100);
      return work;
    });
    expect(many).toBe(few);
  });

  test("hold for what reporters said last, too", () => {
    const talk = new Talk({}, { maxStandings: 1 });
    talk.open(1);
    talk.open(2);
    talk.report(1, cluster("a", [locality({ inProgress: 1 })]));
    talk.report(2, cluster("a", [locality({ inProgress: 1 })]));
    expect(talk.sums).toEqual(["a: 0 issued, 1 in progress, 0/s"]);
    talk.loads.on({ kind: "reporter-closed", reporter: 1 });
    talk.report(2, cluster("a", [locality({ inProgress: 3 })]));
    expect(talk.sums).toEqual(["a: 0 issued, 3 in progress, 0/s"]);
  });
});

describe("a report that is added in steps", () => {
  const endpoints = ["a:1", "b:1"].map((address) => ({ address, succeeded: 0, failed: 0, inProgress: 0, issued: 1 }));
  const clusters = ["a", "b", "c"].map((name) => cluster(name, [locality({ issued: 2, inProgress: 1, endpoints })]));
  const report = { node: undefined, clusters };

  test("has one for each entry, and is in force as one that is added at once", () => {
    const [atOnce, inSteps] = [new Talk(), new Talk()];
    for (const talk of [atOnce, inSteps]) talk.open(1);
    atOnce.report(1, ...clusters);
    const steps = inSteps.loads.receiveInSteps({ kind: "report-received", reporter: 1, report, at: 1_000 });
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).toBe(12); // three clusters with a locality and two endpoints each
    expect([...inSteps.loads.clusters]).toEqual([...atOnce.loads.clusters]);
    inSteps.now = 1_000;
    inSteps.report(1);
    expect(inSteps.sums).toEqual(["a", "b", "c"].map((name) => `${name}: 2 issued, 0 in progress, 0/s`));
  });

  test("ends where its client disconnects, and nothing of it is in progress", () => {
    const talk = new Talk();
    talk.open(1);
    const steps = talk.loads.receiveInSteps({ kind: "report-received", reporter: 1, report, at: 1_000 });
    for (let step = 0; step < 6; step++) steps.next();
    expect(talk.sums).toEqual(["a", "b"].map((name) => `${name}: 2 issued, 1 in progress, 2/s`));
    talk.loads.on({ kind: "reporter-closed", reporter: 1 });
    expect(steps.next()).toEqual({ done: true, value: [] });
    expect(talk.sums).toEqual(["a", "b"].map((name) => `${name}: 2 issued, 0 in progress, 0/s`));
  });
});
