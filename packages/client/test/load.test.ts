import type { LoadReport, Resource } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Cluster, type LoadReporting, type XdsClient, type XdsClientOptions } from "../src/index.ts";
import { bootstrap, read, type Served, serveWith, start } from "./support/own-server.ts";
import { server as serverAt } from "./support/sources.ts";
import { until } from "./support/until.ts";

const FEATURE = "envoy.lrs.supports_send_all_clusters";

/** A server that asks for load reports. */
interface Asking extends Served {
  /** Reports with their nodes, as they came. */
  readonly reports: readonly LoadReport[];
  /** What the admin API says of the load of clusters. */
  loads(): Promise<unknown>;
  reporters(): Promise<number>;
}

async function serve({ port = 0, puts = [] as readonly Resource[] } = {}): Promise<Asking> {
  const loadReports = { intervalMs: 1_000, endpoints: true, clusters: "all" } as const;
  const served = await serveWith({ listen: { port }, admin: {}, loadReports }, ...puts);
  const reports: LoadReport[] = [];
  served.server.on("load-reported", ({ report }) => reports.push(report));
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${served.adminPort}${path}`);
    return (await response.json()) as T;
  };
  return {
    ...served,
    reports,
    loads: async () => (await get<{ items: unknown }>("/api/v1/loads")).items,
    reporters: async () => (await get<{ total: number }>("/api/v1/load-reporters")).total,
  };
}

/** Starts a client of a server on this machine. */
function startAt(port: number, options: XdsClientOptions = {}): Promise<XdsClient> {
  return start({ server: `127.0.0.1:${port}`, ...options });
}

/** An `ApiConfigSource` of a cluster of the bootstrap. */
function adsOf(cluster_name: string): object {
  return { api_type: "GRPC", transport_api_version: "V3", grpc_services: [{ envoy_grpc: { cluster_name } }] };
}

/** Sends requests that end at once. */
function send(load: LoadReporting, cluster: string, good: number, bad: number): void {
  for (let i = 0; i < good; i++) load.start({ cluster, locality: { region: "eu" } }).succeed();
  for (let i = 0; i < bad; i++) load.start({ cluster, locality: { region: "eu" } }).fail();
}

async function asked(load: LoadReporting, served: Asking): Promise<LoadReporting> {
  // What is sent before the server asked is not counted, so that this one is seen only afterwards.
  await expect
    .poll(
      async () => {
        load.start({ cluster: "probe" }).succeed();
        return JSON.stringify(await served.loads());
      },
      { timeout: 5_000 },
    )
    .toContain("probe");
  return load;
}

/** Of the moment, and not of what was counted. */
const passing = { reporters: expect.any(Number), requestsPerSecond: expect.any(Number) };
const eu = { region: "eu", zone: "", subZone: "", priority: 0, inProgress: 0, ...passing };

describe.each(["v3", "v2"] as const)("load reports of %s", (apiVersion) => {
  test("C-LRS-01 C-LRS-04 the server's sums are what was counted: drops, metrics, endpoints, what is in progress", async () => {
    const startedAt = performance.now();
    const served = await serve();
    const client = await startAt(served.port, { transport: { apiVersion } });
    const load = await asked(client.reportLoad(), served);
    expect(served.reports[0]).toMatchObject({
      node: { id: "test", clientFeatures: expect.arrayContaining([FEATURE]) },
    });
    expect(served.reports[0]?.clusters).toEqual([]);
    expect(served.reports[1]?.node).toEqual(undefined);
    const place = { cluster: "a", service: "svc", locality: { region: "eu" }, address: "10.0.0.1:80" };
    load.start(place).succeed({ cpu_utilization: 0.5, queue: 3 });
    const failing = load.start(place);
    failing.fail();
    failing.succeed();
    const open = load.start(place);
    load.drop({ cluster: "a", service: "svc" }, "throttle");
    load.drop({ cluster: "a", service: "svc" });
    const sums = (inProgress: number, succeeded: number): unknown =>
      expect.arrayContaining([
        {
          cluster: "a",
          service: "svc",
          dropped: 2,
          droppedBy: { throttle: 1 },
          lastReportAt: expect.any(String),
          localities: [
            {
              ...{ ...eu, issued: 3, succeeded, failed: 1, inProgress },
              metrics: {
                cpu_utilization: { requests: 1, total: 0.5 },
                queue: { requests: 1, total: 3 },
              },
              endpoints: { "10.0.0.1:80": { issued: 3, succeeded, failed: 1 } },
            },
          ],
        },
      ]);
    await expect.poll(() => served.loads(), { timeout: 5_000 }).toEqual(sums(1, 1));
    open.succeed();
    await expect.poll(() => served.loads(), { timeout: 5_000 }).toEqual(sums(0, 2));
    const [report] = served.reports.slice(-1);
    const passedMs = performance.now() - startedAt;
    // A timer of Node may be a millisecond early, and its clock is rounded.
    expect(report?.clusters.map(({ intervalMs }) => intervalMs).filter((ms) => ms < 998 || ms > passedMs)).toEqual([]);
  });
});

test("C-LRS-05 C-LRS-07 a server that goes and comes back gets what was counted since it left; then nothing twice", async () => {
  const first = await serve();
  const client = await startAt(first.port);
  const ended: unknown[] = [];
  const load = client.reportLoad({ onReport: (report) => void ended.push(report.kind) });
  await asked(load, first);
  send(load, "a", 2, 1);
  await expect.poll(async () => JSON.stringify(await first.loads()), { timeout: 5_000 }).toContain('"cluster":"a"');
  await first.server.close();
  await until("the end is told", () => ended.includes("load-stream-ended"));
  send(load, "a", 3, 2);
  const second = await serve({ port: first.port });
  const counts = { issued: 5, succeeded: 3, failed: 2 };
  const sums = expect.arrayContaining([
    { cluster: "a", dropped: 0, lastReportAt: expect.any(String), localities: [{ ...eu, ...counts }] },
  ]);
  await expect.poll(() => second.loads(), { timeout: 5_000 }).toEqual(sums);
  const count = second.reports.length;
  await until("another report came", () => second.reports.length > count);
  expect(await second.loads()).toEqual(sums);
});

test("whoever reports to one server shares a stream, which ends with the last of them", async () => {
  const served = await serve();
  const client = await startAt(served.port);
  const [one, two] = [client.reportLoad(), client.reportLoad()];
  await asked(one, served);
  expect(await served.reporters()).toBe(1);
  send(two, "shared", 1, 0);
  one.close();
  one.close();
  one.start({ cluster: "closed" }).succeed();
  one.drop("closed");
  await expect.poll(async () => JSON.stringify(await served.loads()), { timeout: 5_000 }).toContain("shared");
  expect(JSON.stringify(await served.loads())).not.toContain("closed");
  two.close();
  await expect.poll(() => served.reporters(), { timeout: 5_000 }).toBe(0);
});

test("C-LRS-01 a cluster says where it wants its load to be reported", async () => {
  const resource = (json: object): Resource => read({ "@type": Cluster.typeUrl, type: "STATIC", ...json });
  const puts = [
    resource({ name: "self", lrsServer: { self: {} } }),
    resource({ name: "none" }),
    resource({ name: "file", lrsServer: { pathConfigSource: { path: "/tmp/x" } } }),
  ];
  const served = await serve({ puts });
  const client = await startAt(served.port);
  const reportLoadOf = async (name: string): Promise<LoadReporting> =>
    client.reportLoad({ cluster: await client.get(Cluster, name) });
  const none = await reportLoadOf("none");
  expect(none.server).toBeUndefined();
  send(none, "none", 1, 1);
  none.drop("none");
  none.connect({ cluster: "none" }).succeed();
  none.close();
  await expect(reportLoadOf("file")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  const self = await reportLoadOf("self");
  expect(self.server?.target).toBe(`127.0.0.1:${served.port}`);
  await asked(self, served);
  expect(await served.reporters()).toBe(1);
  expect(JSON.stringify(await served.loads())).not.toContain("none");
});

test("C-LRS-01 what a Cluster leaves to the client's options is theirs: AUTO is the version that they say", async () => {
  const api_config_source = { api_type: "GRPC", grpc_services: [{ envoy_grpc: { cluster_name: "live" } }] };
  const json = { "@type": Cluster.typeUrl, name: "c", type: "STATIC", lrs_server: { api_config_source } };
  const served = await serve({ puts: [read(json)] });
  const client = await start({
    bootstrap: bootstrap(served.port, { cds_config: { ads: {} }, ads_config: adsOf("live") }),
    reading: { autoVersion: "v2" },
  });
  const cluster = await client.get("type.googleapis.com/envoy.config.cluster.v3.Cluster", "c");
  const ended: unknown[] = [];
  const load = client.reportLoad({ cluster, onReport: (report) => void ended.push(report.kind) });
  await asked(load, served);
  load.connect({ cluster: "c" }).succeed();
  send(load, "c", 1, 0);
  await expect.poll(async () => JSON.stringify(await served.loads()), { timeout: 5_000 }).toContain('"cluster":"c"');
  // Connections have no place in v2.
  expect(JSON.stringify(await served.loads())).not.toContain("connections");
});

test("an Envoy's load goes to its load_stats_config; without one, to the server of the client", async () => {
  const served = await serve();
  const boot = { ...bootstrap(served.port, { ads_config: adsOf("dead"), cds_config: { ads: {} } }) };
  const cluster_manager = { load_stats_config: adsOf("live") };
  const client = await start({ bootstrap: { ...boot, cluster_manager } });
  const load = await asked(client.reportLoad(), served);
  expect(load.server?.name).toBe("live");
  const without = await start({ bootstrap: boot });
  expect(without.reportLoad().server?.name).toBe("dead");
});

test("C-LRS-04 connections are reported as a program tells of them: up, failed, and those that are up", async () => {
  const served = await serve();
  const client = await startAt(served.port);
  const load = await asked(client.reportLoad(), served);
  const place = { cluster: "a", locality: { region: "eu" } };
  const [up, closed, failed] = [load.connect(place), load.connect(place), load.connect(place)];
  up.succeed();
  up.succeed();
  closed.succeed();
  closed.close();
  closed.close();
  failed.fail();
  failed.succeed();
  failed.close();
  const sums = expect.arrayContaining([
    expect.objectContaining({
      cluster: "a",
      localities: [expect.objectContaining({ connections: { active: 1, new: 2, failed: 1 } })],
    }),
  ]);
  await expect.poll(() => served.loads(), { timeout: 5_000 }).toEqual(sums);
});

test("where nobody listens it is tried again, quietly; a client that is closed reports nothing", async () => {
  const client = await startAt(1);
  const told: string[] = [];
  const load = client.reportLoad({
    server: serverAt(1),
    onReport: (report) => void told.push(report.kind),
  });
  send(load, "a", 1, 0);
  await until("it was tried three times", () => told.length >= 3);
  expect(new Set(told)).toEqual(new Set(["load-stream-ended"]));
  await client.close();
  const count = told.length;
  load.close();
  expect(() => client.reportLoad()).toThrow(expect.objectContaining({ code: "CLOSED" }));
  expect(told.length).toBe(count);
});
