import type { EntryPoint } from "@xdskit/protocol";
import { QueryError } from "./query.ts";
import type { Route } from "./route.ts";
import { access, accessClients, accessRules } from "./routes/access.ts";
import { whoAsks } from "./routes/caller.ts";
import { conversions } from "./routes/conversions.ts";
import { adopt, approve, reject, rollback } from "./routes/decisions.ts";
import { graph } from "./routes/graph.ts";
import { livez, metrics, readyz } from "./routes/health.ts";
import { holders } from "./routes/holders.ts";
import { events, samples } from "./routes/live.ts";
import { loadReporters, loads } from "./routes/loads.ts";
import { nodeHistory } from "./routes/node-history.ts";
import { nodeResources } from "./routes/node-resources.ts";
import { deliveries, nodes, streams } from "./routes/nodes.ts";
import { openapi } from "./routes/openapi.ts";
import { decisionPlan, plan } from "./routes/plan.ts";
import { progress } from "./routes/progress.ts";
import { resources } from "./routes/resources.ts";
import { difference, revision, revisions } from "./routes/revisions.ts";
import { layers, replicas, server, source } from "./routes/server.ts";

/** The routes that anybody may ask. */
const probes: readonly Route[] = [livez, readyz, metrics];

/** Every route, in the order of the index. */
export const routes: readonly Route[] = [
  ...probes,
  server,
  source,
  replicas,
  layers,
  resources,
  holders,
  graph,
  conversions,
  nodes,
  nodeResources,
  nodeHistory,
  streams,
  deliveries,
  progress,
  events,
  samples,
  revisions,
  revision,
  difference,
  plan,
  decisionPlan,
  approve,
  reject,
  rollback,
  adopt,
  loads,
  loadReporters,
  openapi,
  access,
  accessRules,
  accessClients,
  whoAsks,
];

export type AdminEntryPoint = Extract<EntryPoint, "health" | "metrics" | "admin" | "admin-change">;

/** Health for orchestrators and metrics for scrapers are entry points of their own. */
export function entryPointOf(target: string | undefined, isRead: boolean): AdminEntryPoint {
  if (!isRead) return "admin-change";
  const path = target?.replace(/[?#].*$/s, "");
  if (path === metrics.path) return "metrics";
  return probes.some((route) => route.path === path) ? "health" : "admin";
}

/** Whether a request that is no GET changes nothing anyway. */
export function readsOnly(target: string | undefined): boolean {
  const path = target?.replace(/[?#].*$/s, "");
  return routes.some((route) => route.path === path && route.isRead === true);
}

/** Finds the route of a path; one segment of a route may be a parameter: `{revision}`. */
export function findRoute(
  path: string,
): { readonly route: Route; readonly inPath: ReadonlyMap<string, string> } | undefined {
  for (const route of routes) {
    if (route.path === path) return { route, inPath: new Map() };
    const [start = "", name, end = ""] = route.path.split(/[{}]/);
    if (name === undefined || !path.startsWith(start) || !path.endsWith(end)) continue;
    const value = path.slice(start.length, path.length - end.length);
    if (value !== "" && !value.includes("/")) return { route, inPath: new Map([[name, decodePath(value)]]) };
  }
  return undefined;
}

function decodePath(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new QueryError(400, "the path is not valid UTF-8");
  }
}
