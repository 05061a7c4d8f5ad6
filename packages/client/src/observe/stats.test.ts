import { type ClientReport, formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { StatsCounter } from "./stats.ts";

const type = formatTypeUrl("acme.Widget");
const source = "s";
const status = { code: 14, message: "gone" };

test("C-OBS-01 each counter moves in its case, once", () => {
  const counter = new StatsCounter(() => 1_000);
  const reports: readonly ClientReport[] = [
    { kind: "stream-opened", source, server: 0 },
    { kind: "request-sent", source, type, as: "initial", node: undefined },
    {
      kind: "response-accepted",
      source,
      type,
      version: "7",
      controlPlane: "cp",
      resources: 1,
      removed: 0,
      isNews: true,
    },
    { kind: "request-sent", source, type, as: "ack", node: undefined },
    { kind: "response-rejected", source, type, version: "8", error: "no" },
    { kind: "absence-timeout", source, type, names: ["a", "b"] },
    { kind: "rate-limited", source, pending: 2 },
    { kind: "rate-limited", source, pending: 1 },
    { kind: "response-ignored", source, type },
    { kind: "resource-expired", source, type, name: "a" },
    { kind: "server-chosen", source, server: 0 },
  ];
  for (const report of reports) counter.count(report);
  const counted = {
    source,
    type,
    updateAttempt: 2,
    updateSuccess: 1,
    updateFailure: 0,
    updateRejected: 1,
    initFetchTimeout: 2,
    configReload: 1,
    updateTimeMs: 1_000,
    version: expect.stringMatching(/^[0-9a-f]{16}$/),
    versionText: "7",
  };
  const connected = { source, connectedState: true, identifier: "cp", rateLimitEnforced: 1, pendingRequests: 1 };
  expect(counter.read()).toEqual({ sources: [connected], subscriptions: [counted] });

  counter.count({ kind: "stream-ended", source, server: 0, status, wasAnswered: true, retryMs: 1 });
  expect(counter.read()).toEqual({
    sources: [{ ...connected, connectedState: false }],
    subscriptions: [counted],
  });
  counter.count({ kind: "stream-ended", source, server: 0, status, wasAnswered: false, retryMs: 1 });
  counter.count({ kind: "poll-unchanged", source, type });
  expect(counter.read().subscriptions).toEqual([{ ...counted, updateFailure: 1, updateSuccess: 2 }]);
});
