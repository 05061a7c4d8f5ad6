import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { format, median } from "./figures.ts";
import { Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/** The cost of REST polls. */
export interface PollCost {
  readonly held: number;
  readonly requestBytes: number;
  /** Resident memory of the server per held poll, in KB. */
  readonly residentKbEach: number;
  /** Milliseconds from a change until all held polls are answered. */
  readonly toAll: { readonly polls: number; readonly ms: number };
  /** The same with fewer polls, measured several times. */
  readonly toSome: { readonly polls: number; readonly ms: readonly number[] };
  /** Changes per second that one client receives, one after another. */
  readonly changesPerSecond: number;
}

const CLUSTERS = 100;
const HELD = 10_000;
const SOME = 1_000;
const CHANGES = 200;
const WARM_UP = 500;
const AT_ONCE = 50;

/** Measures a server with 100 Clusters and polls of the size of Envoy's, each on a connection of its own. */
export async function measurePolls(rounds: number): Promise<PollCost> {
  const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
  await using server = new Peer(process.execPath, [program, String(CLUSTERS), "--polls"], SERVER_CPU);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const pollers: Poller[] = [];
  try {
    const first = new Poller(String(address), 0);
    const version = versionIn(await first.ask(undefined));
    first.close();
    await open(pollers, String(address), WARM_UP, version);
    await quiet(server);
    const before = server.usage().residentMb;
    await open(pollers, String(address), HELD, version);
    await quiet(server);
    const residentKbEach = ((server.usage().residentMb - before) * 1024) / HELD;
    const all = await changeFor(server, pollers);
    for (const poller of pollers.splice(SOME)) poller.close();
    const ms: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await quiet(server);
      const held = versionIn(await new Poller(String(address), -1).askOnce());
      for (const poller of pollers) void poller.ask(held);
      await quiet(server);
      ms.push(await changeFor(server, pollers));
    }
    const changesPerSecond = await follow(server, String(address));
    return {
      held: HELD,
      requestBytes: bodyOf(0, version).length,
      residentKbEach,
      toAll: { polls: WARM_UP + HELD, ms: all },
      toSome: { polls: SOME, ms },
      changesPerSecond,
    };
  } finally {
    for (const poller of pollers) poller.close();
  }
}

export function pollTable({ held, requestBytes, residentKbEach, toAll, toSome, changesPerSecond }: PollCost): string {
  return [
    "| polls over REST | |",
    "| --- | --- |",
    `| resident for each of ${held.toLocaleString("en")} held polls of ${format(requestBytes / 1000)} KB, KB | ${format(residentKbEach)} |`,
    `| 1 change, last of ${toAll.polls.toLocaleString("en")} held polls, ms | ${format(toAll.ms)} |`,
    `| 1 change, last of ${toSome.polls.toLocaleString("en")} held polls, ms | ${format(median(toSome.ms))} |`,
    `| changes that one client follows, a second | ${format(changesPerSecond)} |`,
  ].join("\n");
}

async function open(pollers: Poller[], address: string, count: number, version: string): Promise<void> {
  for (let i = 0; i < count; i += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, () => new Poller(address, pollers.length + i));
    await Promise.all(some.map((poller) => poller.send(version)));
    pollers.push(...some);
  }
}

/** Milliseconds from a change until every held poll is answered. */
async function changeFor(server: Peer, pollers: readonly Poller[]): Promise<number> {
  const answers = pollers.map((poller) => poller.answered());
  const startedAt = performance.now();
  await tell(server, "change", "changed");
  await Promise.all(answers);
  return performance.now() - startedAt;
}

async function follow(server: Peer, address: string): Promise<number> {
  const poller = new Poller(address, -2);
  let version = versionIn(await poller.ask(undefined));
  const startedAt = performance.now();
  for (let i = 0; i < CHANGES; i++) {
    const answer = poller.ask(version);
    await tell(server, "change", "changed");
    version = versionIn(await answer);
  }
  poller.close();
  return CHANGES / ((performance.now() - startedAt) / 1000);
}

/** One polling client on its own connection. */
class Poller {
  readonly #socket: Socket;
  readonly #number: number;
  #text = "";
  #answered: ((text: string) => void) | undefined;

  constructor(address: string, number: number) {
    const { hostname, port } = new URL(`http://${address}`);
    this.#number = number;
    this.#socket = connect(Number(port), hostname);
    this.#socket.on("error", () => undefined);
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk.toString()));
  }

  async send(version: string | undefined): Promise<void> {
    const body = bodyOf(this.#number, version);
    const head = `POST /v3/discovery:clusters HTTP/1.1\r\nhost: xds\r\ncontent-type: application/json\r\nx-envoy-expected-rq-timeout-ms: 900000\r\ncontent-length: ${body.length}`;
    if (this.#socket.connecting) await once(this.#socket, "connect");
    await new Promise((resolve) => this.#socket.write(`${head}\r\n\r\n${body}`, resolve));
  }

  answered(): Promise<string> {
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  async ask(version: string | undefined): Promise<string> {
    const answer = this.answered();
    await this.send(version);
    return answer;
  }

  async askOnce(): Promise<string> {
    const answer = await this.ask(undefined);
    this.close();
    return answer;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    const length = /content-length: (\d+)/i.exec(this.#text)?.[1];
    if (headEnd === -1 || this.#text.length < headEnd + 4 + Number(length ?? 0)) return;
    const whole = this.#text;
    this.#text = "";
    this.#answered?.(whole);
  }
}

function versionIn(answer: string): string {
  return /"versionInfo":"([^"]+)"/.exec(answer)?.[1] ?? "";
}

const extensions = Array.from({ length: 430 }, (_, i) => ({
  name: `envoy.filters.http.extension_${i}`,
  category: "envoy.filters.http",
  type_descriptor: { name: "x" },
  type_urls: ["envoy.extensions.filters.http.extension.v3.Extension", "envoy.config.x"],
}));
const described = `"cluster":"edge","user_agent_name":"envoy","extensions":${JSON.stringify(extensions)}`;

/** The body of an Envoy's poll, most of which is the list of its extensions. */
function bodyOf(number: number, version: string | undefined): string {
  const versionInfo = version === undefined ? "" : `,"version_info":"${version}"`;
  return `{"node":{"id":"edge-${number}",${described}},"type_url":"type.googleapis.com/envoy.config.cluster.v3.Cluster"${versionInfo}}`;
}
