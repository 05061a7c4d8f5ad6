import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import { problemCounts } from "@xdskit/source/checks";
import { type AdminRole, roleOfIdentities } from "./admin/access.ts";
import type { AccessRulesAnswer } from "./admin/answers/access.ts";
import type { AdminView } from "./admin/view.ts";
import type { CheckedOptions } from "./check-options.ts";
import type { Hub } from "./hub/hub.ts";
import type { HubView } from "./hub/hub-view.ts";
import type { MissingContent } from "./hub/missing-resources.ts";
import type { PlacedStreams } from "./judged-nodes.ts";
import type { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import type { LoadReporting } from "./load/load-reporting.ts";
import type { Fleet } from "./observe/fleet.ts";
import type { Readiness } from "./observe/gauges.ts";
import type { SourceStatus } from "./observe/source-status.ts";
import type { ServedCertificates } from "./served-certificates.ts";
import type { ServerLedger } from "./server-ledger.ts";
import type { LedgerNumbers } from "./server-node-past.ts";
import type { TrustHolds } from "./trust-holds.ts";
import { VERSION } from "./version.ts";
import type { Workers } from "./workers/workers.ts";

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
  /** Undefined: revisions are the numbers. */
  readonly numbers: (() => LedgerNumbers | undefined) | undefined;
  /** Undefined: this process serves all clients. */
  readonly workers: Workers | undefined;
  /** The number of this worker process; undefined: it is none. */
  readonly worker: number | undefined;
  readonly placed: PlacedStreams;
  readonly trustHolds: TrustHolds | undefined;
  readonly certificates: ServedCertificates;
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
  numbers,
  workers,
  worker,
  placed,
  trustHolds,
  certificates,
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
    readiness: () =>
      describeReadiness(hub, source(), workers, withoutContent(ledger?.publisher?.missing ?? [], options.api)),
    ...{ worker, workers },
    readyWorkers: () => workers?.describe().filter(({ state }) => state === "ready").length ?? 0,
    revision: () => hub.revision,
    nodeStates: () => hub.deployments.states(hub.revision),
    head: () => numbers?.()?.changeOf(hub.revision) ?? hub.revision,
    newest: () => numbers?.()?.number ?? hub.revision,
    revisionOf(number) {
      const known = numbers?.();
      return known === undefined ? number : known.revisionOf(number);
    },
    numberOf: (revision) => numbers?.()?.numberOf(revision) ?? revision,
    changeOf: (revision) => numbers?.()?.changeOf(revision) ?? revision,
    ledger: () => ledger?.publisher,
    store: () => ledger?.store,
    replicas: ledger === undefined ? undefined : { list: () => ledger.replicas(), own: () => ledger.replica() },
    inMemoryReason: () => ledger?.inMemoryReason,
    heldTrust: () => trustHolds?.held ?? [],
    approveTrust: async (id) => (await trustHolds?.approve(id)) ?? false,
    certificates: async () => await certificates.read(),
    connections: () => hub.view.connections,
    openStreams: () => hub.view.openStreams,
    streams: () => hub.view.streams(),
    placedStreams: () => placed.placedStreams(),
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

/** Of which types resources exist whose content is not at hand: clients of these get nothing of the type. */
function withoutContent(missing: readonly MissingContent[], { traits }: CheckedOptions["api"]): readonly string[] {
  const counts = new Map<TypeUrl, number>();
  for (const { type } of missing) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => {
    const kind = traits(type)?.kind ?? "opaque";
    const name = kind === "opaque" ? messageNameOf(type) : kind.toUpperCase();
    return `not ready for ${name}: the content of ${count} ${count === 1 ? "resource" : "resources"} is not at hand`;
  });
}

/** Without content a server is ready all the same: a client that is sent away would get nothing instead of the rest. */
function describeReadiness(
  { readiness: { state } }: Hub,
  source: SourceStatus,
  workers: Workers | undefined,
  lacks: readonly string[],
): Readiness {
  if (state === "ready" && workers?.isReady === false)
    return { isReady: false, isDraining: false, reasons: ["no worker is ready"] };
  if (state === "ready") return { isReady: true, isDraining: false, reasons: lacks };
  if (state === "draining") return { isReady: false, isDraining: true, reasons: ["the server is shutting down"] };
  const { errors } = problemCounts(source.problems);
  const failed = `no configuration yet: the first load failed with ${errors} ${errors === 1 ? "error" : "errors"}`;
  return {
    isReady: false,
    isDraining: false,
    reasons: [source.state === "failed" ? failed : "no configuration has been loaded yet"],
  };
}
