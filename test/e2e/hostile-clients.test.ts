import type { WirePeer } from "@xdskit/conformance";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLUSTER, connectWhenUp, type DeltaClient, ENDPOINTS, openDeltaClient } from "./support/delta-client.ts";
import { type Envoy, startEnvoy, timersFired } from "./support/envoy.ts";
import { type Backend, startHttpBackend } from "./support/http-backend.ts";
import { type HttpLoad, startHttpLoad } from "./support/http-load.ts";
import { note, times } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

const SMALL_CLUSTERS = 200;
const STREAMS = 1_000;
const STREAMS_PER_CONNECTION = 50;

/**
 * An Envoy with requests through it and a scripted client that times every change: hostile clients must not affect
 * them.
 */
describeWith("envoy", "beside clients that behave badly", () => {
  const stack = createStack();
  let web: Backend;
  let site: Site;
  let server: XdsServer;
  let envoy: Envoy;
  let load: HttpLoad;
  let pulse: DeltaClient;
  let beat = 0;
  let isSteady = true;

  beforeAll(async () => {
    web = stack.use(await startHttpBackend("web"));
    const port = await freePort();
    site = stack.use(
      createSite({
        "web.json": [
          cluster({ name: "web" }),
          endpoints("web", [web.port]),
          listener({ name: "http", port, routes: "routes" }),
          routes("routes", [{ cluster: "web" }]),
        ],
        "many.json": Array.from({ length: SMALL_CLUSTERS }, (_, index) => staticCluster(`many-${index}`, [1])),
        "pulse.json": [endpoints("pulse", [1])],
      }),
    );
    server = stack.use(await startXdsServer({ site }));
    envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
    await envoy.ready(3_000);
    load = stack.use(startHttpLoad({ port, keptPerSecond: 100, newPerSecond: 20 }));
    await load.answeredBy("web", 2_000);
    pulse = await openPulse();
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  const openPulse = async (): Promise<DeltaClient> => {
    const peer = await connected(server.port);
    const client = openDeltaClient(peer, { nodeId: "steady", type: ENDPOINTS, names: ["pulse"] });
    await until({ says: "the steady client has its endpoints", withinMs: 3_000 }, () => client.held.size === 1);
    isSteady = true;
    void client.stream.status.then(() => {
      isSteady = false;
    });
    return client;
  };
  const connected = async (port: number, windowBytes?: number): Promise<WirePeer> =>
    stack.use(await connectWhenUp(port, windowBytes));
  /** Makes an edit; resolves when the server has loaded it. */
  const edit = async (files: Parameters<Site["write"]>[0]): Promise<void> => {
    const revision = await server.revision();
    site.write(files);
    await until(
      { says: "the server has taken the edit", withinMs: 5_000 },
      async () => (await server.revision()) > revision,
    );
  };
  /** Makes an edit; returns the milliseconds until it reaches the steady client. */
  const timeOneChange = async (): Promise<number> => {
    const before = pulse.held.get("pulse");
    const startedAt = performance.now();
    site.write({ "pulse.json": [endpoints("pulse", [1 + ++beat])] });
    await until(
      { says: "the steady client hears of the edit", withinMs: 3_000, everyMs: 1 },
      () => pulse.held.get("pulse") !== before,
    );
    return Math.round(performance.now() - startedAt);
  };
  /** Makes edits during a scenario; returns what the other clients noticed. */
  const others = async (scenario: string): Promise<object> => {
    const latencies: number[] = [];
    for (let change = 0; change < times(5, 30); change++) latencies.push(await timeOneChange());
    note(scenario, "steady client", "edit to client, slowest ms", Math.max(...latencies));
    const { failed } = load.take();
    return { isSteady, failed, timers: await timersFired(envoy), isPrompt: Math.max(...latencies) < 1_000 };
  };
  const undisturbed = { isSteady: true, failed: {}, timers: {}, isPrompt: true };

  test("alone, as a measure for the rest", async () => {
    expect(await others("steady alone")).toEqual(undisturbed);
  });

  test("a client that refuses everything is told nothing twice", async () => {
    const peer = await connected(server.port);
    const refusing = Array.from({ length: 20 }, (_, index) =>
      openDeltaClient(peer, { nodeId: `refusing-${index}`, type: CLUSTER, answer: "nack" }),
    );
    await until({ says: "all of them were told once", withinMs: 3_000 }, () =>
      refusing.every((client) => client.counts().responses >= 1),
    );
    expect(await others("20 clients refuse everything")).toEqual(undisturbed);
    await watchFor(500);
    expect(new Set(refusing.map((client) => client.counts().responses))).toEqual(new Set([1]));
    site.write({ "one.json": [staticCluster("one-more", [1])] });
    await until({ says: "all are told of the new one", withinMs: 3_000 }, () =>
      refusing.every((client) => client.counts().responses === 2),
    );
    expect(refusing.map((client) => client.counts().resources)).toEqual(refusing.map(() => SMALL_CLUSTERS + 2));
    await peer.close();
  });

  test("a client that floods the server with requests", async () => {
    const peer = await connected(server.port);
    const flooding = openDeltaClient(peer, { nodeId: "flooding", type: CLUSTER, names: ["many-0"] });
    let sent = 0;
    const flood = setInterval(() => {
      for (let burst = 0; burst < 100; burst++) {
        const name = `many-${sent++ % SMALL_CLUSTERS}`;
        flooding.send({ resourceNamesSubscribe: [name] });
        flooding.send({ resourceNamesUnsubscribe: [name] });
      }
    }, 10);
    const noticed = await others("a client floods requests");
    clearInterval(flood);
    note("a client floods requests", "flooding client", "requests", sent * 2);
    expect(noticed).toEqual(undisturbed);
    expect(sent).toBeGreaterThan(1_000);
    await peer.close();
  });

  test("a client that stops reading costs little, and gets the newest state when it reads again", async () => {
    const padding = "x".repeat(20_000);
    const large = (round: number): object[] =>
      Array.from({ length: 100 }, (_, index) =>
        staticCluster(`large-${index}`, [1], {
          metadata: { filter_metadata: { padding: { text: `${round} ${padding}` } } },
        }),
      );
    await edit({ "large.json": large(0) });
    const peer = await connected(server.port, 65_535);
    const deaf = Array.from({ length: 5 }, (_, index) =>
      openDeltaClient(peer, { nodeId: `deaf-${index}`, type: CLUSTER, isDeaf: true }),
    );
    await until(
      { says: "the server notices", withinMs: 5_000 },
      async () => (await server.metric("xds_server_streams_stalled")) >= 5,
    );
    const rounds = times(20, 100);
    const before = await residentMegabytes(server);
    for (let round = 1; round <= rounds; round++) {
      await edit({ "large.json": large(round) });
    }
    const growth = (await residentMegabytes(server)) - before;
    note("5 clients stop reading", "server", `${rounds} changes of 2 MB, resident growth, MB`, growth);
    expect(await others("5 clients stop reading")).toEqual(undisturbed);
    // Queueing every 2 MB version for 5 streams would take 10 MB per change.
    expect(growth).toBeLessThan(rounds * 10);
    for (const client of deaf) client.read();
    const steady = openDeltaClient(await connected(server.port), { nodeId: "newcomer", type: CLUSTER });
    await until({ says: "all hold the newest state", withinMs: 10_000 }, () =>
      deaf.every((client) => steady.held.size > 100 && sameVersions(client.held, steady.held)),
    );
    // The first state and responses already started, not one for each change.
    expect(Math.max(...deaf.map((client) => client.counts().responses))).toBeLessThan(rounds);
    await peer.close();
    site.write({ "large.json": undefined });
  });

  test("1,000 streams that come back at once after a kill -9 are answered without being sent what they have", async () => {
    const first = await openFleet();
    await until({ says: "all hold everything", withinMs: 30_000 }, () =>
      first.every((client) => client.held.size >= SMALL_CLUSTERS),
    );
    const held = first.map((client) => client.held);
    await server.kill();
    await server.start();
    const startedAt = performance.now();
    const again = await openFleet(held);
    await until({ says: "all were answered", withinMs: 20_000 }, () =>
      again.every((client) => client.counts().responses >= 1),
    );
    note(
      "1,000 streams come back at once",
      "scripted clients",
      "all answered after, ms",
      Math.round(performance.now() - startedAt),
    );
    expect(again.map((client) => client.counts()).filter(({ resources, removed }) => resources + removed > 0)).toEqual(
      [],
    );
    pulse = await openPulse();
    expect(await others("1,000 streams came back")).toEqual(undisturbed);
    expect(again.map((client) => client.counts()).filter(({ responses }) => responses !== 1)).toEqual([]);
  });

  /** Opens 1,000 streams over 20 connections at once, with the versions that they held before, if any. */
  async function openFleet(held: readonly ReadonlyMap<string, string>[] = []): Promise<DeltaClient[]> {
    const connections = STREAMS / STREAMS_PER_CONNECTION;
    const peers = await Promise.all(Array.from({ length: connections }, () => connected(server.port)));
    return peers.flatMap((peer, connection) =>
      Array.from({ length: STREAMS_PER_CONNECTION }, (_, index) => {
        const number = connection * STREAMS_PER_CONNECTION + index;
        const before = held[number];
        const settings = { nodeId: `fleet-${number}`, type: CLUSTER };
        return openDeltaClient(peer, before === undefined ? settings : { ...settings, held: before });
      }),
    );
  }
});

function sameVersions(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, version]) => b.get(name) === version);
}

async function residentMegabytes(server: XdsServer): Promise<number> {
  const { process } = (await server.admin("/api/v1/server")) as { process: { residentBytes: number } };
  return Math.round(process.residentBytes / 1024 / 1024);
}
