import { anonymousNode } from "@xdskit/protocol";
import {
  type ClientEffect,
  type ClientEvent,
  ClientMachine,
  type ClientReport,
  clientDialect,
  type DiscoveryRequest,
  type DiscoveryResponse,
  opaqueTraits,
} from "@xdskit/protocol/internal";
import { afterEach, expect, test, vi } from "vitest";
import { CLUSTER, grpcSource } from "../../test/support/sources.ts";
import type { StreamListener } from "../transport/transport.ts";
import { Driver, type DriverOptions } from "./driver.ts";

afterEach(() => void vi.useRealTimers());

const silentReader: DriverOptions["reader"] = {
  expect: () => {},
  read: () => ({ kind: "unreadable", problem: "" }),
  forget: () => {},
};

/** Transports that send nothing. */
function transportsClosing(close: () => Promise<void>): DriverOptions["transports"] {
  const silent = { open: () => ({ send: () => {}, close: () => {} }), close };
  return { grpc: silent, rest: silent, file: silent };
}

/** A driver whose machine has one answer to each kind of event. */
function drive(
  effects: Partial<Record<ClientEvent["kind"], readonly ClientEffect[]>>,
  options: Partial<Pick<DriverOptions, "reader" | "report" | "transports">> = {},
): Driver {
  return new Driver({
    machine: { onAll: (events) => events.flatMap(({ kind }) => effects[kind] ?? []), states: () => [] },
    transports: transportsClosing(() => Promise.resolve()),
    reader: silentReader,
    report: () => {},
    restore: () => undefined,
    forget: () => {},
    ...options,
  });
}

test("what a listener of reports asks for is done after what the report came with", async () => {
  const told: ClientReport["kind"][] = [];
  const report = (kind: "stream-opened" | "server-chosen" | "stream-closed"): ClientEffect => ({
    kind: "report",
    report: { kind, source: "grpc", server: 0 },
  });
  const driver: Driver = drive(
    {
      "source-added": [report("stream-opened"), report("server-chosen")],
      "warming-ended": [report("stream-closed")],
    },
    {
      report: ({ kind }) => {
        told.push(kind);
        if (kind !== "stream-opened") return;
        driver.warmingEnded("grpc");
        driver.states();
      },
    },
  );
  driver.addSource(grpcSource([]));
  driver.states();
  expect(told).toEqual(["stream-opened", "server-chosen", "stream-closed"]);
  await driver.close();
});

test("what came of a source is forgotten when nobody needs the last stream to it", async () => {
  const forgotten: unknown[] = [];
  const open = (stream: number): ClientEffect => ({
    kind: "open-stream",
    stream,
    source: "grpc",
    server: 0,
    onlyType: undefined,
  });
  const driver = drive(
    {
      "source-added": [open(1), open(2)],
      "warming-ended": [{ kind: "close-stream", stream: 1 }],
      "node-changed": [{ kind: "close-stream", stream: 2 }],
    },
    {
      reader: { ...silentReader, forget: (...what) => void forgotten.push(what) },
    },
  );
  driver.addSource(grpcSource([]));
  driver.warmingEnded("grpc");
  driver.states();
  expect(forgotten).toEqual([]);
  driver.changeNode(anonymousNode);
  driver.states();
  expect(forgotten).toEqual([["grpc", undefined]]);
  await driver.close();
});

test("every close resolves when the transports are closed", async () => {
  let end = (): void => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const driver = drive({}, { transports: transportsClosing(() => closed) });
  const resolved: number[] = [];
  const calls = [1, 2].map((call) => driver.close().then(() => resolved.push(call)));
  await new Promise((done) => setImmediate(done));
  expect(resolved).toEqual([]);
  end();
  await Promise.all(calls);
  expect(resolved).toEqual([1, 2]);
});

const response: DiscoveryResponse = {
  ...{ kind: "sotw", type: CLUSTER, nonce: "n", version: "1", resources: [], errors: [], problems: [] },
  controlPlane: undefined,
};

const deltaResponse: DiscoveryResponse = {
  ...{ kind: "delta", type: CLUSTER, nonce: "n", systemVersion: "", resources: [], removed: [], errors: [] },
  ...{ problems: [], controlPlane: undefined },
};

/** A driver of the real machine, whose server is a function that gets each request. */
function driveWith(
  read: DiscoveryResponse,
  receive: (listener: StreamListener, request: DiscoveryRequest) => void,
): Driver {
  const open = (_: unknown, listener: StreamListener) => {
    queueMicrotask(() => listener.opened());
    return { send: (request: DiscoveryRequest) => receive(listener, request), close: () => {} };
  };
  const silent = transportsClosing(() => Promise.resolve());
  return new Driver({
    machine: new ClientMachine({ traits: opaqueTraits, node: anonymousNode }),
    transports: { ...silent, grpc: { ...silent.grpc, open } },
    reader: { ...silentReader, read: () => ({ kind: "read", response: read }) },
    report: () => {},
    restore: () => undefined,
    forget: () => {},
  });
}

test("a server that answers every request at once with what is refused does not keep both sides busy", async () => {
  vi.useFakeTimers();
  const sent: (string | undefined)[] = [];
  const driver = driveWith({ ...response, problems: ["it is bad"] }, (listener, { error }) => {
    sent.push(error?.message);
    setTimeout(() => void listener.response(new Uint8Array()), 1);
  });
  driver.watch({ source: grpcSource([]), type: CLUSTER, term: "a" }, () => {});
  await vi.advanceTimersByTimeAsync(7_000);
  expect(sent).toEqual([undefined, ...Array.from({ length: 9 }, () => "it is bad")]);
  await driver.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(10);
});

const fewTokens = { maxTokens: 2, tokensPerSecond: 10 };

test.each([
  ["delta with", "delta", fewTokens, 1_000, 1_010],
  ["delta without", "delta", undefined, 3_000, 3_000],
  ["State of the World, where one ACK waits, with", "sotw", fewTokens, 3_000, 3_000],
] as const)(
  "C-CFG-07 in %s a rate limit a server that floods is read as far as ACKs may wait",
  async (_, variant, rateLimit, first, later) => {
    vi.useFakeTimers();
    let read = 0;
    let server: StreamListener | undefined;
    const driver = driveWith(variant === "delta" ? deltaResponse : response, (listener) => {
      server = listener;
    });
    const flood = async (): Promise<void> => {
      for (; read < 3_000; read++) await server?.response(new Uint8Array());
    };
    driver.watch({ source: grpcSource([], { variant, rateLimit }), type: CLUSTER, term: "a" }, () => {});
    await vi.advanceTimersByTimeAsync(1);
    void flood();
    await vi.advanceTimersByTimeAsync(1);
    const before = read;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([before, read]).toEqual([first, later]);
    await driver.close();
  },
);

/** A driver under a rate limit whose server floods it; `read` is how many responses it took. */
function flooded(changes: Parameters<typeof grpcSource>[1]): {
  readonly driver: Driver;
  readonly read: () => number;
  readonly over: Promise<void>;
} {
  let read = 0;
  let flood: (listener: StreamListener) => Promise<void> = async () => {};
  const over = new Promise<void>((resolve) => {
    flood = async (listener) => {
      for (; read < 3_000; read++) await listener.response(new Uint8Array());
      resolve();
    };
  });
  let isFirst = true;
  const driver = driveWith(deltaResponse, (listener) => {
    if (isFirst) void flood(listener);
    isFirst = false;
  });
  const rateLimit = { maxTokens: 1, tokensPerSecond: 0.001 };
  const source = grpcSource([], { variant: "delta", rateLimit, ...changes });
  driver.watch({ source, type: CLUSTER, term: "a" }, () => {});
  return { driver, read: () => read, over };
}

test("a response that is not read on is over when its stream is", async () => {
  const { driver, read, over } = flooded({});
  await vi.waitFor(() => expect(read()).toBe(1_000));
  await driver.close();
  await over;
  expect(read()).toBe(3_000);
});

test("ACKs that are withheld while Clusters warm keep nothing from being read", async () => {
  const { driver, read, over } = flooded({ dialect: clientDialect({ cdsAckWhenWarm: true }) });
  await over;
  expect(read()).toBe(3_000);
  await driver.close();
});

test("of ever new sources, those that were watched last are remembered", async () => {
  const heard: ClientEvent[] = [];
  const told: string[] = [];
  const driver: Driver = new Driver({
    machine: {
      onAll: (events) => {
        heard.push(...events);
        return events.flatMap((event) =>
          event.kind === "source-removed" ? [{ kind: "source-forgotten", source: event.source }] : [],
        );
      },
      states: () => [],
    },
    transports: transportsClosing(() => Promise.resolve()),
    reader: { ...silentReader, forget: (source, type) => void told.push(`reader ${source} ${type}`) },
    report: () => {},
    restore: () => undefined,
    forget: (source) => void told.push(source),
  });
  const watch = (id: string): (() => void) =>
    driver.watch({ source: { ...grpcSource([]), id }, type: CLUSTER, term: "a" }, () => {});
  const stopKept = watch("kept");
  for (let i = 0; i < 102; i++) watch(`s${i}`)();
  driver.states();
  expect(told).toEqual(["reader s0 undefined", "s0", "reader s1 undefined", "s1"]);
  // One that comes back is added again, and those that are watched are never forgotten.
  watch("s0");
  watch("s5");
  stopKept();
  driver.states();
  expect(heard.slice(-4).map(({ kind }) => kind)).toEqual([
    ...["source-added", "watch-started", "watch-started", "watch-stopped"],
  ]);
  expect(told).toHaveLength(4);
  await driver.close();
});
