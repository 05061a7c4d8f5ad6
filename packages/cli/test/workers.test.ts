import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Cluster, createXdsClient, type XdsClient } from "@xdskit/client";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import type { NodesAnswer, ReplicasAnswer, ServerAnswer } from "@xdskit/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { type RawCall, RawPeer } from "../../server/test/support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, sotwRequest } from "../../server/test/support/test-server.ts";
import { EtcdMember } from "../../store-etcd/test/support/etcd.ts";
import { exitCode } from "../src/exit-code.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site, until } from "./serving.ts";

const command = fileURLToPath(new URL("../bin/xds.js", import.meta.url));

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** The preface of a client, and its empty SETTINGS frame. */
const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");

/** `xds serve` with worker processes. */
class Divided {
  readonly child: ChildProcess;
  #text = "";
  address = "";
  admin = "";

  private constructor(argv: readonly string[]) {
    this.child = spawn(process.execPath, [command, ...argv], { stdio: ["ignore", "pipe", "pipe"] });
    for (const output of [this.child.stdout, this.child.stderr])
      output?.on("data", (chunk: Buffer) => {
        this.#text += chunk.toString();
      });
  }

  /** Does not wait until it is ready. */
  static begin(directory: string, ...flags: readonly string[]): Divided {
    const listen = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--validation", "off"];
    return new Divided(["serve", directory, ...listen, ...flags]);
  }

  static async start(directory: string, ...flags: readonly string[]): Promise<Divided> {
    const divided = Divided.begin(directory, "--workers", "2", ...flags);
    await until("it is ready", () => divided.logged("ready").length === 1 && divided.logged("serving").length === 1);
    const [{ address, admin } = {}] = divided.logged("serving");
    divided.address = String(address);
    divided.admin = String(admin);
    return divided;
  }

  logged(event: string): readonly Readonly<Record<string, unknown>>[] {
    const lines = this.#text.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
    return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
  }

  async ask<T>(path: string): Promise<T> {
    return (await (await fetch(`http://${this.admin}${path}`)).json()) as T;
  }

  async workers(): Promise<NonNullable<ServerAnswer["workers"]>> {
    return (await this.ask<ServerAnswer>("/api/v1/server")).workers ?? [];
  }

  async pids(): Promise<readonly number[]> {
    return (await this.workers()).map(({ pid = 0 }) => pid);
  }

  /** The sum of a metric over its labels, or of one line of it. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://${this.admin}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  async xds(...argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const io = new CapturedIo({ env: { XDS_SERVER: this.address, XDS_ADMIN_SERVER: this.admin } });
    const code = await run(argv, io);
    return { code, stdout: io.stdout.text, stderr: io.stderr.text };
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await exited;
  }
}

interface Subscribed {
  readonly client: XdsClient;
  readonly names: () => readonly string[];
}

let site: Site;
let state: Site;
let divided: Divided;
const clients: XdsClient[] = [];

beforeEach(async () => {
  site = await Site.make({ "a.yaml": clusters("one") });
  state = await Site.make();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await divided.kill();
  await site.remove();
  await state.remove();
});

async function start(...flags: readonly string[]): Promise<void> {
  divided = await Divided.start(site.directory, "--state-dir", state.directory, ...flags);
}

/** A node with all clusters, on a connection of its own. */
async function connect(
  node: string,
  transport: { readonly variant?: "sotw" | "delta"; readonly isAggregated?: boolean } = {},
): Promise<Subscribed> {
  const client = await createXdsClient({ server: divided.address, node, transport });
  clients.push(client);
  const watch = client.watch(Cluster, "*", { onChange: () => undefined });
  const names = (): readonly string[] => [...watch.current.keys()].sort();
  await until(`${node} has clusters`, () => names().length > 0);
  return { client, names };
}

/** Four nodes, of which each worker serves two. */
async function connectFour(): Promise<readonly Subscribed[]> {
  return [
    await connect("sotw-ads", { variant: "sotw" }),
    await connect("delta-ads", { variant: "delta" }),
    await connect("sotw-cds", { variant: "sotw", isAggregated: false }),
    await connect("delta-cds", { variant: "delta", isAggregated: false }),
  ];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("two workers share the clients, and a change reaches all of them in every variant", async () => {
  await start();
  const four = await connectFour();
  expect((await divided.workers()).map(({ worker, connections, streams }) => [worker, connections, streams])).toEqual([
    [1, 2, 2],
    [2, 2, 2],
  ]);
  await site.write("a.yaml", clusters("one", "two"));
  for (const { names } of four) await until("it has the change", () => names().length === 2);
  expect(four.map(({ names }) => names())).toEqual(four.map(() => ["one", "two"]));
  // The change is told once, by the process that made it.
  expect(divided.logged("ledger-recorded").map(({ number }) => number)).toEqual([1, 2]);
  expect(divided.logged("committed").map(({ transaction }) => transaction)).toEqual([1, 2]);
});

test("the admin API answers for the clients of all workers", async () => {
  await start();
  await connectFour();
  const ids = ["delta-ads", "delta-cds", "sotw-ads", "sotw-cds"];
  const nodes = await divided.ask<NodesAnswer>("/api/v1/nodes");
  expect([nodes.items.map(({ id }) => id), nodes.total, nodes.next]).toEqual([ids, 4, undefined]);
  const second = await divided.ask<NodesAnswer>("/api/v1/nodes?offset=1&limit=2");
  expect([second.items.map(({ id }) => id), second.total, second.next]).toEqual([ids.slice(1, 3), 4, 3]);
  const streams = nodes.items.flatMap((node) => node.streams.map(({ stream }) => stream));
  expect(new Set(streams).size).toBe(4);
  const asked = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const status = await fetch(`http://${divided.address}/v3/discovery:client_status`, asked);
  const { config } = (await status.json()) as { config: readonly { node: { id: string } }[] };
  expect(config.map(({ node }) => node.id).sort()).toEqual(ids);
  const waited = await divided.xds("wait", "--min-nodes", "4", "--timeout", "20s");
  expect(waited.code).toBe(0);
  const more = await divided.ask("/api/v1/progress/head?min-nodes=5&wait=1");
  expect(more).toMatchObject({ state: "too-few-nodes", nodes: 4, deployed: 4 });
  await site.write("a.yaml", clusters("one", "two"));
  expect((await divided.xds("wait", "--source", "--min-nodes", "4", "--timeout", "20s")).code).toBe(0);
  expect(await divided.ask("/api/v1/progress/head")).toMatchObject({ revision: 2, nodes: 4, deployed: 4 });
  expect([await divided.metric("xds_server_nodes"), await divided.metric("xds_server_streams_active")]).toEqual([4, 4]);
  expect([await divided.metric("xds_server_workers"), await divided.metric("xds_server_revision")]).toEqual([2, 2]);
  const { stdout: shown } = await divided.xds("status");
  expect(shown).toMatch(/revision +2: 4 of 4 nodes have it/);
  expect(shown).toMatch(/workers +2 of 2 ready/);
  for (const id of ids) {
    const { code, stdout } = await divided.xds("get", "cds", "--node", id);
    expect([code, stdout.match(/^name: .*$/gm)?.sort()]).toEqual([0, ["name: one", "name: two"]]);
    await until("its past is known", async () => {
      const { items } = await divided.ask<{ items: readonly { number: number }[] }>(`/api/v1/nodes/${id}/history`);
      return items[0]?.number === 2;
    });
  }
  const holders = await divided.ask<NodesAnswer>("/api/v1/holders?type=cds&name=two");
  expect(holders.items).toMatchObject(ids.map((node) => ({ node, status: "acked" })));
});

test("clients of a killed worker go on at the others, and a new one takes its share with the state of now", async () => {
  await start();
  const four = await connectFour();
  const [first] = await divided.workers();
  process.kill(first?.pid ?? 0, "SIGKILL");
  await until("it is told", () => divided.logged("worker-ended").length === 1);
  expect(divided.logged("worker-ended")[0]).toMatchObject({ worker: 1, pid: first?.pid, how: "SIGKILL" });
  await site.write("a.yaml", clusters("one", "two"));
  for (const { names } of four) await until("it has the change", () => names().length === 2);
  await until("there are two again", () => divided.logged("worker-ready").length === 3);
  const later = await connect("later");
  expect(later.names()).toEqual(["one", "two"]);
  expect(await divided.metric("xds_server_worker_ends_total")).toBe(1);
  await until("five nodes are known", async () => (await divided.ask<NodesAnswer>("/api/v1/nodes")).total === 5);
}, 120_000);

test.skipIf(!hasPrlimit)(
  "a worker that cannot be started for want of file descriptors is tried again, and the server can end meanwhile",
  async () => {
    await start();
    const { child } = divided;
    const openFiles = (most: number): void =>
      void execFileSync("prlimit", ["--pid", String(child.pid), `--nofile=${most}:`]);
    const [first] = await divided.workers();
    openFiles(3);
    process.kill(first?.pid ?? 0, "SIGKILL");
    const ends = (): readonly unknown[] => divided.logged("worker-ended").map(({ how }) => how);
    await until("it was tried", () => ends().length >= 2);
    expect(ends().slice(0, 2)).toEqual(["SIGKILL", `spawn ${process.execPath} EMFILE`]);
    openFiles(1_024);
    await until("it is back", () => divided.logged("worker-ready").length === 3);
    const [again] = await divided.workers();
    const before = ends().length;
    openFiles(3);
    process.kill(again?.pid ?? 0, "SIGKILL");
    await until("it was tried again", () => ends().length >= before + 2);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  },
  120_000,
);

test("a worker that does not answer is left out, and gets no new connections, until it answers again", async () => {
  await start();
  await connectFour();
  const [first] = await divided.workers();
  process.kill(first?.pid ?? 0, "SIGSTOP");
  // It is asked before it counts as unresponsive.
  const nodes = await divided.ask<NodesAnswer>("/api/v1/nodes");
  expect([nodes.total, nodes.unresponsiveWorkers]).toEqual([2, [1]]);
  expect(divided.logged("worker-unresponsive")).toMatchObject([{ worker: 1, pid: first?.pid }]);
  expect((await divided.workers()).map(({ state }) => state)).toEqual(["unresponsive", "ready"]);
  expect((await divided.xds("status")).stdout).toMatch(/workers +1 of 2 ready \(worker 1 does not answer\)/);
  expect((await divided.xds("nodes")).stderr).toBe("xds: worker 1 does not answer: nodes may be missing\n");
  expect(await divided.metric("xds_server_workers")).toBe(1);
  const waited = await divided.xds("wait", "--timeout", "0s");
  expect([waited.code, waited.stdout]).toEqual([exitCode.timeout, expect.stringContaining("worker 1 does not answer")]);
  // More than the other worker has.
  for (const node of ["a", "b", "c"]) await connect(node);
  process.kill(first?.pid ?? 0, "SIGCONT");
  await until("it answers again", () => divided.logged("worker-responsive").length === 1);
  expect((await divided.ask<NodesAnswer>("/api/v1/nodes")).total).toBe(7);
  expect(divided.logged("worker-ended")).toEqual([]);
}, 60_000);

test("workers that are suspended with their primary are not to blame", async () => {
  await start();
  const pids = [divided.child.pid ?? 0, ...(await divided.pids())];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  for (const pid of pids) process.kill(pid, "SIGCONT");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(divided.logged("worker-unresponsive")).toEqual([]);
}, 60_000);

test("connections that queue for a worker that ends go to another", async () => {
  await start();
  const [first] = await divided.workers();
  process.kill(first?.pid ?? 0, "SIGSTOP");
  const [host = "", port] = divided.address.split(":");
  let served = 0;
  const sockets = Array.from({ length: 8 }, () => {
    const socket = connectSocket(Number(port), host, () => socket.write(HTTP2_PREFACE));
    socket.on("error", () => undefined);
    return socket.once("data", () => served++);
  });
  await until("the other worker serves its share", () => served === 4);
  process.kill(first?.pid ?? 0, "SIGKILL");
  // One was on its way.
  await until("those that waited are served", () => served >= 7);
  for (const socket of sockets) socket.destroy();
}, 60_000);

test("SIGHUP replaces the workers one by one, with the settings of now", async () => {
  await start();
  const before = await divided.pids();
  const four = await connectFour();
  await site.write("xdskit.yaml", "control-plane: renamed\nlimits: { max-types-per-stream: 7 }\n");
  await until("it is said", () => divided.logged("settings-changed").length === 1);
  const settings = "control-plane,limits.max-types-per-stream";
  expect(divided.logged("settings-changed")).toMatchObject([{ settings, apply_with: "SIGHUP" }]);
  divided.child.kill("SIGHUP");
  await until("they are replaced", () => divided.logged("workers-restarted").length === 1);
  const after = await divided.pids();
  expect((await divided.workers()).map(({ worker, state }) => [worker, state])).toEqual([
    [1, "ready"],
    [2, "ready"],
  ]);
  expect(before.map(isAlive)).toEqual([false, false]);
  const { limits } = await divided.ask<ServerAnswer>("/api/v1/server");
  expect(limits.find(({ name }) => name === "maxTypesPerStream")).toMatchObject({ value: 7 });
  expect(await divided.metric('xds_server_limit{limit="maxTypesPerStream"}')).toBe(7);
  await site.write("a.yaml", clusters("one", "two"));
  for (const { names } of four) await until("it has the change", () => names().length === 2);
  expect(divided.logged("worker-ended")).toEqual([]);
  await site.write("xdskit.yaml", "control-plane: [\n");
  divided.child.kill("SIGHUP");
  await until("they stay", () => divided.logged("workers-kept").length === 1);
  expect(await divided.pids()).toEqual(after);
}, 120_000);

test("sums of counters never go down when a worker is killed or replaced", async () => {
  await start();
  await connectFour();
  // Counters of a counter, a histogram and a summary.
  const names = ["requests_total", "response_bytes_count", "event_loop_lag_seconds_count"];
  const read = (): Promise<readonly number[]> => Promise.all(names.map((name) => divided.metric(`xds_server_${name}`)));
  const readings = [await read()];
  const [first] = await divided.workers();
  process.kill(first?.pid ?? 0, "SIGKILL");
  await until("it is told", () => divided.logged("worker-ended").length === 1);
  readings.push(await read());
  await until("there are two again", () => divided.logged("worker-ready").length === 3);
  await until("all four are back", async () => (await divided.metric("xds_server_streams_active")) === 4);
  readings.push(await read());
  divided.child.kill("SIGHUP");
  await until("they are replaced", () => divided.logged("workers-restarted").length === 1);
  readings.push(await read());
  const ofEach = names.map((_, index) => readings.map((values) => values[index] ?? 0));
  expect(ofEach.map((values) => values[0])).not.toContain(0);
  expect(ofEach).toEqual(ofEach.map((values) => values.toSorted((a, b) => a - b)));
  await until("all four are back", async () => (await divided.metric("xds_server_streams_active")) === 4);
}, 120_000);

test("a worker that ends while it is replaced is not replaced twice", async () => {
  await start();
  const [first] = await divided.workers();
  divided.child.kill("SIGHUP");
  await until("another is starting", async () => (await divided.workers()).some(({ state }) => state === "starting"));
  process.kill(first?.pid ?? 0, "SIGKILL");
  await until("they are replaced", () => divided.logged("workers-restarted").length === 1);
  await until("no more are starting", async () => (await divided.workers()).every(({ state }) => state === "ready"));
  expect((await divided.workers()).map(({ worker }) => worker)).toEqual([1, 2]);
}, 60_000);

test("SIGHUP during the start is done once the server serves", async () => {
  divided = Divided.begin(site.directory, "--state-dir", state.directory, "--workers", "3");
  await until("the first is ready", () => divided.logged("worker-ready").length > 0);
  divided.child.kill("SIGHUP");
  await until("they are replaced", () => divided.logged("workers-restarted").length === 1);
  expect([divided.logged("serving").length, divided.logged("hangup").length]).toEqual([1, 1]);
}, 60_000);

test("a fuse counts the nodes of the workers", async () => {
  await start("--fuses-nodes-moved-floor", "1");
  await connectFour();
  await until("all are known", async () => (await divided.ask<NodesAnswer>("/api/v1/nodes")).total === 4);
  await site.write("xdskit.yaml", 'groups:\n- { name: moved, match: { id: "*" } }\n');
  await mkdir(join(site.directory, "groups", "moved"), { recursive: true });
  await site.write("groups/moved/b.yaml", clusters("two"));
  await until("it is held", () => divided.logged("change-held").length > 0);
});

test("no worker outlives its primary", async () => {
  await start();
  const pids = await divided.pids();
  await divided.kill();
  await until("they are gone", () => !pids.some(isAlive));
});

test("SIGTERM drains all workers and ends with 0", async () => {
  await start();
  await connectFour();
  const pids = await divided.pids();
  const exited = once(divided.child, "exit");
  divided.child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(pids.map(isAlive)).toEqual([false, false]);
});

test("SIGTERM does not wait until all workers are ready", async () => {
  divided = Divided.begin(site.directory, "--state-dir", state.directory, "--workers", "6");
  await until("the first is ready", () => divided.logged("worker-ready").length > 0);
  const exited = once(divided.child, "exit");
  divided.child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  const events = ["serving", "stopping", "stopped"].map((event) => divided.logged(event).length);
  expect(events).toEqual([0, 1, 1]);
});

describeWith("etcd", "workers of a server with a store", () => {
  let member: EtcdMember;
  beforeEach(async () => {
    member = await EtcdMember.start();
  });
  afterEach(async () => {
    await member.end();
  });

  test("are counted with their nodes among the replicas", async () => {
    await start("--store", `etcd://${member.endpoint}/mesh`);
    // Each of the workers serves one of them.
    for (const node of ["first", "second"]) await connect(node);
    await until("the others are told of both", async () => {
      const { replicas } = await divided.ask<ReplicasAnswer>("/api/v1/replicas");
      return replicas.map(({ nodes, deployed }) => `${nodes}, ${deployed}`).join() === "2, 2";
    });
  });

  test("serve clients whose versions are known while it is away; others wait until it is back", async () => {
    await start("--store", `etcd://${member.endpoint}/mesh`);
    await until("it has published", async () => (await divided.ask<ServerAnswer>("/api/v1/server")).revision === 1);
    const [host = "", port] = divided.address.split(":");
    const peers: RawPeer[] = [];
    /** Each connection goes to the other worker than the one before. */
    const subscribe = async (version?: string): Promise<RawCall> => {
      const peer = await RawPeer.connect({ host, port: Number(port) });
      peers.push(peer);
      const call = peer.open(ADS_SOTW);
      call.send(sotwRequest(CLUSTER, [], undefined, version));
      return call;
    };
    const first = decodeSotwResponse(await (await subscribe()).next());
    await site.write("a.yaml", clusters("one", "two"));
    await until("it has the change", async () => (await divided.ask<ServerAnswer>("/api/v1/server")).revision === 2);
    await member.kill();
    await until("it is away", () => divided.logged("store-away").length === 1);
    const waiting = [await subscribe("unknown"), await subscribe("unknown")];
    const served = [await subscribe(first.versionInfo), await subscribe(first.versionInfo), await subscribe()];
    const sizes = async (calls: readonly RawCall[]): Promise<readonly number[]> =>
      await Promise.all(calls.map(async (call) => decodeSotwResponse(await call.next(20_000)).resources.length));
    expect(await sizes(served)).toEqual([2, 2, 2]);
    expect(waiting.map((call) => call.waiting)).toEqual([0, 0]);
    await member.start();
    expect(await sizes(waiting)).toEqual([2, 2]);
    for (const peer of peers) await peer.close();
  }, 60_000);
});
