import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { connectPeer, type PeerStream } from "@xdskit/conformance";
import {
  decodeDeltaResponse,
  decodeSotwResponse,
  encodeDeltaRequest,
  encodeSotwRequest,
} from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import type { History } from "./history.ts";
import type { Random } from "./random.ts";

const RUNTIME = "type.googleapis.com/envoy.service.runtime.v3.Runtime";
const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const RTDS = "/envoy.service.runtime.v3.RuntimeDiscoveryService";
/** The resource whose content tells which publication it is of. */
export const MARKER = "marker";

const modes = [
  { isDelta: true, path: `${ADS}/DeltaAggregatedResources` },
  { isDelta: false, path: `${ADS}/StreamAggregatedResources` },
  { isDelta: true, path: `${RTDS}/DeltaRuntime` },
  { isDelta: false, path: `${RTDS}/StreamRuntime` },
] as const;

/** The layer of the marker of a publication. */
export function markerOf(content: string): object {
  return { "@type": RUNTIME, name: MARKER, layer: { content: `<${content}>` } };
}

function contentIn(value: Uint8Array): string {
  return /<([a-z]+-\d+)>/.exec(Buffer.from(value).toString("latin1"))?.[1] ?? "?";
}

/** Clients that move from server to server with the versions that they have, and now and then start anew. */
export class Clients implements AsyncDisposable {
  readonly #over = new AbortController();
  readonly #all: readonly Client[];
  readonly #running: Promise<unknown>;

  /** `portsOf` has, for each server, the ports of its links; the clients take them in turn. */
  constructor(count: number, portsOf: readonly (readonly number[])[], history: History, random: Random) {
    this.#all = Array.from({ length: count }, (_, index) => {
      const ports = portsOf.map((links) => links[Math.floor(index / modes.length) % links.length] as number);
      return new Client(index, ports, history, random);
    });
    // Each client waits for it while it pauses.
    setMaxListeners(count, this.#over.signal);
    this.#running = Promise.all(this.#all.map((client) => client.run(this.#over.signal)));
  }

  /** The clients whose newest content is another one, as text. */
  without(content: string): readonly string[] {
    return this.#all.filter((client) => client.content !== content).map(({ name, content: has }) => `${name}: ${has}`);
  }

  /** From now on clients stay where they are, unless their stream ends; or move again. */
  settle(isSettled = true): void {
    for (const client of this.#all) client.isSettled = isSettled;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
  }
}

class Client {
  readonly name: string;
  readonly #ports: readonly number[];
  readonly #mode: (typeof modes)[number];
  readonly #history: History;
  readonly #random: Random;
  isSettled = false;
  content = "";
  #version = "";
  #life = 0;

  constructor(index: number, ports: readonly number[], history: History, random: Random) {
    this.name = `sim-${index}`;
    this.#ports = ports;
    this.#mode = modes[index % modes.length] as (typeof modes)[number];
    this.#history = history;
    this.#random = random;
  }

  async run(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await this.#visit(this.#random.below(this.#ports.length), over).catch(() => undefined);
      if (!this.isSettled && this.#random.below(8) === 0) this.#startAnew();
      await pause(50 + this.#random.below(400), undefined, { signal: over }).catch(() => undefined);
    }
  }

  #startAnew(): void {
    this.#life++;
    this.#version = "";
    this.content = "";
  }

  /** One stream to one server, until one of them has had enough. */
  async #visit(server: number, over: AbortSignal): Promise<void> {
    await using peer = await connectPeer({ address: `127.0.0.1:${this.#ports[server]}`, connectTimeoutMs: 2_000 });
    // A signal that was given meanwhile tells nobody any more.
    if (over.aborted) return;
    const openedAt = performance.now();
    const stream = peer.open(this.#mode.path);
    const leave = (): void => stream.cancel();
    over.addEventListener("abort", leave, { once: true });
    const stay = setTimeout(() => this.isSettled || leave(), 1_000 + this.#random.below(9_000));
    // What a stopped server still has in its socket ends at no time of its own.
    const alive = setInterval(() => void answers(peer.ping()).then((does) => does || leave()), 3_000);
    try {
      this.#subscribe(stream);
      for await (const message of stream.messages) this.#receive(stream, message, server, openedAt);
    } finally {
      clearTimeout(stay);
      clearInterval(alive);
      over.removeEventListener("abort", leave);
    }
  }

  #subscribe(stream: PeerStream): void {
    const node = { ...anonymousNode, id: this.name };
    const typeUrl = RUNTIME;
    if (this.#mode.isDelta) {
      const held = this.#version === "" ? {} : { initialResourceVersions: [[MARKER, this.#version]] as const };
      stream.send(encodeDeltaRequest({ node, typeUrl, resourceNamesSubscribe: [MARKER], ...held }));
    } else {
      stream.send(encodeSotwRequest({ node, typeUrl, resourceNames: [MARKER], versionInfo: this.#version }));
    }
  }

  #receive(stream: PeerStream, message: Uint8Array, server: number, openedAt: number): void {
    const typeUrl = RUNTIME;
    let value: Uint8Array | undefined;
    if (this.#mode.isDelta) {
      const { nonce, resources } = decodeDeltaResponse(message);
      const [resource] = resources;
      value = resource?.resource?.value;
      if (resource !== undefined) this.#version = resource.version;
      stream.send(encodeDeltaRequest({ typeUrl, responseNonce: nonce }));
    } else {
      const { nonce, resources, versionInfo } = decodeSotwResponse(message);
      value = resources[0]?.value;
      this.#version = versionInfo;
      stream.send(encodeSotwRequest({ typeUrl, resourceNames: [MARKER], versionInfo, responseNonce: nonce }));
    }
    if (value === undefined) return;
    this.content = contentIn(value);
    this.#history.sightings.push({
      ...{ client: this.name, life: this.#life, server, openedAt, at: performance.now(), content: this.content },
    });
  }
}

async function answers(ping: Promise<number>): Promise<boolean> {
  const late = new AbortController();
  const answered = await Promise.race([
    ping.then(
      () => true,
      () => false,
    ),
    pause(2_000, false, { signal: late.signal }).catch(() => false),
  ]);
  late.abort();
  return answered;
}
