import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as elapsed } from "node:timers/promises";
import { connectPeer } from "@xdskit/conformance";
import { encodeLoadReport } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import type { ServerAnswer } from "@xdskit/server";
import type { Browser, CDPSession, Page } from "playwright-core";
import { expect, test } from "vitest";
import { recordTasks, type Task } from "./support/main-thread.ts";
import { openPage, startBrowser } from "./support/page.ts";
import { describeWith, root } from "./support/peers.ts";
import { startProcess } from "./support/process.ts";
import { startFleet } from "./support/simulated-fleet.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";
import { until } from "./support/wait.ts";

// A console that stays open while 100 changes a second reach the fleet. `XDS_CONSOLE_MINUTES=10` is the long form: the
// console is open for so many minutes, and cut off for as long; its figures are in docs/benchmarks.md. What the page and
// the server do is measured in processor time, because other programs may share the machine.

const MINUTES = Number(process.env["XDS_CONSOLE_MINUTES"] ?? "0");
const NODES = MINUTES > 0 ? 5_000 : 500;
const GROUPS = NODES / 10;
const LOADS = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";
const REPORTED_CLUSTERS = 100;
const TICKS_PER_SECOND = 100;

/**
 * Each page is open for so long, and the console is cut off from the server for as long before or after it. What a ledger
 * costs every 70 s when it is compacted, and other programs, is far more than a console: so there are many short pairs,
 * and the cost is the median of their differences.
 */
const OPEN_MS = MINUTES > 0 ? 10_000 : 1_200;
const CLOSED_MS = MINUTES > 0 ? 10_000 : 300;

/**
 * In the long form the server has a core, and the page and the fleet have the other: a page that is drawn beside a server
 * makes all that the server does slower, which is no work of the server.
 */
const SERVER_CORE = "0";
const OTHER_CORE = "1";

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const MAX_TASK_MS = 100;
const MAX_COST = 0.03;
const MAX_GROWTH_MB = 3;

const visits = [
  ["Overview", "#/", "h1:has-text('Overview')"],
  ["Nodes", "#/nodes", "[role=table] .row a"],
  ["node", "#/node?id=node-00007", "h1:has-text('node-00007')"],
  ["Revisions", "#/revisions?kind=all", ".timeline .entry"],
  ["Resources", "#/resources", "[role=table] .row a"],
  [
    "resource",
    `#/resource?type=${encodeURIComponent(CLUSTER)}&name=service-7-0`,
    "[aria-label='References around this resource']",
  ],
  ["Traffic", "#/traffic", "table tbody tr"],
] as const;

/** Tours of all pages. */
const ROUNDS = MINUTES > 0 ? Math.ceil((MINUTES * 60_000) / OPEN_MS / visits.length) : 1;

describeWith("chromium", "a console that stays open at 100 changes a second", () => {
  test(`it stays responsive, its memory flat, and it costs the server little: ${NODES} nodes`, {
    timeout: (2 * MINUTES + 10) * 60_000,
  }, async () => {
    if (MINUTES > 0) execFileSync("taskset", ["-apc", OTHER_CORE, String(process.pid)]);
    await using stack = createStack();
    const server = await startServer(stack);
    const browser = stack.use(await startBrowser());
    const proxy = stack.use(await startTcpProxy(server.adminPort));
    const { page } = stack.use(await openPage(browser));
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Performance.enable");
    await page.goto(`http://127.0.0.1:${proxy.port}/console/`);
    await page.getByText("live", { exact: true }).waitFor();
    server.start();
    await reportLoads(stack, server.port);

    const rounds: Round[] = [];
    const figures: Memory[] = [];
    const cutOff = async (): Promise<number> => {
      proxy.refuse(true);
      proxy.cut();
      const before = server.reading();
      await elapsed(CLOSED_MS);
      const share = server.since(before);
      proxy.refuse(false);
      await page.getByText("live", { exact: true }).waitFor();
      return share;
    };
    for (let round = 0; round < ROUNDS; round++) {
      const pairs: Pair[] = [];
      for (const [index, place] of visits.entries()) {
        // What the server does changes slowly: neither part is always the first.
        const closedFirst = (round + index) % 2 === 0 ? undefined : await cutOff();
        const before = server.reading();
        const visit = await show(place, { browser, page, proxy });
        const open = server.since(before);
        pairs.push({ open, closed: closedFirst ?? (await cutOff()), visit });
      }
      figures.push(await memoryOf(page, devtools));
      rounds.push({ pairs });
      report(round, rounds[round], figures[round]);
    }
    const differences = rounds.flatMap(({ pairs }) => pairs.map(({ open, closed }) => open - closed));
    const cost = quantile(differences, 0.5);
    const worst = Math.max(...rounds.flatMap(({ pairs }) => pairs.map(({ visit }) => visit.cpuMs)));
    const [first, last] = [figures[Math.min(1, figures.length - 1)], figures.at(-1)];
    const growth = (last?.heapMb ?? 0) - (first?.heapMb ?? 0);
    const made = await server.number();
    console.log(
      `cost ${percent(cost)} of a core (quartiles ${percent(quantile(differences, 0.25))} and ${percent(quantile(differences, 0.75))}, mean ${percent(mean(differences))}); longest task ${worst.toFixed(0)} ms of processor time; heap grew by ${growth.toFixed(1)} MB; ${made} changes`,
    );
    await page.getByRole("link", { name: "Traffic" }).click();
    await page.locator("table tbody tr").first().waitFor();
    expect(await page.locator("table tbody tr").count()).toBe(100);
    expect(worst).toBeGreaterThan(0);
    // The short form runs on machines of any speed, and its first page compiles the code of all.
    expect(worst).toBeLessThan(MINUTES > 0 ? MAX_TASK_MS : 3 * MAX_TASK_MS);
    expect(growth).toBeLessThan(MAX_GROWTH_MB);
    // Half a minute is too short to tell the cost from the noise.
    if (MINUTES > 0) expect(cost).toBeLessThan(MAX_COST);
  });
});

interface Round {
  readonly pairs: readonly Pair[];
}

/** A page that is open, and the console cut off. */
interface Pair {
  /** Processor time of the server, as a share of a core. */
  readonly open: number;
  readonly closed: number;
  readonly visit: Visit;
}

/** A page that was shown for a while. */
interface Visit {
  readonly title: string;
  /** Milliseconds from a click to the content. */
  readonly shownMs: number;
  /** The longest task of the page: its processor time, and by the clock. */
  readonly cpuMs: number;
  readonly clockMs: number;
  /** What the server sent. */
  readonly bytesPerSecond: number;
}

interface Memory {
  readonly heapMb: number;
  readonly elements: number;
  readonly listeners: number;
}

interface Server {
  readonly port: number;
  readonly adminPort: number;
  start(): void;
  reading(): Reading;
  /** The share of a core since then. */
  since(before: Reading): number;
  number(): Promise<number>;
}

interface Reading {
  readonly ticks: number;
  readonly at: number;
}

/** The server with all nodes connected, each in sync. */
async function startServer(stack: Stack): Promise<Server> {
  const program = join(root, "packages/bench/dist/console/server.js");
  const onItsCore = MINUTES > 0 ? ["taskset", "-c", SERVER_CORE] : [];
  const command = [...onItsCore, process.execPath, program, `${GROUPS}`];
  const started = stack.use(await startProcess(command).then(disposable));
  const { value } = await until({ says: "the server listens", withinMs: 60_000 }, () => {
    const line = started
      .log()
      .split("\n")
      .find((one) => one.includes('"listening"'));
    return line === undefined ? undefined : (JSON.parse(line) as { port: number; adminPort: number });
  });
  const { port, adminPort } = value;
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    id: `node-${String(index).padStart(5, "0")}`,
    cluster: `group-${index % GROUPS}`,
    userAgentName: "envoy",
    userAgentVersion: ["1.39.0", "1.38.2", "1.34.1"][index % 3] ?? "",
  }));
  stack.use(await startFleet({ port, nodes, routesOf: () => [] }));
  const ask = async (path: string): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${adminPort}/api/v1/${path}`)).json();
  await until({ says: "all nodes ACKed everything", withinMs: 120_000, everyMs: 500 }, async () => {
    const { total } = (await ask("nodes?state=acked&limit=0")) as { total: number };
    return total === NODES;
  });
  const reading = (): Reading => {
    const fields = readFileSync(`/proc/${started.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return { ticks: Number(fields[11]) + Number(fields[12]), at: performance.now() };
  };
  return {
    port,
    adminPort,
    start: () => void started.stdin.write("start\n"),
    reading,
    since(before) {
      const now = reading();
      return (now.ticks - before.ticks) / TICKS_PER_SECOND / ((now.at - before.at) / 1_000);
    },
    number: async () => ((await ask("server")) as ServerAnswer).ledger?.number ?? 0,
  };
}

function disposable<T extends { kill(): Promise<void> }>(started: T): T & AsyncDisposable {
  return Object.assign(started, { [Symbol.asyncDispose]: () => started.kill() });
}

/** A client reports the load of clusters, every two seconds. */
async function reportLoads(stack: Stack, port: number): Promise<void> {
  const peer = await connectPeer({ address: `127.0.0.1:${port}` });
  stack.use({ [Symbol.asyncDispose]: () => peer.close() });
  const stream = peer.open(LOADS);
  const node = { ...anonymousNode, id: "node-00000", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] };
  stream.send(encodeLoadReport("v3", { node, clusters: [] }));
  await stream.messages[Symbol.asyncIterator]().next();
  const clusters = Array.from({ length: REPORTED_CLUSTERS }, (_, index) => loadOf(`service-${index}-0`));
  const send = (): void => stream.send(encodeLoadReport("v3", { node: undefined, clusters }));
  send();
  const timer = setInterval(send, 2_000);
  stack.use({ [Symbol.dispose]: () => clearInterval(timer) });
}

function loadOf(cluster: string): Parameters<typeof encodeLoadReport>[1]["clusters"][number] {
  const counts = { issued: 90, failed: 1, succeeded: 89, inProgress: 7 };
  const connections = { activeConnections: 0, newConnections: 0, failedConnections: 0 };
  const localities = ["a", "b", "c"].map((zone) => ({
    locality: { region: "eu-central", zone, subZone: "" },
    ...{ priority: 0, ...counts, ...connections, metrics: [], endpoints: [] },
  }));
  return { cluster, service: "", intervalMs: 2_000, dropped: 0, droppedBy: [], localities };
}

/** Shows a page for a while. */
async function show(
  [title, hash, content]: (typeof visits)[number],
  { browser, page, proxy }: { readonly browser: Browser; readonly page: Page; readonly proxy: TcpProxy },
): Promise<Visit> {
  const recording = await recordTasks(browser);
  proxy.take();
  const begin = performance.now();
  const link = page.getByRole("navigation").getByRole("link", { name: title, exact: true });
  if ((await link.count()) > 0) await link.click();
  else await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.locator(content).first().waitFor();
  const shownMs = performance.now() - begin;
  await elapsed(Math.max(0, begin + OPEN_MS - performance.now()));
  const bytesPerSecond = proxy.take().fromServer / ((performance.now() - begin) / 1_000);
  const tasks = await recording.stop();
  const longest = (read: (task: Task) => number): number => Math.max(0, ...tasks.map(read));
  const [cpuMs, clockMs] = [longest((task) => task.cpuMs), longest((task) => task.ms)];
  return { title, shownMs, cpuMs, clockMs, bytesPerSecond };
}

/** After garbage collection. */
async function memoryOf(page: Page, devtools: CDPSession): Promise<Memory> {
  // Each round is measured at the same page.
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await devtools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devtools.send("Performance.getMetrics");
  const read = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { heapMb: read("JSHeapUsedSize") / 1e6, elements: read("Nodes"), listeners: read("JSEventListeners") };
}

function report(round: number, measured: Round | undefined, memory: Memory | undefined): void {
  if (measured === undefined || memory === undefined) return;
  const { heapMb, elements, listeners } = memory;
  const pages = measured.pairs.map(({ open, closed, visit }) => {
    const { title, shownMs, cpuMs, clockMs, bytesPerSecond } = visit;
    const task = `longest task ${cpuMs.toFixed(0)} ms (${clockMs.toFixed(0)} ms by the clock)`;
    const shown = `shown after ${shownMs.toFixed(0)} ms, ${task}, ${(bytesPerSecond / 1e3).toFixed(0)} kB/s`;
    return `  ${title}: open ${percent(open)}, closed ${percent(closed)}; ${shown}`;
  });
  const heap = `heap ${heapMb.toFixed(1)} MB, ${elements} nodes, ${listeners} listeners`;
  console.log([`round ${round + 1}: ${heap}`, ...pages].join("\n"));
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;

function quantile(all: readonly number[], share: number): number {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
