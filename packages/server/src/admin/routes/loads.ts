import type { ClusterSums, LocalitySums, ReporterState } from "@xdskit/protocol/internal";
import { printable } from "../../observe/printable.ts";
import type { LoadAnswer, LoadReporterAnswer } from "../answers/loads.ts";
import { type Describer, time } from "../describe.ts";
import { mergeLoads } from "../merge/loads.ts";
import { inTurn } from "../merge/merge.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { loadReportersAnswer, loadsAnswer } from "../schema/loads.ts";

/** The load that clients report, by cluster (S-LRS-06). */
export const loads: Route = {
  path: "/api/v1/loads",
  says: "load reports (LRS): requests by cluster, service and locality",
  parameters: { cluster: "only this cluster", ...pageParameters },
  kinds: pageKinds,
  merge: mergeLoads,
  answers: { 200: loadsAnswer },
  answer: ({ view }, query) => {
    const cluster = query.text("cluster");
    function* steps(): Iterable<Step> {
      for (const sums of view.loads().clusters) {
        yield cluster === undefined || sums.cluster === cluster ? () => describeLoad(sums) : undefined;
      }
    }
    return page(query, steps());
  },
};

function describeLoad({ cluster, service, dropped, droppedBy, localities, lastAt }: ClusterSums): LoadAnswer {
  return {
    cluster,
    ...(service !== "" && { service }),
    dropped,
    ...(droppedBy.size > 0 && { droppedBy: Object.fromEntries(droppedBy) }),
    lastReportAt: new Date(lastAt).toISOString(),
    localities: localities.map(describeLocality),
  };
}

function describeLocality(at: LocalitySums): LoadAnswer["localities"][number] {
  const { locality, priority, succeeded, failed, issued, inProgress, requestsPerSecond, reporters } = at;
  return {
    ...locality,
    priority,
    issued,
    succeeded,
    failed,
    inProgress,
    requestsPerSecond: Math.round(requestsPerSecond * 1000) / 1000,
    reporters,
    ...(at.newConnections + at.failedConnections + at.activeConnections > 0 && {
      connections: { active: at.activeConnections, new: at.newConnections, failed: at.failedConnections },
    }),
    ...(at.metrics.size > 0 && { metrics: Object.fromEntries(at.metrics) }),
    ...(at.endpoints.size > 0 && { endpoints: Object.fromEntries(at.endpoints) }),
  };
}

/** The clients that report load, and what the server requests from them. */
export const loadReporters: Route = {
  path: "/api/v1/load-reporters",
  says: "clients that report load, and the clusters requested from them",
  parameters: { node: "only this node", ...pageParameters },
  kinds: pageKinds,
  merge: inTurn,
  answers: { 200: loadReportersAnswer },
  answer: ({ view, describe }, query) => {
    const node = query.text("node");
    function* steps(): Iterable<Step> {
      for (const state of view.loads().reporters) {
        yield node === undefined || state.node?.id === node ? () => describeReporter(state, describe) : undefined;
      }
    }
    return page(query, steps());
  },
};

function describeReporter(state: ReporterState, describe: Describer): LoadReporterAnswer {
  const { peer, node, asked, reports, openedAt, lastAt } = state;
  return {
    peer: peer.address,
    ...(node !== undefined && { node: describe.node({ ...node, id: printable(node.id, 200) }) }),
    reports,
    openedAt: new Date(openedAt).toISOString(),
    ...time("lastReportAt", lastAt),
    ...(asked !== undefined && {
      asked: {
        clusters: asked.sendAllClusters ? "all" : asked.clusters,
        intervalMs: asked.intervalMs,
        endpoints: asked.endpoints,
      },
    }),
  };
}
