import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import { type AdminRole, roleOfIdentities } from "./admin/access.ts";
import type { AccessRulesAnswer } from "./admin/answers/access.ts";
import type { AdminView } from "./admin/view.ts";
import type { CheckedOptions } from "./check-options.ts";
import type { Hub } from "./hub/hub.ts";
import type { HubView } from "./hub/hub-view.ts";
import type { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import type { LoadReporting } from "./load/load-reporting.ts";
import type { Fleet } from "./observe/fleet.ts";
import type { Readiness } from "./observe/gauges.ts";
import type { SourceStatus } from "./observe/source-status.ts";
import type { ServerLedger } from "./server-ledger.ts";
import type { TrustHolds } from "./trust-holds.ts";
import { VERSION } from "./version.ts";

/** The parts of a server that its admin API and metrics read. */
export interface ServerViewParts {
  readonly options: CheckedOptions;
  readonly hub: Hub;
  readonly encoder: BodyEncoder;
  readonly fleet: Fleet;
  readonly nodePast: NodePastRecorder;
  readonly loads: LoadReporting;
  address(): string | undefined;
  source(): SourceStatus;
  readonly ledger: ServerLedger | undefined;
  readonly trustHolds: TrustHolds | undefined;
}

/** Creates the read-only view of a server, computed on access. */
export function createServerView({
  options,
  hub,
  encoder,
  fleet,
  nodePast,
  loads,
  address,
  source,
  ledger,
  trustHolds,
}: ServerViewParts): AdminView {
  return {
    version: VERSION,
    controlPlane: options.controlPlane,
    startedAt: new Date(),
    address,
    source,
    refreshSource: options.refreshSource,
    placesOf: options.placesOf,
    deployments: hub.deployments,
    types: options.api,
    readiness: () => describeReadiness(hub, source()),
    revision: () => hub.revision,
    nodeStates: () => hub.deployments.states(hub.revision),
    head: () => ledger?.publisher?.changeOf(hub.revision) ?? hub.revision,
    revisionOf: (number) => (ledger?.publisher === undefined ? number : ledger.publisher.revisionOf(number)),
    numberOf: (revision) => ledger?.publisher?.numberOf(revision) ?? revision,
    changeOf: (revision) => ledger?.publisher?.changeOf(revision) ?? revision,
    ledger: () => ledger?.publisher,
    store: () => ledger?.store,
    replicas: ledger === undefined ? undefined : { list: () => ledger.replicas(), own: () => ledger.replica },
    inMemoryReason: () => ledger?.inMemoryReason,
    heldTrust: () => trustHolds?.held ?? [],
    approveTrust: async (id) => (await trustHolds?.approve(id)) ?? false,
    connections: () => hub.view.connections,
    openStreams: () => hub.view.openStreams,
    streams: () => hub.view.streams(),
    streamState: (stream) => hub.view.streamState(stream),
    resourceStates: (stream) => hub.view.resourceStates(stream),
    fleet,
    nodePast,
    layers: () => hub.view.layers(),
    resources: (layers, type) => hub.view.resources(layers, type),
    nodeView: (node, peer) => hub.view.nodeView(node, peer),
    place: (node, peer) => hub.view.layersOf(node, peer),
    accessRules: () => describeAccess(hub.view, options),
    adminRole: (identities) => adminRole(identities, options),
    explainAccess: (claim, asked) => hub.view.explainAccess(claim, asked),
    limits: () => hub.view.limits(),
    writes: () => hub.view.backlog,
    encoder: () => encoder.counters,
    conversionFindings: () => hub.view.conversionFindings(),
    loads: () => loads.view,
  };
}

function describeAccess(
  { accessRules: rules }: HubView,
  { insecure, clientStatus }: CheckedOptions,
): AccessRulesAnswer {
  if (typeof rules === "function") return { kind: "function", clientStatus };
  if (rules !== undefined) return { kind: "rules", rules, clientStatus };
  return { kind: insecure ? "insecure" : "default", clientStatus };
}

function adminRole(identities: readonly string[], { admin, insecure }: CheckedOptions): AdminRole | undefined {
  if (admin === false) return undefined;
  const { viewers, operators, tls } = admin;
  return roleOfIdentities(identities, { hasTls: tls !== undefined, rules: { viewers, operators, insecure } });
}

function describeReadiness({ readiness: { state } }: Hub, source: SourceStatus): Readiness {
  if (state === "ready") return { isReady: true, isDraining: false, reasons: [] };
  if (state === "draining") return { isReady: false, isDraining: true, reasons: ["the server is shutting down"] };
  const errors = source.problems.filter(({ severity }) => severity === "error").length;
  const failed = `no configuration yet: the first load failed with ${errors} ${errors === 1 ? "error" : "errors"}`;
  return {
    isReady: false,
    isDraining: false,
    reasons: [source.state === "failed" ? failed : "no configuration has been loaded yet"],
  };
}
