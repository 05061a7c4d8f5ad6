import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as elapsed } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openEtcdStore } from "@xdskit/store-etcd";
import { format } from "./figures.ts";
import { freePort } from "./free-port.ts";
import { BOTH_CPUS, Peer, tell } from "./peer.ts";

const ETCD = fileURLToPath(new URL("../../../.cache/peers/etcd/etcd", import.meta.url));
const RESOURCES = 1_000;
const REPLICAS = 3;
const STREAMS_EACH = 300;
const CONNECTIONS_EACH = 30;
/** The processes compile what they run while these are made. */
const EARLY_CHANGES = 30;
const CHANGES = 500;
const PAUSE_MS = 20;

/** From the call of `publish` until clients have the change, in milliseconds, one for each change. */
interface ReplicaLag {
  /** Until the last client of the server that publishes has it. */
  readonly own: number[];
  /** Until the first client of the slower of the servers that follow has it. */
  readonly first: number[];
  /** Until the last client of all has it. */
  readonly all: number[];
}

/** How long a change takes to the clients of three servers that share a real etcd. All processes share the machine. */
export async function measureReplicaLag(tools: string): Promise<string> {
  if (!existsSync(ETCD)) return "replicas: skipped, there is no etcd (npm run peers)";
  return lagTable(await inDirectory((directory) => measureIn(directory, tools)));
}

/**
 * How long after `publish` a server that follows has a change, in milliseconds, without what it then takes to tell its
 * clients; undefined without an etcd.
 */
export async function sampleReplicaLag(tools: string): Promise<readonly number[] | undefined> {
  if (!existsSync(ETCD)) return undefined;
  const { first } = await inDirectory((directory) => measureIn(directory, tools));
  return first;
}

async function inDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "xds-replicas-"));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measureIn(directory: string, tools: string): Promise<ReplicaLag> {
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const etcd = `127.0.0.1:${clientPort}`;
  const urls = ["--listen-client-urls", "--advertise-client-urls"].flatMap((flag) => [flag, `http://${etcd}`]);
  const peerUrls = ["--listen-peer-urls", `http://127.0.0.1:${peerPort}`];
  await using _store = new Peer(ETCD, ["--data-dir", directory, ...urls, ...peerUrls], BOTH_CPUS, "none");
  await whenAnswers(etcd);
  const replicas: Peer[] = [];
  const clients: Peer[] = [];
  try {
    await startAll(etcd, tools, replicas, clients);
    return await changeAgain(replicas, clients);
  } finally {
    await Promise.all([...clients, ...replicas].map((peer) => peer[Symbol.asyncDispose]()));
  }
}

/** The first of the servers publishes. */
async function startAll(etcd: string, tools: string, replicas: Peer[], clients: Peer[]): Promise<void> {
  for (let replica = 0; replica < REPLICAS; replica++) {
    const follows = replica === 0 ? [] : ["--follows"];
    const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
    const args = [program, String(RESOURCES), "--store", etcd, ...follows];
    const server = new Peer(process.execPath, args, BOTH_CPUS);
    replicas.push(server);
    const { address } = await server.hears("listening");
    await server.hears("ready");
    const load = ["-streams", STREAMS_EACH, "-connections", CONNECTIONS_EACH].map(String);
    const client = new Peer(`${tools}/load`, ["-address", String(address), ...load], BOTH_CPUS);
    clients.push(client);
    await tell(client, "connect", "synced");
  }
}

async function changeAgain([publisher]: readonly Peer[], clients: readonly Peer[]): Promise<ReplicaLag> {
  if (publisher === undefined) throw new Error("expected a server that publishes");
  const lag: ReplicaLag = { own: [], first: [], all: [] };
  for (let change = 0; change < EARLY_CHANGES + CHANGES; change++) {
    for (const client of clients) {
      await tell(client, "arm", "armed");
      client.say("wait");
    }
    const { at } = await tell(publisher, "change", "changed");
    const received = await Promise.all(clients.map((client) => client.hears("received")));
    const since = (time: unknown): number => Number(BigInt(String(time)) - BigInt(String(at))) / 1e6;
    const ms = received.map(({ last }) => since(last));
    if (change >= EARLY_CHANGES) {
      lag.own.push(ms[0] ?? Number.NaN);
      lag.first.push(Math.max(...received.slice(1).map(({ first }) => since(first))));
      lag.all.push(Math.max(...ms));
    }
    await elapsed(PAUSE_MS);
  }
  return lag;
}

async function whenAnswers(etcd: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const store = await openEtcdStore({ endpoints: [etcd], timeoutMs: 1_000 });
      await store.close();
      return;
    } catch (cause) {
      if (attempt === 30) throw cause;
      await elapsed(100);
    }
  }
}

function lagTable({ own, all }: ReplicaLag): string {
  const row = (name: string, ms: readonly number[]): string => {
    const sorted = [...ms].sort((a, b) => a - b);
    const columns = [0.5, 0.9, 0.99, 1].map((share) =>
      format(sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN),
    );
    return `| ${name} | ${columns.join(" | ")} |`;
  };
  const fleet = `${REPLICAS} servers, ${(REPLICAS * STREAMS_EACH).toLocaleString("en")} streams`;
  return [
    `| ${fleet}, ${CHANGES} changes | median, ms | 9 of 10, ms | 99 of 100, ms | worst, ms |`,
    "| --- | --- | --- | --- | --- |",
    row("the last client of the server that publishes", own),
    row("the last client of all three", all),
  ].join("\n");
}
