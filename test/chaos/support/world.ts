import type { LedgerStore } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { type EtcdMember, startCluster } from "../../../packages/store-etcd/test/support/etcd.ts";
import { createAccessLog, isLost, lossesIn } from "../../e2e/support/access-log.ts";
import { type Envoy, startEnvoy } from "../../e2e/support/envoy.ts";
import { type Backend, startHttpBackend } from "../../e2e/support/http-backend.ts";
import { type HttpLoad, httpGet, startHttpLoad } from "../../e2e/support/http-load.ts";
import { clusterNames } from "../../e2e/support/loaded-envoy.ts";
import { configSource, type Mode, modes } from "../../e2e/support/mode.ts";
import { peerCommand } from "../../e2e/support/peers.ts";
import { freePort, freePorts } from "../../e2e/support/port.ts";
import { cluster, endpoints, listener, routes } from "../../e2e/support/resource.ts";
import { xdsCommand } from "../../e2e/support/server.ts";
import type { FileContent } from "../../e2e/support/site.ts";
import type { Stack } from "../../e2e/support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../../e2e/support/tcp-proxy.ts";
import { Clients, markerOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { etcdctl } from "./etcdctl.ts";
import { emptyHistory, type History, type Ledger } from "./history.ts";
import { checkerLines } from "./judge.ts";
import { linearizable } from "./linearizable.ts";
import { Publisher } from "./publisher.ts";
import type { Random } from "./random.ts";
import { Follower } from "./servers.ts";
import { SmallDisk } from "./small-disk.ts";
import { everybody, watchStarvation } from "./starved.ts";
import { type Link, Toxiproxy } from "./toxiproxy.ts";

const SERVERS = 3;
/** The server of which other processes serve the clients. */
const WITH_WORKERS = 2;
/** etcd takes 128 MiB in advance. */
const MEMBER_MEGABYTES = 160;
export const PREFIX = "chaos";
/** How many links lead clients to each server. */
const WAYS = 2;
/**
 * By itself, Envoy waits up to 30 s before it tries a stream again, and clients are to be back within 5 s: a route with
 * separate streams may wait for that of the clusters, and these for that of the endpoints.
 */
const LONGEST_BACK_OFF = "1s";
const READS_EVERY_MS = 200;
const LOAD = { keptPerSecond: 20, newPerSecond: 5 };

const chaosModes: readonly Mode[] = modes.map((mode) => ({ ...mode, longestBackOff: LONGEST_BACK_OFF }));

export interface WorldSettings {
  readonly random: Random;
  readonly clients: number;
  /** Runs `xds`. @default what was built */
  readonly command?: readonly string[];
  /** For servers and publishers. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of which Envoys there is one each. @default all */
  readonly envoys?: readonly Mode[];
  /** The longest pause of a publisher. @default 1_500 */
  readonly pauseMs?: number;
}

/** A member of the engine, and the link on which others reach it. */
export interface Member {
  readonly etcd: EtcdMember;
  readonly peerLink: Link;
  /** Of its data; undefined: nothing can be mounted. */
  readonly disk: SmallDisk | undefined;
  /** Undefined: it was not built so that it can be set. */
  readonly clock: Clock | undefined;
}

/** Somebody who uses the engine, with a link to each member. */
export interface User<T> {
  readonly is: T;
  readonly links: readonly Link[];
}

/** A server, and the links on which clients reach it; each is that of as many of them. */
export interface Server extends User<Follower> {
  readonly ways: readonly Link[];
}

/** An Envoy in one of the modes under load, which reaches one server at a time. */
export interface Proxied {
  readonly mode: Mode;
  readonly envoy: Envoy;
  readonly way: TcpProxy;
  readonly load: HttpLoad;
  /** What the load and the access log have of lost requests, as text. */
  losses(): Promise<readonly string[]>;
  /** Each lost request of the access log, once `losses` was called. */
  readonly lostLines: readonly string[];
}

/** An engine of three members, servers that follow it, two publishers, Envoys under load and simulated clients. */
export interface World {
  readonly history: History;
  readonly members: readonly Member[];
  readonly servers: readonly Server[];
  readonly publishers: readonly User<Publisher>[];
  readonly envoys: readonly Proxied[];
  readonly clients: Clients;
  /** Where all can be reached, by links that never fail. */
  readonly store: string;
  /** Kills a server, and leads the Envoys elsewhere. */
  kill(server: Follower): Promise<void>;
  /** Leads each Envoy to a server. @default to any */
  lead(server?: Follower): void;
  /** Leads the Envoys that use this link to any server. */
  leave(link: Link): void;
  /** Where the engine leads; undefined while nobody does. */
  leader(): Promise<Member | undefined>;
  /** Stops publishing; resolves with what the ledger has in the end. */
  end(): Promise<Ledger>;
  /** Publishes again, after an end, and lets clients move. */
  begin(): Promise<void>;
  /**
   * Resolves when everybody uses this publication, with the milliseconds that it took, without what the kernel says that they
   * waited for a processor. @default the newest
   */
  agreement(withinMs: number, content?: string): Promise<number>;
  /** Resolves when Envoys have nothing older, with the milliseconds that it took. */
  tidiness(withinMs: number): Promise<number>;
  /** What the linearizability checker says. @default of the whole history */
  linearizable(ledger: Ledger, history?: History): unknown;
}

export async function startWorld(stack: Stack, settings: WorldSettings): Promise<World> {
  const { random, env = {}, command = xdsCommand(), envoys: wanted = chaosModes, pauseMs = 1_500 } = settings;
  const history = emptyHistory();
  const proxy = stack.use(await Toxiproxy.start());
  const members: Member[] = [];
  await startCluster(async (etcd) => {
    const peerLink = await proxy.link(Number(new URL(etcd.peerUrl).port));
    stack.use({ [Symbol.asyncDispose]: () => etcd.end() });
    const disk = SmallDisk.mount(etcd.directory, MEMBER_MEGABYTES);
    if (disk !== undefined) stack.use(disk);
    const [settable] = peerCommand("etcd-with-clock") ?? [];
    const clock = settable === undefined ? undefined : stack.use(Clock.ofEtcd());
    etcd.program = settable ?? etcd.program;
    etcd.env = clock?.env ?? {};
    stack.use({ [Symbol.asyncDispose]: () => etcd.kill() });
    members.push({ etcd, peerLink, disk, clock });
    return `http://127.0.0.1:${peerLink.port}`;
  });

  const connected = async (): Promise<{ readonly links: readonly Link[]; readonly store: string }> => {
    const links: Link[] = [];
    for (const { etcd } of members) links.push(await proxy.link(Number(etcd.endpoint.split(":")[1])));
    return { links, store: `etcd://${links.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${PREFIX}` };
  };
  const backend = stack.use(await startHttpBackend("backend"));
  const listeners = await Promise.all(
    wanted.map(async (mode) => ({ mode, port: await freePort(), log: stack.use(createAccessLog()) })),
  );
  const files = (content: string): Readonly<Record<string, FileContent>> => ({
    "xdskit.yaml": mapping(),
    "marker.json": [markerOf(content)],
    ...Object.fromEntries(
      listeners.map(({ mode, port, log }) => {
        const source = configSource(mode);
        const name = `swap-${content}`;
        return [
          `groups/${mode.name}/all.json`,
          [
            cluster({ name, source }),
            endpoints(name, [backend.port]),
            routes("routes", [{ cluster: name }]),
            listener({ name: "http", port, routes: "routes", source, accessLog: log.field }),
          ],
        ];
      }),
    ),
  });

  const publishers: User<Publisher>[] = [];
  for (const name of ["a", "b"]) {
    const { links, store } = await connected();
    const clock = createClock(stack);
    const publisher = new Publisher({ name, command, store, env, files, clock, pauseMs }, history, random);
    publishers.push({ links, is: stack.use(publisher) });
  }
  if ((await publishers[0]?.is.publish()) === undefined) throw new Error("nothing could be published");

  const servers: Server[] = [];
  for (let index = 0; index < SERVERS; index++) {
    const { links, store } = await connected();
    const [port = 0, adminPort = 0] = await freePorts(2);
    const workers = index === WITH_WORKERS ? 2 : undefined;
    const served = { command, store, port, adminPort, env, workers };
    const ways: Link[] = [];
    while (ways.length < WAYS) ways.push(await proxy.link(port));
    servers.push({ links, ways, is: stack.use(new Follower(index, served, createClock(stack))) });
  }
  await Promise.all(servers.map(({ is }) => is.start()));
  for (const { is } of servers) is.watch(history);

  const down = new Set<Follower>();
  const reached = new Map<Proxied, { readonly server: Follower; readonly link: Link }>();
  const envoys = await Promise.all(listeners.map((one) => startProxied(stack, one, backend, servers[0]?.is.port ?? 0)));
  const lead = (envoy: Proxied, to?: Follower): void => {
    const up = servers.filter(({ is }) => (to === undefined ? !down.has(is) : is === to));
    const { is: server, ways } = random.pick(up.length === 0 ? servers : up);
    const link = ways[envoys.indexOf(envoy) % ways.length] as Link;
    reached.set(envoy, { server, link });
    envoy.way.target(link.port);
  };
  for (const envoy of envoys) lead(envoy);
  const clients = stack.use(
    new Clients(
      settings.clients,
      servers.map(({ ways }) => ways.map(({ port }) => port)),
      history,
      random,
    ),
  );

  const read = async (): Promise<Reader> => {
    const direct = await openEtcdStore({ endpoints: members.map(({ etcd }) => etcd.endpoint), prefix: PREFIX });
    return stack.use(new Reader(direct, history));
  };
  let reader = await read();
  for (const { is } of publishers) is.start();

  /** On the way from a publication to its clients. */
  const processes = (): readonly (readonly number[])[] => [
    members.flatMap(({ etcd }) => etcd.pid ?? []),
    servers.flatMap(({ is }) => is.pids),
    [proxy.pid],
    [...envoys.map(({ envoy }) => envoy.process.pid), process.pid],
  ];

  const newest = (): string => history.appends.findLast(({ outcome }) => outcome !== undefined)?.content ?? "";
  let last = newest();
  return {
    ...{ history, members, servers, publishers, envoys, clients },
    store: `etcd://${members.map(({ etcd }) => etcd.endpoint).join(",")}/${PREFIX}`,
    lead(server) {
      for (const envoy of envoys) lead(envoy, server);
    },
    leave(link) {
      for (const envoy of envoys) if (reached.get(envoy)?.link === link) lead(envoy);
    },
    async kill(server) {
      down.add(server);
      await server.kill();
      for (const envoy of envoys) if (reached.get(envoy)?.server === server) lead(envoy);
      down.delete(server);
    },
    async leader() {
      const leading = await Promise.all(members.map(({ etcd }) => leads(etcd)));
      return members.find((_, index) => leading[index]);
    },
    async end() {
      await Promise.all(publishers.map(({ is }) => is.stop()));
      const ledger = await reader.end();
      last = [...ledger].at(-1)?.[0] ?? "";
      return ledger;
    },
    async begin() {
      // What was restored is another history for a store that is open.
      reader = await read();
      clients.settle(false);
      for (const { is } of publishers) is.start();
    },
    async agreement(withinMs, wanted = last) {
      clients.settle();
      return everybody(`has ${wanted}`, withinMs, watchStarvation(processes()), async () => {
        const leading = await Promise.all(envoys.map(({ envoy }) => routedTo(envoy)));
        const others = leading.flatMap((name, index) =>
          name === `swap-${wanted}` ? [] : [`${envoys[index]?.mode.name}: ${name}`],
        );
        return [...clients.without(wanted), ...others];
      });
    },
    tidiness: (withinMs) =>
      everybody(`has only ${last}`, withinMs, watchStarvation(processes()), async () => {
        const names = await Promise.all(envoys.map(({ envoy }) => clusterNames(envoy)));
        return names.flatMap((all, index) =>
          all.join() === `swap-${last}` ? [] : [`${envoys[index]?.mode.name}: ${all.join(", ")}`],
        );
      }),
    linearizable: (ledger, of = history) => linearizable(checkerLines(of, ledger)),
  };
}

/** The cluster of the only route. */
async function routedTo(envoy: Envoy): Promise<string | undefined> {
  const [table] = await envoy.dumped("dynamic_route_configs");
  return /"cluster":"([^"]+)"/.exec(JSON.stringify(table))?.[1];
}

async function startProxied(
  stack: Stack,
  { mode, port, log }: { readonly mode: Mode; readonly port: number; readonly log: ReturnType<typeof createAccessLog> },
  backend: Backend,
  firstServer: number,
): Promise<Proxied> {
  const way = stack.use(await startTcpProxy(firstServer));
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: way.port, node: { id: mode.name } }));
  await envoy.ready(30_000);
  const load = stack.use(startHttpLoad({ port, ...LOAD }));
  await load.answeredBy(backend.name, 30_000);
  const lostLines: string[] = [];
  return {
    ...{ mode, envoy, way, load, lostLines },
    async losses() {
      const { failed } = await load.stop();
      await httpGet({ port, path: "/end" });
      const lines = await log.upTo("/end", 10_000);
      lostLines.push(...lines.filter(isLost).map((line) => JSON.stringify(line)));
      return [failed, ...Object.values(lossesIn(lines))].flatMap((counts) =>
        Object.entries(counts).map(([what, times]) => `${mode.name}: ${what}: ${times}`),
      );
    },
  };
}

function createClock(stack: Stack): Clock | undefined {
  const clock = Clock.create();
  return clock && stack.use(clock);
}

/** One group of nodes for each mode. */
function mapping(): string {
  return `groups:\n${modes.map(({ name }) => `  - name: ${name}\n    match: { id: ["${name}"] }\n`).join("")}`;
}

async function leads(etcd: EtcdMember): Promise<boolean> {
  try {
    const [status] = JSON.parse(await etcdctl(etcd, "endpoint", "status", "--write-out", "json")) as {
      Status: { header: { member_id: number }; leader: number };
    }[];
    return status !== undefined && status.Status.header.member_id === status.Status.leader;
  } catch {
    return false; // it is down, or stopped
  }
}

/** What the ledger of a store has. */
export async function contentsOf(store: LedgerStore): Promise<Ledger> {
  await store.refresh?.();
  const ledger = new Map<string, number>();
  for await (const { number, text } of store.read(0)) {
    const { message } = JSON.parse(text) as { readonly message?: string };
    if (message !== undefined) ledger.set(message, number);
  }
  return ledger;
}

/** Asks the engine for its head, over links that never fail, and reads the ledger in the end. */
class Reader implements AsyncDisposable {
  readonly #store: LedgerStore;
  readonly #history: History;
  readonly #over = new AbortController();
  readonly #running: Promise<void>;

  constructor(store: LedgerStore, history: History) {
    this.#store = store;
    this.#history = history;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const calledAt = performance.now();
      try {
        const head = await this.#store.refresh?.();
        if (head !== undefined)
          this.#history.reads.push({ calledAt, returnedAt: performance.now(), number: head.number });
      } catch {
        // The engine is away, so there is no answer to judge.
      }
      await new Promise((resolve) => setTimeout(resolve, READS_EVERY_MS));
    }
  }

  async end(): Promise<Ledger> {
    this.#over.abort();
    await this.#running;
    return await contentsOf(this.#store);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#running;
    await this.#store.close();
  }
}
