import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connectPeer, type WirePeer } from "@xdskit/conformance";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import { directoryText, extensionOf } from "./directory-text.ts";
import { format, median } from "./figures.ts";
import { BOTH_CPUS, Peer, tell } from "./peer.ts";

/** What a client waits, and how long turns of the event loop are, while the server does one thing. */
export interface LoadingPhase {
  readonly name: string;
  /** Milliseconds from a request to its response, of a client that asks for one name after another. */
  readonly answersMs: readonly number[];
  /** The processor times of the longest turns of the event loop, in milliseconds, the longest first. */
  readonly longest: readonly number[];
  /** How many turns took more than 20 ms of processor time. */
  readonly long: number;
}

const RESOURCES = 100_000;
const SHAPE = { format: "yaml-block", warns: false } as const;
const IDLE_MS = 1_500;
const SETTLE_MS = 1_000;
const ASK_EVERY_MS = 5;
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const CLUSTER_IN_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");

/**
 * Measures what a client waits while `xds serve` takes in 100,000 resources in one file of 22 MB and a change of it,
 * while all of it is made for a client of v2, and while everything is asked for by the admin API and by CSDS.
 */
export async function measureLoading(before?: string): Promise<readonly LoadingPhase[]> {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-bench-"));
  try {
    return await measureIn(directory, before);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measureIn(directory: string, before: string | undefined): Promise<readonly LoadingPhase[]> {
  const served = join(directory, "served");
  const prepared = join(directory, `prepared.${extensionOf(SHAPE.format)}`);
  const large = join(served, `large.${extensionOf(SHAPE.format)}`);
  mkdirSync(served);
  writeFileSync(join(served, "small.yaml"), directoryText(RESOURCES, RESOURCES + 2, SHAPE, 250));
  const root = before ?? fileURLToPath(new URL("../../..", import.meta.url));
  const turns = fileURLToPath(new URL("./loop-turns.js", import.meta.url));
  const flags = [
    "--listen",
    "127.0.0.1:0",
    "--admin",
    "127.0.0.1:0",
    "--max-file-bytes",
    "1GiB",
    "--fuses-size-grown",
    "off",
  ];
  const program = join(root, "packages", "cli", "bin", "xds.js");
  const args = ["--import", turns, program, "serve", served, ...flags, "--state-dir", join(directory, "state")];
  await using server = new Peer(process.execPath, args, BOTH_CPUS, "stderr");
  const { address, admin } = await server.hears("serving");
  await server.hears("ready");
  await using peer = await connectPeer({ address: String(address) });
  const asker = new Asker(peer);
  const phases: LoadingPhase[] = [];
  const during = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    await tell(server, "begin", "turns");
    const answers = asker.start();
    await work();
    await pause(SETTLE_MS);
    const answersMs = await answers();
    const { long, longest } = await tell(server, "end", "turns");
    phases.push({ name, answersMs, long: Number(long), longest: longest as readonly number[] });
  };
  // Made before anybody waits: this process is the client, too.
  const prepare = (timeoutMs: number): void => {
    writeFileSync(prepared, directoryText(0, RESOURCES, SHAPE, timeoutMs));
  };
  const put = async (timeoutMs: number): Promise<void> => {
    const has = hasCluster(peer, "cluster-0", timeoutMs);
    renameSync(prepared, large);
    await has;
  };
  await during("nothing", () => pause(IDLE_MS));
  prepare(2_000);
  await during("22 MB are read and published", () => put(2_000));
  prepare(3_000);
  await during("one change in them", () => put(3_000));
  await during("all Clusters are made for v2", () => everythingInV2(peer));
  await during("client status", () => clientStatus(peer));
  await during("pages of the admin API", () => allPages(String(admin)));
  return phases;
}

/** A client that subscribes to one name after another; each is answered at once, as one that does not exist. */
class Asker {
  readonly #stream: ReturnType<WirePeer["open"]>;
  readonly #messages: AsyncIterator<Uint8Array>;
  #name = 0;

  constructor(peer: WirePeer) {
    this.#stream = peer.open(DELTA);
    this.#messages = this.#stream.messages[Symbol.asyncIterator]();
  }

  /** Asks until the returned function is called, which resolves with all waiting times. */
  start(): () => Promise<readonly number[]> {
    let isOver = false;
    const asking = this.#ask(() => isOver);
    return () => {
      isOver = true;
      return asking;
    };
  }

  async #ask(isOver: () => boolean): Promise<readonly number[]> {
    const times: number[] = [];
    while (!isOver()) {
      const name = `asked-${this.#name++}`;
      const at = performance.now();
      const node = { ...anonymousNode, id: "asker" };
      this.#stream.send(encodeDeltaRequest({ node, typeUrl: ENDPOINTS, resourceNamesSubscribe: [name] }));
      const { value } = await this.#messages.next();
      times.push(performance.now() - at);
      const { nonce } = decodeDeltaResponse(value as Uint8Array);
      this.#stream.send(
        encodeDeltaRequest({ typeUrl: ENDPOINTS, responseNonce: nonce, resourceNamesUnsubscribe: [name] }),
      );
      await pause(ASK_EVERY_MS);
    }
    return times;
  }
}

const DELTA = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const DELTA_V2 = "/envoy.service.discovery.v2.AggregatedDiscoveryService/DeltaAggregatedResources";

/** Resolves once a client of its own has the Cluster with this timeout. */
async function hasCluster(peer: WirePeer, name: string, timeoutMs: number): Promise<void> {
  const api = createEnvoyApi();
  const stream = peer.open(DELTA);
  const node = { ...anonymousNode, id: "waiting" };
  stream.send(encodeDeltaRequest({ node, typeUrl: CLUSTER, resourceNamesSubscribe: [name] }));
  for await (const message of stream.messages) {
    const { nonce, resources } = decodeDeltaResponse(message);
    stream.send(encodeDeltaRequest({ typeUrl: CLUSTER, responseNonce: nonce }));
    const [first] = resources;
    const bytes = first?.resource?.value;
    if (bytes !== undefined && JSON.stringify(api.toJson(CLUSTER, bytes)).includes(`"${timeoutMs / 1000}s"`)) break;
  }
  stream.cancel();
}

async function everythingInV2(peer: WirePeer): Promise<void> {
  const stream = peer.open(DELTA_V2);
  stream.send(
    encodeDeltaRequest({
      node: { ...anonymousNode, id: "old" },
      typeUrl: CLUSTER_IN_V2,
      resourceNamesSubscribe: ["*"],
    }),
  );
  let count = 0;
  for await (const message of stream.messages) {
    const { nonce, resources } = decodeDeltaResponse(message);
    stream.send(encodeDeltaRequest({ typeUrl: CLUSTER_IN_V2, responseNonce: nonce }));
    count += resources.length;
    if (count >= RESOURCES / 2) break;
  }
  stream.cancel();
}

/** The status of a client that holds all Clusters. */
async function clientStatus(peer: WirePeer): Promise<void> {
  const holder = peer.open(DELTA);
  holder.send(
    encodeDeltaRequest({ node: { ...anonymousNode, id: "all" }, typeUrl: CLUSTER, resourceNamesSubscribe: ["*"] }),
  );
  let count = 0;
  for await (const message of holder.messages) {
    const { nonce, resources } = decodeDeltaResponse(message);
    holder.send(encodeDeltaRequest({ typeUrl: CLUSTER, responseNonce: nonce }));
    count += resources.length;
    if (count >= RESOURCES / 2) break;
  }
  const status = peer.open("/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus");
  status.send(new Uint8Array());
  status.end();
  for await (const _ of status.messages);
  holder.cancel();
}

async function allPages(admin: string): Promise<void> {
  for (const path of ["/api/v1/resources?body=true&limit=10000", "/api/v1/server", "/metrics"]) {
    const response = await fetch(`http://${admin}${path}`);
    await response.arrayBuffer();
  }
}

/** Formats the phases as a Markdown table. */
export function loadingTable(phases: readonly LoadingPhase[]): string {
  const lines = phases.map(({ name, answersMs, long, longest }) => {
    const sorted = [...answersMs].sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
    const [first = 0, second = 0] = longest;
    const columns = [median(sorted), at(0.99), at(1), first, second].map(format);
    return `| ${[name, ...columns, long].join(" | ")} |`;
  });
  return [
    "| while | an answer, median, ms | 99 % of them | the last | longest turn, CPU ms | the second | turns above 20 ms |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}
