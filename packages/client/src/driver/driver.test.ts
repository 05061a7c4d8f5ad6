import { anonymousNode } from "@xdskit/protocol";
import type { ClientEffect, ClientEvent, ClientReport } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { grpcSource } from "../../test/support/sources.ts";
import { Driver, type DriverOptions } from "./driver.ts";

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
