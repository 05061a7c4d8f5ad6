import { describe, expect, test } from "vitest";
import { anonymousNode } from "../node/node.ts";
import type { LoadRequest, LocalityLoad } from "./load-report.ts";
import { LoadReporter, type LoadReporterEffect, type LoadReporterEvent } from "./load-reporter.ts";

const node = { ...anonymousNode, id: "edge", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] };
const all: LoadRequest = { clusters: [], sendAllClusters: true, intervalMs: 10_000, endpoints: false };
const named = (...clusters: readonly string[]): LoadRequest => ({ ...all, sendAllClusters: false, clusters });
const eu = { region: "eu", zone: "1", subZone: "" };

/** A reporter with the effects it asked for; its timers go off when it is told to. */
class Talk {
  readonly reporter = new LoadReporter({ node, backOff: { baseMs: 500, maxMs: 4_000 } });
  now = 0;
  stream = 0;
  timer: { readonly timer: number; readonly ms: number } | undefined;

  on(event: LoadReporterEvent, chance = 1): readonly LoadReporterEffect[] {
    const effects = this.reporter.on(event, { nowMs: this.now, chance });
    for (const effect of effects) {
      if (effect.kind === "open-stream") this.stream = effect.stream;
      if (effect.kind === "start-timer") this.timer = { timer: effect.timer, ms: effect.ms };
      if (effect.kind === "cancel-timer" && effect.timer === this.timer?.timer) this.timer = undefined;
    }
    return effects;
  }

  /** Opens a stream, and sends the first message. */
  open(): readonly LoadReporterEffect[] {
    const effects = this.on({ kind: "stream-opened", stream: this.stream });
    this.on({ kind: "report-sent", stream: this.stream });
    return effects;
  }

  start(request: LoadRequest = all): this {
    this.on({ kind: "reporting-started" });
    this.open();
    this.ask(request);
    return this;
  }

  ask(request: LoadRequest): readonly LoadReporterEffect[] {
    return this.on({ kind: "request-received", stream: this.stream, request });
  }

  close(chance = 1): readonly LoadReporterEffect[] {
    return this.on({ kind: "stream-closed", stream: this.stream, status: { code: 14, message: "gone" } }, chance);
  }

  /** Waits for the timer, and lets it go off. */
  fire(): readonly LoadReporterEffect[] {
    const { timer, ms } = this.timer ?? { timer: 0, ms: 0 };
    this.timer = undefined;
    this.now += ms;
    return this.on({ kind: "timer-fired", timer });
  }

  /** The next report. */
  report(): unknown {
    const sent = this.fire().find((effect) => effect.kind === "send-report");
    this.on({ kind: "report-sent", stream: this.stream });
    return sent?.kind === "send-report" ? sent.report.clusters : undefined;
  }
}

function locality(counts: Partial<LocalityLoad> = {}): LocalityLoad {
  const nothing = { succeeded: 0, failed: 0, issued: 0, inProgress: 0, priority: 0, metrics: [], endpoints: [] };
  return { ...nothing, activeConnections: 0, newConnections: 0, failedConnections: 0, locality: eu, ...counts };
}

function cluster(name: string, intervalMs: number, ...localities: readonly LocalityLoad[]): object {
  return { cluster: name, service: "", intervalMs, dropped: 0, droppedBy: [], localities };
}

const at = (name: string): { cluster: string; locality: typeof eu } => ({ cluster: name, locality: eu });

describe("C-LRS-01 the start", () => {
  test("C-LRS-01 the first message has the node and no counts; what was sent before nobody asked for is not told", () => {
    const talk = new Talk();
    expect(talk.on({ kind: "reporting-started" })).toEqual([{ kind: "open-stream", stream: 1 }]);
    talk.reporter.tally.start(at("a")).finish("succeeded");
    expect(talk.open()).toEqual([
      { kind: "report", report: { kind: "load-stream-opened" } },
      { kind: "send-report", stream: 1, report: { node, clusters: [] } },
    ]);
    expect(talk.timer).toBeUndefined();
    expect(talk.ask(all)).toEqual([
      { kind: "report", report: { kind: "load-asked", request: all } },
      { kind: "start-timer", timer: 1, ms: 10_000 },
    ]);
    expect(talk.fire()).toEqual([
      { kind: "send-report", stream: 1, report: { node: undefined, clusters: [] } },
      { kind: "start-timer", timer: 2, ms: 10_000 },
    ]);
  });

  test("an interval that is not told is a second", () => {
    const talk = new Talk().start({ ...all, intervalMs: 0 });
    expect(talk.timer).toEqual({ timer: 1, ms: 1_000 });
  });
});

describe("C-LRS-04 reports", () => {
  test("C-LRS-04 are the counts since the last one and the time that really went by; what is in progress is as things stand", () => {
    const talk = new Talk().start();
    const [one, two] = [talk.reporter.tally.start(at("a")), talk.reporter.tally.start(at("a"))];
    one.finish("succeeded");
    one.finish("failed");
    talk.now += 500;
    expect(talk.report()).toEqual([cluster("a", 10_500, locality({ issued: 2, succeeded: 1, inProgress: 1 }))]);
    talk.reporter.tally.start(at("a")).finish("failed");
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ issued: 1, failed: 1, inProgress: 1 }))]);
    two.finish("succeeded");
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ succeeded: 1 }))]);
    expect(talk.report()).toEqual([]);
  });

  test("C-LRS-04 tell that nothing is in progress any more, even of what was not asked for when it ended", () => {
    const talk = new Talk().start(named("a"));
    const call = talk.reporter.tally.start(at("a"));
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ issued: 1, inProgress: 1 }))]);
    talk.ask(named());
    call.finish("succeeded");
    talk.ask(named("a"));
    expect(talk.report()).toEqual([cluster("a", 10_000, locality())]);
    expect(talk.report()).toEqual([]);
  });

  test("C-LRS-04 are by service name, locality and priority, with drops and metrics", () => {
    const talk = new Talk().start();
    const { tally } = talk.reporter;
    tally.start({ cluster: "a", service: "s", priority: 1 }).finish("succeeded", { cpu: 0.5, bad: Number.NaN });
    tally.start({ cluster: "a", service: "s", priority: 1 }).finish("failed", { cpu: 0.25 });
    tally.start(at("a")).finish("succeeded");
    tally.drop({ cluster: "a" }, "throttle");
    tally.drop({ cluster: "a" }, "throttle");
    tally.drop({ cluster: "a" }, undefined);
    const nowhere = { region: "", zone: "", subZone: "" };
    const metrics = [{ name: "cpu", requests: 2, total: 0.75 }];
    expect(talk.report()).toEqual([
      {
        cluster: "a",
        service: "s",
        intervalMs: 10_000,
        dropped: 0,
        droppedBy: [],
        localities: [locality({ locality: nowhere, priority: 1, issued: 2, succeeded: 1, failed: 1, metrics })],
      },
      {
        cluster: "a",
        service: "",
        intervalMs: 10_000,
        dropped: 3,
        droppedBy: [{ category: "throttle", count: 2 }],
        localities: [locality({ issued: 1, succeeded: 1 })],
      },
    ]);
  });

  test("C-LRS-04 tell places apart whose names are the same one behind the other", () => {
    const talk = new Talk().start();
    const { tally } = talk.reporter;
    const places = [
      { region: "ab", zone: "c", subZone: "" },
      { region: "a", zone: "bc", subZone: "" },
      { region: "a", zone: "b", subZone: "c" },
      { region: "", zone: "1 ab", subZone: "c" },
    ];
    for (const place of places) tally.start({ cluster: "ab", service: "c", locality: place, priority: 1 });
    tally.start({ cluster: "a", service: "bc", locality: eu, priority: 2 });
    tally.start({ cluster: "a", service: "bc", locality: eu, priority: 22 });
    const at1 = (place: LocalityLoad["locality"]) =>
      locality({ locality: place, priority: 1, issued: 1, inProgress: 1 });
    const atEu = (priority: number) => locality({ locality: eu, priority, issued: 1, inProgress: 1 });
    expect(talk.report()).toEqual([
      { ...cluster("ab", 10_000, ...places.map(at1)), service: "c" },
      { ...cluster("a", 10_000, atEu(2), atEu(22)), service: "bc" },
    ]);
  });

  test("C-LRS-04 tell of connections: those that came up and that failed since the last one, and those that are up", () => {
    const talk = new Talk().start(named("a"));
    const { tally } = talk.reporter;
    const [one, two, three] = [tally.connect(at("a")), tally.connect(at("a")), tally.connect(at("a"))];
    expect(talk.report()).toEqual([]);
    one.succeed();
    one.fail();
    two.succeed();
    three.fail();
    three.close();
    const counts = { activeConnections: 2, newConnections: 2, failedConnections: 1 };
    expect(talk.report()).toEqual([cluster("a", 10_000, locality(counts))]);
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ activeConnections: 2 }))]);
    talk.ask(named());
    one.close();
    one.close();
    two.close();
    tally.connect(at("a")).succeed();
    talk.ask(named("a"));
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ activeConnections: 1 }))]);
  });

  test("C-LRS-04 have endpoints only where the server asks for them, and then of the same time", () => {
    const talk = new Talk().start();
    const send = (): void => talk.reporter.tally.start({ ...at("a"), address: "10.0.0.1:80" }).finish("succeeded");
    send();
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ issued: 1, succeeded: 1 }))]);
    send();
    talk.ask({ ...all, endpoints: true });
    const counts = { issued: 1, succeeded: 1, failed: 0, inProgress: 0 };
    const endpoints = [{ address: "10.0.0.1:80", ...counts }];
    expect(talk.report()).toEqual([cluster("a", 10_000, locality({ ...counts, endpoints }))]);
  });

  test("wait until the one before left, and then tell everything", () => {
    const talk = new Talk().start();
    talk.fire();
    talk.reporter.tally.start(at("a")).finish("succeeded");
    expect(talk.fire()).toEqual([]);
    talk.now += 3_000;
    expect(talk.on({ kind: "report-sent", stream: talk.stream })).toEqual([
      {
        kind: "send-report",
        stream: 1,
        report: { node: undefined, clusters: [cluster("a", 13_000, locality({ issued: 1, succeeded: 1 }))] },
      },
      { kind: "start-timer", timer: 3, ms: 10_000 },
    ]);
  });
});

describe("C-LRS-05 another answer", () => {
  test("C-LRS-05 a cluster that was asked for before loses nothing, one that was not starts at zero", () => {
    const talk = new Talk().start(named("kept", "given up"));
    const send = (name: string): void => talk.reporter.tally.start(at(name)).finish("succeeded");
    const sendEach = (): void => ["kept", "given up", "new"].forEach(send);
    sendEach();
    talk.now += 4_000;
    talk.ask(named("kept", "new"));
    sendEach();
    const [one, two] = [locality({ issued: 1, succeeded: 1 }), locality({ issued: 2, succeeded: 2 })];
    expect(talk.report()).toEqual([cluster("kept", 14_000, two), cluster("new", 10_000, one)]);
  });

  test("C-LRS-05 so with all clusters, and back to some", () => {
    const talk = new Talk().start(named("a"));
    const send = (name: string): void => talk.reporter.tally.start(at(name)).finish("succeeded");
    send("a");
    talk.now += 1_000;
    talk.ask(all);
    send("b");
    talk.now += 1_000;
    talk.ask(all);
    talk.ask(named("a", "b"));
    const one = locality({ issued: 1, succeeded: 1 });
    expect(talk.timer?.ms).toBe(10_000);
    expect(talk.report()).toEqual([cluster("a", 12_000, one), cluster("b", 11_000, one)]);
  });

  test("a shorter interval counts from the last report; the same one again changes nothing", () => {
    const talk = new Talk().start();
    talk.now += 7_000;
    expect(talk.ask(all).map(({ kind }) => kind)).toEqual(["report"]);
    expect(talk.ask({ ...all, intervalMs: 8_000 }).slice(1)).toEqual([
      { kind: "cancel-timer", timer: 1 },
      { kind: "start-timer", timer: 2, ms: 1_000 },
    ]);
  });
});

describe("C-LRS-07 streams that end", () => {
  test("C-LRS-07 are opened again after a pause that doubles, and starts anew after an answer", () => {
    const talk = new Talk();
    talk.on({ kind: "reporting-started" });
    const pauses = [1, 2, 3, 4, 5].map(() => {
      const effects = talk.close();
      const ms = talk.timer?.ms;
      return [effects.length, ms, talk.fire()];
    });
    expect(pauses).toEqual([
      [2, 500, [{ kind: "open-stream", stream: 2 }]],
      [2, 1_000, [{ kind: "open-stream", stream: 3 }]],
      [2, 2_000, [{ kind: "open-stream", stream: 4 }]],
      [2, 4_000, [{ kind: "open-stream", stream: 5 }]],
      [2, 4_000, [{ kind: "open-stream", stream: 6 }]],
    ]);
    talk.open();
    talk.ask(all);
    expect(talk.close(0.5)).toEqual([
      { kind: "cancel-timer", timer: 6 },
      {
        kind: "report",
        report: {
          kind: "load-stream-ended",
          status: { code: 14, message: "gone" },
          wasAnswered: true,
          retryMs: 250,
        },
      },
      { kind: "start-timer", timer: 7, ms: 250 },
    ]);
  });

  test("C-LRS-05 C-LRS-07 lose no counts of what is asked for again, from the last report on", () => {
    const talk = new Talk().start();
    talk.reporter.tally.start(at("a")).finish("succeeded");
    talk.close();
    talk.reporter.tally.start(at("a"));
    talk.fire();
    talk.now += 1_500;
    talk.open();
    talk.ask(named("a"));
    expect(talk.report()).toEqual([cluster("a", 12_000, locality({ issued: 2, succeeded: 1, inProgress: 1 }))]);
  });

  test("what an old stream still says is nothing", () => {
    const talk = new Talk().start();
    talk.close();
    expect(talk.on({ kind: "request-received", stream: 1, request: all })).toEqual([]);
    expect(talk.on({ kind: "timer-fired", timer: 1 })).toEqual([]);
  });

  test("the end: nothing is sent, or waited for", () => {
    const talk = new Talk().start();
    expect(talk.on({ kind: "reporting-stopped" })).toEqual([
      { kind: "close-stream", stream: 1 },
      { kind: "cancel-timer", timer: 1 },
    ]);
    expect(talk.on({ kind: "stream-closed", stream: 1, status: { code: 1, message: "" } })).toEqual([]);
  });
});
