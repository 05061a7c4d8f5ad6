import type { ClientEffect, ClientEvent, ClientReport } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { grpcSource, testApi } from "../../test/support/sources.ts";
import { ResponseReader } from "../reading/response-reader.ts";
import { Driver } from "./driver.ts";

test("what a listener of reports asks for is done after what the report came with", async () => {
  const told: ClientReport["kind"][] = [];
  const opened: ClientReport = { kind: "stream-opened", source: "grpc", server: 0 };
  const chosen: ClientReport = { kind: "server-chosen", source: "grpc", server: 0 };
  const effects: Partial<Record<ClientEvent["kind"], readonly ClientReport[]>> = {
    "source-added": [opened, chosen],
    "warming-ended": [{ kind: "stream-closed", source: "grpc", server: 0 }],
  };
  const closed = { open: () => ({ send: () => {}, close: () => {} }), close: () => Promise.resolve() };
  const driver: Driver = new Driver({
    machine: {
      onAll: (events) =>
        events.flatMap(({ kind }) => (effects[kind] ?? []).map((report): ClientEffect => ({ kind: "report", report }))),
      states: () => [],
    },
    transports: { grpc: closed, rest: closed, file: closed },
    reader: new ResponseReader({ api: testApi(), isPgvOn: true, validators: [] }),
    report: (report) => {
      told.push(report.kind);
      if (report !== opened) return;
      driver.warmingEnded("grpc");
      driver.states();
    },
    restore: () => undefined,
  });
  driver.addSource(grpcSource([]));
  driver.states();
  expect(told).toEqual(["stream-opened", "server-chosen", "stream-closed"]);
  await driver.close();
});
