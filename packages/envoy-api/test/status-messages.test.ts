import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import {
  type ClientResource,
  createClientConfigWriter,
  createLoadReportReader,
  decodeClientStatusRequest,
  decodeHealthMessage,
  encodeLoadRequest,
} from "../src/index.ts";
import { api } from "./support/api.ts";
import { encoded, healthRequest, loadStats, statusRequest } from "./support/status-messages.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");

test("a load report is read field by field, and its node once", () => {
  const reader = createLoadReportReader();
  const bytes = encoded("envoy.service.load_stats.v3.LoadStatsRequest", loadStats);
  const report = reader.read(bytes);
  expect(report).toEqual({
    node: { ...anonymousNode, id: "n", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] },
    clusters: [
      {
        cluster: "a",
        service: "svc",
        intervalMs: 1_500,
        dropped: 3,
        droppedBy: [{ category: "throttle", count: 2 }],
        localities: [
          {
            locality: { region: "r", zone: "z", subZone: "s" },
            priority: 1,
            succeeded: 1,
            inProgress: 2,
            failed: 3,
            issued: 4,
            activeConnections: 5,
            newConnections: 6,
            failedConnections: 7,
            metrics: [
              { name: "queue", requests: 2, total: 0.5 },
              { name: "cpu_utilization", requests: 2, total: 0.5 },
            ],
            endpoints: [{ address: "10.0.0.1:80", succeeded: 1, failed: 0, issued: 2, inProgress: 0 }],
          },
        ],
      },
    ],
  });
  expect(reader.read(bytes).node).toBe(report.node);
});

test("counts that nobody can have counted are none", () => {
  const locality = { totalIssuedRequests: "18446744073709551615", totalErrorRequests: "1" };
  const clusterStats = [{ clusterName: "a", loadReportInterval: "-1s", upstreamLocalityStats: [locality] }];
  const bytes = encoded("envoy.service.load_stats.v3.LoadStatsRequest", { clusterStats });
  const [load] = createLoadReportReader().read(bytes).clusters;
  expect(load).toMatchObject({ intervalMs: 0, localities: [{ issued: 0, failed: 1 }] });
});

test("what a client is to report, byte by byte", () => {
  const request = { clusters: ["a"], sendAllClusters: true, intervalMs: 1_500, endpoints: true };
  expect(Buffer.from(encodeLoadRequest(request)).toString("hex")).toBe("0a0161120808011080cab5ee0118012001");
});

test("a status request is read with every matcher, and the one of old v2 clients", () => {
  const bytes = encoded("envoy.service.status.v3.ClientStatusRequest", statusRequest);
  const text = (kind: string, value: string, ignoreCase = false): object => ({ kind, text: value, ignoreCase });
  expect(decodeClientStatusRequest(bytes)).toEqual({
    excludeResourceContents: true,
    nodeMatchers: [
      {
        nodeId: text("prefix", "edge-", true),
        nodeMetadatas: [
          { path: ["a", "b"], value: { kind: "one-of", element: { kind: "string", string: text("contains", "x") } } },
          { path: ["n"], value: { kind: "range", start: 1, end: 2 } },
          { path: ["o"], value: { kind: "or", values: [{ kind: "bool", bool: false }, { kind: "null" }] } },
        ],
      },
      { nodeId: text("regex", "a|b"), nodeMetadatas: [] },
    ],
  });
  expect(decodeClientStatusRequest(Buffer.from("0a050a03220161", "hex")).nodeMatchers[0]?.nodeId).toEqual(
    text("regex", "a"),
  );
});

test("what a client that checks health says is read", () => {
  const bytes = encoded("envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse", healthRequest);
  expect(decodeHealthMessage(bytes)).toEqual({
    kind: "request",
    node: { ...anonymousNode, id: "n" },
    protocols: ["HTTP", "REDIS"],
  });
});

const refused: ClientResource = {
  type: CLUSTER,
  kind: "cds",
  name: "a",
  version: "7",
  status: "refused",
  isTold: true,
  content: Buffer.from("0a0161", "hex"),
  updatedAt: 1_500,
  details: "no",
};

test("B-CSD-04 a refused resource of v3, byte by byte and as JSON", () => {
  const writer = createClientConfigWriter("v3", { node: { ...anonymousNode, id: "n" }, scope: "here" });
  writer.add(refused);
  const bytes = writer.finish();
  expect(api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), bytes)).toMatchObject({
    config: [
      {
        node: { id: "n" },
        clientScope: "here",
        genericXdsConfigs: [
          {
            typeUrl: CLUSTER,
            name: "a",
            versionInfo: "7",
            xdsConfig: { "@type": CLUSTER, name: "a" },
            lastUpdated: "1970-01-01T00:00:01.500Z",
            configStatus: "ERROR",
            clientStatus: "NACKED",
            errorState: {
              failedConfiguration: { "@type": CLUSTER, name: "a" },
              lastUpdateAttempt: "1970-01-01T00:00:01.500Z",
              details: "no",
              versionInfo: "7",
            },
          },
        ],
      },
    ],
  });
  const url = Buffer.from(CLUSTER).toString("hex");
  const any = `0a33${url}12030a0161`;
  const time = "0808011080cab5ee01";
  const failure = `424d0a3a${any}12${time}1a026e6f220137`;
  const resource = `0a33${url}1201611a0137223a${any}2a${time}30043804${failure}`;
  expect(Buffer.from(bytes).toString("hex")).toBe(`0ae2010a030a016e1ad401${resource}220468657265`);
});

test("B-CSD-05 a listener of v2 is active, warming or an error, and the worst of them is the status of the type", () => {
  const writer = createClientConfigWriter("v2", { node: { ...anonymousNode, id: "n" }, scope: "here" });
  const listener = { ...refused, kind: "lds", details: undefined } as const;
  writer.add({ ...listener, name: "held", status: "synced" });
  writer.add({ ...listener, name: "sent", status: "stale" });
  writer.add({ ...refused, kind: "lds", name: "bad" });
  writer.add({ ...listener, name: "none", status: "missing", version: "", content: undefined });
  writer.add({ ...listener, kind: "eds" });
  const json = api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), writer.finish());
  const state = {
    versionInfo: "7",
    listener: { "@type": CLUSTER, name: "a" },
    lastUpdated: "1970-01-01T00:00:01.500Z",
  };
  expect(json).toMatchObject({
    config: [
      {
        xdsConfig: [
          {
            status: "ERROR",
            listenerConfig: {
              dynamicListeners: [
                { name: "held", activeState: state },
                { name: "sent", warmingState: state },
                { name: "bad", errorState: { details: "no" } },
              ],
            },
          },
        ],
      },
    ],
  });
});
