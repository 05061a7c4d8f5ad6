import type { MeshSnapshot } from "@xdskit/client";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import type { Wait } from "../../discovery/follow-mesh.ts";
import { findingsIn } from "./findings.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const LISTENER = formatTypeUrl("envoy.config.listener.v3.Listener");
const none = new Map<string, never>();
const nothing: MeshSnapshot = {
  revision: 1,
  isComplete: true,
  ...{ listeners: none, routes: none, scopedRoutes: none, virtualHosts: none, clusters: none, endpoints: none },
  ...{ lbEndpoints: none, secrets: none, extensions: none, runtimes: none, all: none, dangling: [] },
};

const received = {
  api: createEnvoyApi(),
  snapshot: nothing,
  slow: { ms: 1_000, isSet: false },
  waits: [],
  refusals: [],
  overruled: [],
  unanswered: [],
  isOfGrpc: false,
};
const wait = (type: typeof CLUSTER, term: string, afterMs: number): Wait => ({ source: "s", type, term, afterMs });

test("what never came is told before what was slow", () => {
  const findings = findingsIn({
    ...received,
    waits: [wait(CLUSTER, "*", 1_500), wait(LISTENER, "*", 1_000), wait(LISTENER, "edge", 12_345)],
    unanswered: [{ type: LISTENER, source: "s", error: { code: 14, message: "gone" } }],
  });
  expect(findings).toEqual([
    {
      severity: "error",
      code: "NO_ANSWER",
      type: LISTENER,
      message: "lds: asked for, and never answered: UNAVAILABLE: gone",
    },
    { severity: "warning", code: "ANSWER_SLOW", type: CLUSTER, message: "cds: the first answer took 1.5 s" },
    {
      severity: "warning",
      code: "ANSWER_SLOW",
      type: LISTENER,
      name: "edge",
      message: "lds edge: the answer took 12 s",
    },
  ]);
});

test("of much that is slow the slowest are told, and how many more there are; over a limit that was set they are errors", () => {
  const waits = Array.from({ length: 7 }, (_, index) => wait(CLUSTER, `c${index}`, 300 + index * 10));
  const findings = findingsIn({ ...received, waits, slow: { ms: 250, isSet: true } });
  expect(findings.map(({ severity, message }) => [severity, message])).toEqual([
    ["error", "cds c6: the answer took 0.36 s"],
    ["error", "cds c5: the answer took 0.35 s"],
    ["error", "cds c4: the answer took 0.34 s"],
    ["error", "cds c3: the answer took 0.33 s"],
    ["error", "cds c2: the answer took 0.32 s"],
    ["error", "cds: 2 more took longer than 0.25 s"],
  ]);
});
