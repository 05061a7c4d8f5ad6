import { decodeSotwResponse, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import type { NodeMappingFunction } from "@xdskit/protocol";
import type { ServerEvents } from "@xdskit/server";
import { afterEach, describe, expect, test, vi } from "vitest";
import { until, within } from "../support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, cluster, node, put, sotwRequest, startWorld, type World } from "../support/test-server.ts";

const worlds: World[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

async function start(...args: Parameters<typeof startWorld>): Promise<World> {
  const world = await startWorld(...args);
  worlds.push(world);
  return world;
}

const kinds = [
  "connection-opened",
  "stream-opened",
  "node-connected",
  "request-classified",
  "response-sent",
  "response-acked",
  "response-nacked",
  "stream-closed",
] as const satisfies readonly (keyof ServerEvents)[];

test("S-OBS-03 tells what happens to a stream, with the time", async () => {
  const { server, connect } = await start();
  const told: string[] = [];
  let nack: ServerEvents["response-nacked"] | undefined;
  for (const kind of kinds) server.on(kind, ({ kind: told_ }) => told.push(told_));
  server.on("response-nacked", (event) => {
    nack = event;
  });
  const call = (await connect()).open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  const first = decodeSotwResponse(await call.next());
  call.send(sotwRequest(CLUSTER, [], first.nonce, first.versionInfo));
  server.commit(put(cluster("b")));
  const second = decodeSotwResponse(await call.next());
  const errorDetail = { code: 3, message: "no good" };
  call.send(
    encodeSotwRequest({ typeUrl: CLUSTER, responseNonce: second.nonce, versionInfo: first.versionInfo, errorDetail }),
  );
  await until("the NACK", () => nack !== undefined);
  call.end();
  await until("the end", () => told.at(-1) === "stream-closed");
  expect(told).toEqual([
    "connection-opened",
    "stream-opened",
    "node-connected",
    "request-classified",
    "response-sent",
    "request-classified",
    "response-acked",
    "response-sent",
    "request-classified",
    "response-nacked",
    "stream-closed",
  ]);
  expect(nack).toMatchObject({ type: CLUSTER, error: { code: 3, message: "no good" }, node: node("test") });
  expect(nack?.at).toBeInstanceOf(Date);
});

describe("S-OBS-03 a listener that throws", () => {
  test.each(["stream-opened", "request-classified"] as const)("on %s ends that stream, and no other", async (kind) => {
    const { server, connect } = await start();
    const peer = await connect();
    const before = peer.open(ADS_SOTW);
    before.send(sotwRequest(CLUSTER));
    const { nonce, versionInfo } = decodeSotwResponse(await before.next());
    let acks = 0;
    server.on("response-acked", () => {
      acks++;
    });
    before.send(sotwRequest(CLUSTER, [], nonce, versionInfo));
    const failures: unknown[] = [];
    await until("the ACK is taken", () => acks === 1);
    const stop = server.on(kind, () => {
      throw new Error("no");
    });
    server.on("listener-failed", ({ error }) => failures.push(error));
    const refused = (await connect()).open(ADS_SOTW);
    refused.send(sotwRequest(CLUSTER));
    expect(await within("the status", refused.status)).toEqual({ code: 2, message: "refused by this server" });
    expect(failures).toEqual([new Error("no")]);
    stop();
    server.commit(put(cluster("b")));
    expect(decodeSotwResponse(await before.next()).resources).toHaveLength(2);
  });

  test("on anything else hurts nobody", async () => {
    const { server, connect } = await start();
    server.on("response-sent", () => {
      throw new Error("no");
    });
    const call = (await connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
  });
});

describe("S-OBS-03 an async listener that rejects", () => {
  test.each(["stream-opened", "request-classified"] as const)("on %s ends that stream, and no other", async (kind) => {
    const { server, connect } = await start();
    const before = (await connect()).open(ADS_SOTW);
    before.send(sotwRequest(CLUSTER));
    const { nonce, versionInfo } = decodeSotwResponse(await before.next());
    const failures: unknown[] = [];
    server.on("listener-failed", ({ event, error }) => failures.push([event, error]));
    const stop = server.on(kind, async () => {
      await undefined;
      throw new Error("no");
    });
    const refused = (await connect()).open(ADS_SOTW);
    refused.send(sotwRequest(CLUSTER));
    expect(await within("the status", refused.status)).toEqual({ code: 2, message: "refused by this server" });
    expect(failures[0]).toEqual([kind, new Error("no")]);
    stop();
    server.commit(put(cluster("b")));
    before.send(sotwRequest(CLUSTER, [], nonce, versionInfo));
    expect(decodeSotwResponse(await before.next()).resources).toHaveLength(2);
  });

  test("on anything else hurts nobody, not even while it is told of", async () => {
    const { server, connect } = await start();
    const failures: unknown[] = [];
    const fail = (): Promise<void> => Promise.reject(new Error("no"));
    server.on("response-sent", fail);
    server.on("listener-failed", ({ event }) => failures.push(event));
    server.on("listener-failed", fail);
    const call = (await connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
    await until("it is told", () => failures.length > 0);
    expect(failures).toEqual(["response-sent"]);
  });
});

describe("a log that fails", () => {
  const failing: readonly (readonly [string, () => unknown])[] = [
    ["throws", () => JSON.parse("{")],
    ["is rejected", () => Promise.reject(new Error("full"))],
  ];

  test.each(failing)("and %s loses its lines and nothing else", async (_, write) => {
    const writes = vi.fn<() => unknown>(write);
    const { server, connect } = await start({ log: { write: writes as () => void } });
    const call = (await connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    const { nonce, versionInfo } = decodeSotwResponse(await call.next());
    const { length } = writes.mock.calls;
    server.commit(put(cluster("b")));
    call.send(sotwRequest(CLUSTER, [], nonce, versionInfo));
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(2);
    expect(writes.mock.calls.length).toBeGreaterThan(length);
  });

  test("is told of once, and again when it took a line in between", async () => {
    let isFull = false;
    const write = (): void => {
      if (isFull) throw new Error("full");
    };
    const { server } = await start({ log: { write } });
    const failures: unknown[] = [];
    server.on("listener-failed", ({ event, error }) => failures.push([event, error]));
    for (const full of [true, true, false, true, true]) {
      isFull = full;
      server.commit(put(cluster(`c${server.revision}`)));
    }
    expect(failures).toEqual([
      ["log", new Error("full")],
      ["log", new Error("full")],
    ]);
  });
});

test("a listener that is registered twice is called twice, and each registration ends by itself", async () => {
  const { server } = await start();
  let calls = 0;
  const count = (): number => ++calls;
  const stops = [server.on("committed", count), server.on("committed", count)];
  const callsAfterCommit = (): number => {
    calls = 0;
    server.commit(put(cluster(`c${server.revision}`)));
    return calls;
  };
  expect(callsAfterCommit()).toBe(2);
  stops[0]?.();
  stops[0]?.();
  expect(callsAfterCommit()).toBe(1);
  stops[1]?.();
  expect(callsAfterCommit()).toBe(0);
});

test("a listener may commit", async () => {
  const { server, connect } = await start();
  server.on("node-connected", ({ node: { id } }) => server.commit(put(cluster(`for-${id}`))));
  const call = (await connect()).open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  expect(decodeSotwResponse(await call.next()).resources).toHaveLength(2);
});

describe("a node mapping that fails", () => {
  const mistakes: readonly (readonly [string, () => unknown, unknown])[] = [
    [
      "throws",
      () => {
        throw new Error("no");
      },
      new Error("no"),
    ],
    ["returns one name", () => "base", new TypeError('nodeMapping: expected a list of layer names, got "base"')],
    ["returns nothing", () => undefined, new TypeError("nodeMapping: expected a list of layer names, got undefined")],
    [
      "is async",
      () => Promise.reject(new Error("late")),
      new TypeError("nodeMapping: expected a list of layer names, got a promise: it must not be async"),
    ],
  ];
  const refused = { code: 7, message: "the node mapping of this server failed" };

  test.each(mistakes)("because it %s rejects the node, and no other", async (_, answer, error) => {
    const nodeMapping = (({ id }) => (id === "test" ? answer() : ["base"])) as NodeMappingFunction;
    const { server, connect } = await start({ nodeMapping });
    const told: unknown[] = [];
    server.on("listener-failed", (event) => told.push([event.event, event.error]));
    server.on("invariant-broken", (event) => told.push(event));
    const peer = await connect();
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    expect(await within("the status", call.status)).toEqual(refused);
    expect(told).toEqual([["node-mapping", error]]);
    const other = peer.open(ADS_SOTW);
    other.send(encodeSotwRequest({ typeUrl: CLUSTER, node: node("other") }));
    expect(decodeSotwResponse(await other.next()).resources).toHaveLength(1);
  });

  test("when it replaces another ends the streams of the nodes for which it fails", async () => {
    const { server, connect } = await start();
    const told: unknown[] = [];
    server.on("listener-failed", (event) => told.push([event.event, event.error]));
    const call = (await connect()).open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    await call.next();
    server.setNodeMapping(() => {
      throw new Error("no");
    });
    expect(await within("the status", call.status)).toEqual(refused);
    expect(told).toEqual([["node-mapping", new Error("no")]]);
  });
});

describe("another function of the program", () => {
  const structs = { ...node("test"), clientFeatures: ["envoy.config.require-any-fields-contain-struct"] };
  const promise = "a promise: it must not be async";
  const thrown = new Error("no");
  const failures: readonly (readonly [string, () => unknown, Readonly<Record<string, unknown>>])[] = [
    [
      "throws",
      () => {
        throw thrown;
      },
      { access: thrown, clientOverrides: thrown, convertForStructs: thrown },
    ],
    [
      "is async",
      () => Promise.reject(new Error("late")),
      {
        access: new TypeError(`access: expected true or false, got ${promise}`),
        clientOverrides: new TypeError(
          `clientOverrides: expected { name, edition, dialect } or undefined, got ${promise}`,
        ),
        convertForStructs: new TypeError(`convertForStructs: expected a Uint8Array, got ${promise}`),
      },
    ],
    [
      "answers a number",
      () => 5,
      {
        access: new TypeError("access: expected true or false, got 5"),
        clientOverrides: new TypeError("clientOverrides: expected an object, got 5"),
        convertForStructs: new TypeError("convertForStructs: expected a Uint8Array, got 5"),
      },
    ],
  ];

  async function startWith(options: object) {
    const { server, connect } = await start({ ...options });
    const told: unknown[] = [];
    const denied: string[] = [];
    server.on("listener-failed", ({ event, error }) => told.push([event, error]));
    server.on("invariant-broken", (event) => told.push(event));
    server.on("access-denied", ({ reason }) => denied.push(reason));
    const call = (await connect()).open(ADS_SOTW);
    call.send(encodeSotwRequest({ typeUrl: CLUSTER, node: structs }));
    return { call, told, denied };
  }

  test.each(failures)("that %s as clientOverrides overrides nothing", async (_, answer, { clientOverrides: error }) => {
    const { call, told } = await startWith({ clientOverrides: answer });
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
    expect(told).toEqual([["client-overrides", error]]);
  });

  test.each(failures)("that %s as convertForStructs converts nothing", async (_, answer, { convertForStructs }) => {
    const { call, told } = await startWith({ convertForStructs: answer });
    expect(decodeSotwResponse(await call.next()).resources).toHaveLength(1);
    expect(told).toEqual([["struct-conversion", convertForStructs]]);
  });

  test.each(failures)("that %s as access denies", async (_, answer, { access: error }) => {
    const { call, told, denied } = await startWith({ access: answer });
    expect(await within("the status", call.status)).toMatchObject({ code: 16 });
    expect(told).toEqual([["access", error]]);
    expect(denied).toEqual(["the access function failed"]);
  });

  test.each([
    [{ edition: "2018" }, /clientOverrides\.name: expected/],
    [{ name: "a", edition: "1999" }, /clientOverrides\.edition: expected one of 2018, 2020, 2021, current, got "1999"/],
    [{ name: "a", dialect: { nope: 1 } }, /clientOverrides\.dialect\.nope: unknown switch/],
  ])("has its overrides checked: %o", async (overrides, message) => {
    const { call, told } = await startWith({ clientOverrides: () => overrides });
    await call.next();
    expect(told).toEqual([["client-overrides", expect.objectContaining({ message: expect.stringMatching(message) })]]);
  });
});

test("two servers in one process know nothing of each other", async () => {
  const one = await start({}, [cluster("a")]);
  const two = await start({ controlPlane: "two" }, [cluster("b"), cluster("c")]);
  const answers = await Promise.all(
    [one, two].map(async ({ connect }) => {
      const call = (await connect()).open(ADS_SOTW);
      call.send(sotwRequest(CLUSTER));
      return decodeSotwResponse(await call.next());
    }),
  );
  expect(answers.map(({ controlPlane, resources }) => [controlPlane, resources.length])).toEqual([
    ["xdskit", 1],
    ["two", 2],
  ]);
});
