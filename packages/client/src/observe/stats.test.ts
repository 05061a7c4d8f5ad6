import { formatTypeUrl } from "@xdskit/protocol";
import type { ClientReport } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { StatsCounter } from "./stats.ts";

const type = formatTypeUrl("acme.Widget");
const source = "s";
const status = { code: 14, message: "gone" };
const refused = { source, type, version: "8", controlPlane: undefined, error: "no" };
const ended = { source, server: 0, status, types: [type], retryMs: 1 };

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
    { kind: "response-rejected", ...refused, isNews: false },
    { kind: "response-rejected", ...refused, controlPlane: "cp2", isNews: true },
    { kind: "absence-timeout", source, type, names: ["a", "b"] },
    { kind: "rate-limited", source, pending: 2 },
    { kind: "rate-limited", source, pending: 1 },
    { kind: "rate-limited", source, pending: 0 },
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
    updateRejected: 2,
    initFetchTimeout: 2,
    configReload: 2,
    updateTimeMs: 1_000,
    version: expect.stringMatching(/^[0-9a-f]{16}$/),
    versionText: "7",
  };
  const connected = { source, connectedState: true, identifier: "cp2", rateLimitEnforced: 3, pendingRequests: 1 };
  expect(counter.read()).toEqual({ sources: [connected], subscriptions: [counted] });

  counter.count({ kind: "stream-ended", ...ended, wasOpened: true, isFailure: false });
  expect(counter.read()).toEqual({
    sources: [{ ...connected, connectedState: false }],
    subscriptions: [counted],
  });
  counter.count({ kind: "stream-ended", ...ended, wasOpened: false, isFailure: true });
  counter.count({ kind: "poll-unchanged", source, type });
  counter.count({ kind: "file-read", source, type });
  expect(counter.read().subscriptions).toEqual([{ ...counted, updateAttempt: 3, updateFailure: 1, updateSuccess: 2 }]);
});

test("C-OBS-01 a stream of a type is a failure of that type, before its first request too", () => {
  const counter = new StatsCounter();
  const other = formatTypeUrl("acme.Gadget");
  counter.count({ kind: "stream-opened", source, server: 0 });
  counter.count({ kind: "request-sent", source, type: other, as: "initial", node: undefined });
  counter.count({ kind: "stream-ended", ...ended, wasOpened: false, isFailure: true });
  const { sources, subscriptions } = counter.read();
  expect(subscriptions.map((one) => [one.type, one.updateFailure])).toEqual([
    [other, 0],
    [type, 1],
  ]);
  expect(sources.map(({ connectedState }) => connectedState)).toEqual([true]);
});

test("C-OBS-01 what nobody needs is not connected, and neither is a client that was closed", () => {
  const counter = new StatsCounter();
  const isConnected = (): boolean | undefined => counter.read().sources[0]?.connectedState;
  counter.count({ kind: "stream-opened", source, server: 0 });
  counter.count({ kind: "stream-closed", source, server: 0 });
  expect(isConnected()).toBe(false);
  counter.count({ kind: "stream-opened", source, server: 0 });
  expect(isConnected()).toBe(true);
  counter.disconnect();
  expect(isConnected()).toBe(false);
});
