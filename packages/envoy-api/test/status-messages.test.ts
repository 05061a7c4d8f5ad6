import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import {
  type ClientResource,
  createClientConfigWriter,
  createLoadReportReader,
  createOwnConfigWriter,
  decodeClientStatusRequest,
  decodeHealthMessage,
  decodeLoadRequest,
  encodeHealthFindings,
  encodeHealthOffer,
  encodeLoadReport,
  encodeLoadRequest,
  encodeNode,
  type OwnResource,
} from "../src/internal.ts";
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

test("a large load report is read an entry at a time, and is the same report", () => {
  const counts = { succeeded: 1, failed: 0, issued: 1, inProgress: 0 };
  const endpoints = Array.from({ length: 3_000 }, (_, i) => ({ ...counts, address: `10.0.0.1:${i + 1}` }));
  const more = { activeConnections: 0, newConnections: 0, failedConnections: 0, metrics: [] };
  const locality = { ...counts, ...more, priority: 0, locality: { region: "eu", zone: "", subZone: "" }, endpoints };
  const cluster = { service: "", intervalMs: 1_000, dropped: 0, droppedBy: [], localities: [] };
  const clusters = [
    { ...cluster, cluster: "a", localities: [locality] },
    ...Array.from({ length: 4_000 }, (_, i) => ({ ...cluster, cluster: `c${i}` })),
  ];
  const message = encodeLoadReport("v3", { node: undefined, clusters });
  const steps = createLoadReportReader().readInSteps(message);
  let pauses = 0;
  let last = steps.next();
  for (; last.done !== true; last = steps.next()) pauses++;
  expect(pauses).toBe(7_002);
  expect(last.value).toEqual({ node: undefined, clusters });
  expect(createLoadReportReader().read(message)).toEqual(last.value);
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
  status: "nacked",
  isTold: true,
  content: Buffer.from("0a0161", "hex"),
  updatedAt: 1_500,
  details: "no",
};

test("B-CSD-04 a refused resource of v3, byte by byte and as JSON", () => {
  const writer = createClientConfigWriter("v3", { node: { ...anonymousNode, id: "n" }, scope: "here" });
  writer.add(refused);
  const bytes = Buffer.concat(writer.finish());
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

test.each(["v2", "v3"] as const)("the state of many resources in %s is in pieces of some 256 KiB", (version) => {
  const writer = createClientConfigWriter(version, { node: { ...anonymousNode, id: "n" }, scope: "" });
  const content = Buffer.concat([Buffer.from("0a0161e201e807", "hex"), Buffer.alloc(1_000, "x")]); // a name, and an `alt_stat_name`
  for (let count = 0; count < 1_000; count++) writer.add({ ...refused, status: "acked", details: undefined, content });
  const pieces = writer.finish();
  const large = pieces.map(({ length }) => length).filter((length) => length > 1_000);
  expect(large.slice(0, -1).map((length) => length >> 18)).toEqual([1, 1, 1, 1]);
  const json = api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), Buffer.concat(pieces));
  const { config } = json as { config: { genericXdsConfigs?: unknown[]; xdsConfig?: { clusterConfig: object }[] }[] };
  const [cluster] = config[0]?.xdsConfig ?? [];
  const listed = config[0]?.genericXdsConfigs ?? Object.values(cluster?.clusterConfig ?? {}).flat();
  expect(listed).toHaveLength(1_000);
});

test("B-CSD-05 a listener of v2 is active, warming or an error, and the worst of them is the status of the type", () => {
  const writer = createClientConfigWriter("v2", { node: { ...anonymousNode, id: "n" }, scope: "here" });
  const listener = { ...refused, kind: "lds", details: undefined } as const;
  writer.add({ ...listener, name: "held", status: "acked" });
  writer.add({ ...listener, name: "sent", status: "pending" });
  writer.add({ ...refused, kind: "lds", name: "bad" });
  writer.add({ ...listener, name: "none", status: "does-not-exist", version: "", content: undefined });
  writer.add({ ...listener, kind: "eds" });
  const json = api.toJson(
    formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"),
    Buffer.concat(writer.finish()),
  );
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

test("C-LRS-04 a load report is written as it is read, in both versions", () => {
  const report = createLoadReportReader().read(encoded("envoy.service.load_stats.v3.LoadStatsRequest", loadStats));
  const [load] = report.clusters;
  const addresses = ["10.0.0.1:80", "[::1]:65535", "/run/a.sock", "@abstract:1"].map((address) => ({
    address,
    succeeded: 1,
    failed: 2,
    issued: 4,
    inProgress: 1,
  }));
  const localities = load?.localities.map((one) => ({ ...one, endpoints: addresses })) ?? [];
  const clusters = report.clusters.map((one) => ({ ...one, localities, intervalMs: 1_234.567 }));
  const written = encodeLoadReport("v3", { node: report.node, clusters });
  expect(createLoadReportReader().read(written)).toEqual({ node: report.node, clusters });
  const ofV2 = createLoadReportReader().read(encodeLoadReport("v2", { node: undefined, clusters }));
  const connections = { activeConnections: 0, newConnections: 0, failedConnections: 0 };
  expect(ofV2).toEqual({
    node: undefined,
    clusters: clusters.map((one) => ({ ...one, localities: localities.map((at) => ({ ...at, ...connections })) })),
  });
  const json = api.toJson(formatTypeUrl("envoy.service.load_stats.v3.LoadStatsRequest"), written);
  expect(json).toMatchObject({
    clusterStats: [
      {
        loadReportInterval: "1.234567s",
        upstreamLocalityStats: [
          {
            cpuUtilization: { numRequestsFinishedWithMetric: "2", totalMetricValue: 0.5 },
            upstreamEndpointStats: [
              { address: { socketAddress: { address: "10.0.0.1", portValue: 80 } }, totalIssuedRequests: "4" },
              { address: { socketAddress: { address: "::1", portValue: 65535 } } },
              { address: { pipe: { path: "/run/a.sock" } } },
              { address: { pipe: { path: "@abstract:1" } } },
            ],
          },
        ],
      },
    ],
  });
});

test("S-LRS-02 what a client is to report is read as it is written", () => {
  const request = { clusters: ["a", "b"], sendAllClusters: true, intervalMs: 90_000_500, endpoints: true };
  expect(decodeLoadRequest(encodeLoadRequest(request))).toEqual(request);
  const nothing = { clusters: [], sendAllClusters: false, intervalMs: 0, endpoints: false };
  expect(decodeLoadRequest(Buffer.from("2a00", "hex"))).toEqual(nothing);
});

test("B-HDS-01 an offer to check health is written as it is read, and so is what was found", () => {
  const node = { ...anonymousNode, id: "n" };
  const offer = encodeHealthOffer(encodeNode(node), ["TCP", "HTTP"]);
  expect(decodeHealthMessage(offer)).toEqual({ kind: "request", node, protocols: ["TCP", "HTTP"] });
  const bytes = Uint8Array.of(10, 0);
  expect(decodeHealthMessage(encodeHealthFindings(bytes))).toEqual({ kind: "response", bytes });
});

const content = Buffer.from("0a0161", "hex");
const own: OwnResource = {
  type: CLUSTER,
  kind: "cds",
  name: "a",
  status: "nacked",
  held: { type: CLUSTER, version: "7", content, updatedAt: 1_500 },
  failure: { type: CLUSTER, version: "8", content, updatedAt: 2_000, details: "no" },
};

test("C-CSD-03 B-CSD-04 what a client tells of itself has what is in force, and what it refused", () => {
  const node = { ...anonymousNode, id: "n", metadata: { "api-key": "x", a: 1 } };
  const waiting = { ...own, name: "b", status: "requested", held: undefined, failure: undefined } as const;
  const writer = createOwnConfigWriter("v3", { node, scope: "here" });
  for (const resource of [own, waiting]) writer.add(resource);
  const bytes = writer.finish();
  const body = { "@type": CLUSTER, name: "a" };
  expect(api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), bytes)).toEqual({
    "@type": formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"),
    config: [
      {
        node: { id: "n", metadata: { "api-key": "[redacted]", a: 1 } },
        clientScope: "here",
        genericXdsConfigs: [
          {
            typeUrl: CLUSTER,
            name: "a",
            versionInfo: "7",
            xdsConfig: body,
            lastUpdated: "1970-01-01T00:00:01.500Z",
            clientStatus: "NACKED",
            errorState: {
              failedConfiguration: body,
              lastUpdateAttempt: "1970-01-01T00:00:02Z",
              details: "no",
              versionInfo: "8",
            },
          },
          { typeUrl: CLUSTER, name: "b", clientStatus: "REQUESTED" },
        ],
      },
    ],
  });
});

test("B-CSD-05 in v2 it is by type, and of four types only", () => {
  const writer = createOwnConfigWriter("v2", { node: { ...anonymousNode, id: "n" }, scope: "here" });
  for (const resource of [
    { ...own, kind: "lds" },
    { ...own, kind: "lds", name: "b", status: "requested", held: undefined, failure: undefined },
    { ...own, kind: "cds", status: "acked" },
    { ...own, kind: "rds", status: "requested", held: undefined, failure: undefined },
    { ...own, kind: "srds", status: "acked" },
    { ...own, kind: "eds" },
  ] as const)
    writer.add(resource);
  const bytes = writer.finish();
  const body = { "@type": CLUSTER, name: "a" };
  const held = { versionInfo: "7", lastUpdated: "1970-01-01T00:00:01.500Z" };
  const errorState = { failedConfiguration: body, lastUpdateAttempt: "1970-01-01T00:00:02Z", details: "no" };
  expect(api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), bytes)).toEqual({
    "@type": formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"),
    config: [
      {
        node: { id: "n" },
        xdsConfig: [
          {
            status: "ERROR",
            listenerConfig: {
              dynamicListeners: [{ name: "a", activeState: { ...held, listener: body }, errorState }],
            },
          },
          { status: "SYNCED", clusterConfig: { dynamicActiveClusters: [{ ...held, cluster: body }] } },
          { routeConfig: {} },
          {
            status: "SYNCED",
            scopedRouteConfig: {
              dynamicScopedRouteConfigs: [{ ...held, name: "a", scopedRouteConfigs: [body] }],
            },
          },
        ],
      },
    ],
  });
});
