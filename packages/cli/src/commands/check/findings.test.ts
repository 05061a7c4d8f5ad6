import type { MeshSnapshot } from "@xdskit/client";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
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

test("an answer that takes more than a second is told, and one that never came is told first", () => {
  const findings = findingsIn({
    api: createEnvoyApi(),
    snapshot: nothing,
    types: [
      { source: "s", type: CLUSTER, firstAnswerMs: 1_500 },
      { source: "s", type: CLUSTER, firstAnswerMs: 1_000 },
      { source: "s", type: LISTENER, firstAnswerMs: undefined },
    ],
    refusals: [],
    unanswered: [{ type: LISTENER, error: { code: 14, message: "gone" } }],
  });
  expect(findings).toEqual([
    {
      severity: "error",
      code: "NO_ANSWER",
      type: LISTENER,
      message: "lds: asked for, and never answered: UNAVAILABLE: gone",
    },
    { severity: "warning", code: "ANSWER_SLOW", type: CLUSTER, message: "cds: the first answer took 1.5 s" },
  ]);
});
