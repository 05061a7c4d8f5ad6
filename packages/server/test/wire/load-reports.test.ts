import type { LoadReportOptions, ManagementServerOptions } from "@xdskit/server";
import { afterEach, describe, expect, test } from "vitest";
import { type ApiDocument, mismatches } from "../support/json-schema.ts";
import { decoded, encoded } from "../support/messages.ts";
import { type RawCall, until, within } from "../support/raw-peer.ts";
import { cluster, startWorld, type World } from "../support/test-server.ts";

const V2 = "/envoy.service.load_stats.v2.LoadReportingService/StreamLoadStats";
const V3 = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";
const FEATURE = "envoy.lrs.supports_send_all_clusters";

let world: World;
let admin: string;
afterEach(() => world.close());

async function start(
  loadReports?: LoadReportOptions | false,
  options: Partial<ManagementServerOptions> = {},
): Promise<void> {
  world = await startWorld({ admin: {}, ...(loadReports !== undefined && { loadReports }), ...options }, [
    cluster("a"),
    cluster("b"),
  ]);
  admin = `http://127.0.0.1:${world.adminAddress?.port}`;
}

async function reporter(node: unknown, path = V3): Promise<RawCall> {
  const call = (await world.connect()).open(path);
  call.send(encoded("envoy.service.load_stats.v3.LoadStatsRequest", { node }));
  return call;
}

async function told(call: RawCall): Promise<unknown> {
  return decoded("envoy.service.load_stats.v3.LoadStatsResponse", await call.next());
}

function report(call: RawCall, ...clusterStats: readonly unknown[]): void {
  call.send(encoded("envoy.service.load_stats.v3.LoadStatsRequest", { clusterStats }));
}

function stats(clusterName: string, issued: number, more: object = {}): unknown {
  const locality = { region: "eu", zone: "one", subZone: "rack" };
  const counts = { totalIssuedRequests: issued, totalSuccessfulRequests: issued - 1, totalErrorRequests: 1 };
  const upstreamLocalityStats = [{ locality, ...counts, totalRequestsInProgress: 2 }];
  return { clusterName, loadReportInterval: "2s", upstreamLocalityStats, ...more };
}

async function get<T>(path: string): Promise<{ readonly items: readonly T[]; readonly total: number }> {
  const response = await fetch(`${admin}${path}`);
  const answer: unknown = await response.json();
  const document = (await (await fetch(`${admin}/api/v1/openapi.json`)).json()) as ApiDocument;
  expect([path, mismatches(document, path, response.status, answer)]).toEqual([path, []]);
  return answer as { items: T[]; total: number };
}

describe.each([
  ["v2", V2],
  ["v3", V3],
])("S-LRS load reports of %s", (_, path) => {
  test("S-LRS-02 S-LRS-03 the first message is answered: all clusters where that is understood, else those of the view", async () => {
    await start({ intervalMs: 5_000, endpoints: true });
    const modern = await reporter({ id: "modern", clientFeatures: [FEATURE] }, path);
    const common = { loadReportingInterval: "5s", reportEndpointGranularity: true };
    expect(await told(modern)).toEqual({ ...common, sendAllClusters: true });
    const old = await reporter({ id: "old" }, path);
    expect(await told(old)).toEqual({ ...common, clusters: ["a", "b"] });
    report(modern);
    report(old, stats("a", 3));
    await until("both have reported", () => modern.waiting + old.waiting === 0);
  });

  test("S-LRS-06 are added up by cluster, service and locality", async () => {
    await start();
    const one = await reporter({ id: "one", clientFeatures: [FEATURE] }, path);
    const two = await reporter({ id: "two", clientFeatures: [FEATURE] }, path);
    report(one, stats("a", 10), stats("b", 1));
    report(
      two,
      stats("a", 4, { totalDroppedRequests: 3, droppedRequests: [{ category: "throttle", droppedCount: 3 }] }),
    );
    report(two, stats("a", 2, { clusterServiceName: "other" }));
    const counts = { region: "eu", zone: "one", subZone: "rack", priority: 0, failed: 1, inProgress: 2, reporters: 1 };
    await expect
      .poll(() => get("/api/v1/loads"), { timeout: 5_000 })
      .toEqual({
        items: [
          {
            cluster: "a",
            dropped: 3,
            droppedBy: { throttle: 3 },
            lastReportAt: expect.any(String),
            localities: [{ ...counts, issued: 14, succeeded: 12, failed: 2, requestsPerSecond: 5 }],
          },
          {
            cluster: "b",
            dropped: 0,
            lastReportAt: expect.any(String),
            localities: [{ ...counts, issued: 1, succeeded: 0, requestsPerSecond: 0.5 }],
          },
          {
            cluster: "a",
            service: "other",
            dropped: 0,
            lastReportAt: expect.any(String),
            localities: [{ ...counts, issued: 2, succeeded: 1, requestsPerSecond: 1 }],
          },
        ],
        total: 3,
      });
  });
});

describe("S-LRS-02 what is asked for", () => {
  test("S-LRS-02 can be changed while clients report: they are told", async () => {
    await start();
    const call = await reporter({ id: "one", clientFeatures: [FEATURE] });
    expect(await told(call)).toEqual({ loadReportingInterval: "10s", sendAllClusters: true });
    world.server.setLoadReporting({ clusters: ["b"], intervalMs: 1_500 });
    expect(await told(call)).toEqual({ loadReportingInterval: "1.500s", clusters: ["b"] });
    world.server.setLoadReporting({ clusters: "all", intervalMs: undefined as never });
    expect(await told(call)).toEqual({ loadReportingInterval: "1.500s", sendAllClusters: true });
    world.server.setLoadReporting({ clusters: ["b"] });
    expect(await told(call)).toEqual({ loadReportingInterval: "1.500s", clusters: ["b"] });
    expect(() => world.server.setLoadReporting({ intervalMs: 999 })).toThrow(
      /intervalMs: expected a whole number from 1000 to/,
    );
    const [shown] = (await get("/api/v1/load-reporters")).items;
    expect(shown).toMatchObject({ node: { id: "one" }, reports: 1, asked: { clusters: ["b"], intervalMs: 1_500 } });
  });

  test("a server that takes none says so", async () => {
    await start(false);
    const call = await reporter({ id: "one" });
    expect(await within("the status", call.status)).toEqual({
      code: 12,
      message: "load reports are not taken here (load-reports.interval)",
    });
    expect(() => world.server.setLoadReporting({})).toThrow("expected a server that takes load reports");
  });

  test("an interval below a second is no option", async () => {
    await expect(start({ intervalMs: 0 })).rejects.toThrow(/loadReports.intervalMs/);
    await start();
  });
});

describe("a client that reports", () => {
  test("is in the metrics, with its in-progress requests until it is gone", async () => {
    await start();
    const events: string[] = [];
    world.server.on("load-reporter-connected", ({ node }) => events.push(`${node.id} opened`));
    world.server.on("load-reporter-disconnected", ({ node }) => events.push(`${node?.id} closed`));
    const call = await reporter({ id: "one", clientFeatures: [FEATURE] });
    report(call, stats("a", 10, { totalDroppedRequests: 1 }));
    const lines = async (): Promise<readonly string[]> =>
      (await (await fetch(`${admin}/metrics`)).text())
        .split("\n")
        .filter((line) => line.startsWith("xds_server_load_"));
    const labels = 'cluster="a",service="",locality="eu/one/rack"';
    await expect
      .poll(lines, { timeout: 5_000 })
      .toEqual([
        "xds_server_load_reporters 1",
        "xds_server_load_reports_total 2",
        "xds_server_load_left_out_total 0",
        `xds_server_load_requests_total{${labels},result="issued"} 10`,
        `xds_server_load_requests_total{${labels},result="succeeded"} 9`,
        `xds_server_load_requests_total{${labels},result="failed"} 1`,
        `xds_server_load_requests_in_progress{${labels}} 2`,
        'xds_server_load_dropped_total{cluster="a",service="",category=""} 1',
      ]);
    call.end();
    expect(await within("the status", call.status)).toEqual({ code: 0, message: "" });
    await until("it is gone", () => events.length === 2);
    expect(events).toEqual(["one opened", "one closed"]);
    expect(await lines()).toEqual(
      expect.arrayContaining(["xds_server_load_reporters 0", `xds_server_load_requests_in_progress{${labels}} 0`]),
    );
  });

  test("that sends what is no report is ended, and nobody else", async () => {
    await start();
    const good = await reporter({ id: "good", clientFeatures: [FEATURE] });
    const bad = await reporter({ id: "bad" });
    await told(bad);
    bad.send(Buffer.from([0x12, 0x05, 0x01]));
    expect(await within("the status", bad.status)).toMatchObject({ code: 3, message: /^not a load report: / });
    expect(await told(good)).toMatchObject({ sendAllClusters: true });
  });

  test("is one too many beyond the limit; so is what there is no room for", async () => {
    await start(undefined, { limits: { maxLoadReporters: 1, maxLoadEntries: 2 } });
    const hits: string[] = [];
    world.server.on("limit-hit", ({ limit }) => hits.push(limit));
    const one = await reporter({ id: "one", clientFeatures: [FEATURE] });
    await told(one);
    const two = await reporter({ id: "two" });
    expect(await within("the status", two.status)).toMatchObject({ code: 8, message: /maxLoadReporters/ });
    report(one, stats("a", 1), stats("b", 1));
    await until("it is told", () => hits.length === 2);
    expect(hits).toEqual(["maxLoadReporters", "maxLoadEntries"]);
    expect((await get<{ cluster: string }>("/api/v1/loads")).items.map(({ cluster: name }) => name)).toEqual(["a"]);
  });

  test("is sent away when the server drains", async () => {
    await start();
    const call = await reporter({ id: "one" });
    await told(call);
    const drained = world.server.drain({ graceMs: 0 });
    expect(await within("the status", call.status)).toMatchObject({ code: 14 });
    await drained;
  });
});
