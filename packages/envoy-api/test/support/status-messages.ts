import { api } from "./api.ts";

/** An encoded message, from JSON. */
export function encoded(messageName: string, value: unknown): Buffer {
  const { bytes, problems } = api.readMessage(messageName, value);
  if (bytes === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
  return Buffer.from(bytes);
}

const metric = { numRequestsFinishedWithMetric: "2", totalMetricValue: 0.5 };
const address = { socketAddress: { address: "10.0.0.1", portValue: 80 } };

/** Every field of a load report that is read. */
export const loadStats = {
  node: { id: "n", clientFeatures: ["envoy.lrs.supports_send_all_clusters"] },
  clusterStats: [
    {
      clusterName: "a",
      clusterServiceName: "svc",
      loadReportInterval: "1.500s",
      totalDroppedRequests: "3",
      droppedRequests: [{ category: "throttle", droppedCount: "2" }],
      upstreamLocalityStats: [
        {
          locality: { region: "r", zone: "z", subZone: "s" },
          priority: 1,
          totalSuccessfulRequests: "1",
          totalRequestsInProgress: "2",
          totalErrorRequests: "3",
          totalIssuedRequests: "4",
          totalActiveConnections: "5",
          totalNewConnections: "6",
          totalFailConnections: "7",
          cpuUtilization: metric,
          loadMetricStats: [{ metricName: "queue", ...metric }],
          upstreamEndpointStats: [{ address, totalSuccessfulRequests: "1", totalIssuedRequests: "2" }],
        },
      ],
    },
  ],
};

/** Every matcher. */
export const statusRequest = {
  excludeResourceContents: true,
  nodeMatchers: [
    {
      nodeId: { prefix: "edge-", ignoreCase: true },
      nodeMetadatas: [
        { path: [{ key: "a" }, { key: "b" }], value: { listMatch: { oneOf: { stringMatch: { contains: "x" } } } } },
        { path: [{ key: "n" }], value: { doubleMatch: { range: { start: 1, end: 2 } } } },
        { path: [{ key: "o" }], value: { orMatch: { valueMatchers: [{ boolMatch: false }, { nullMatch: {} }] } } },
      ],
    },
    { nodeId: { safeRegex: { regex: "a|b" } } },
  ],
};

/** What a client that checks health says. */
export const healthRequest = {
  healthCheckRequest: { node: { id: "n" }, capability: { healthCheckProtocols: ["HTTP", "REDIS"] } },
};
