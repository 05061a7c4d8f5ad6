/** Creates the parts of a server from its options. */
import { contentDigest, type EnvoyApi } from "@xdskit/envoy-api";
import type { BodyEncoder } from "@xdskit/envoy-api/internal";
import type { TypeUrl } from "@xdskit/protocol";
import { type AccessPolicy, defaultFuses, isVisible, type Remembered, typeKindTable } from "@xdskit/protocol/internal";
import type { CheckedOptions } from "./check-options.ts";
import type { RulesContext } from "./commit-check.ts";
import { optionsError } from "./error.ts";
import type { CheckedFileOutput } from "./file-output.ts";
import { readAccess } from "./hub/access.ts";
import { Hub } from "./hub/hub.ts";
import type { Memory, ServerReport, Telemetry } from "./hub/port.ts";
import { LoadReporting } from "./load/load-reporting.ts";
import { ChangeTraces } from "./observe/change-traces.ts";
import type { DeliveryTimes } from "./observe/deliveries.ts";
import { ServedCertificates } from "./served-certificates.ts";
import { ClientStatus, type ClientStatusOptions } from "./status/client-status.ts";
import { FileHistory } from "./store/file-history.ts";
import { FileExporter } from "./transport/files/exporter.ts";
import type { InForceCertificates } from "./transport/grpc/tls.ts";
import { TrustHolds } from "./trust-holds.ts";
import { withDefaults } from "./with-defaults.ts";

export function createChangeTraces({ api }: CheckedOptions, hub: Hub): ChangeTraces {
  const { listeners, deployments } = hub;
  const isLiveType = (type: TypeUrl): boolean => typeKindTable[api.traits(type)?.kind ?? "opaque"].isLive;
  const failed = (error: unknown): void => hub.report({ kind: "listener-failed", event: "trace", error });
  return new ChangeTraces({ listeners, deployments, revision: () => hub.revision, isLiveType, failed });
}

export function createClientStatus(
  options: CheckedOptions,
  hub: Hub,
  { deliveries, askOthers }: { readonly deliveries: DeliveryTimes } & Pick<ClientStatusOptions, "askOthers">,
): ClientStatus {
  return new ClientStatus({
    ...(askOthers !== undefined && { askOthers }),
    api: options.api,
    maxBytes: options.limits.maxStatusBytes,
    view: hub.view,
    admit: (peer) => hub.admit("csds", peer),
    times: deliveries,
  });
}

/** Creates an in-process client of the hub that writes responses into files. */
export function createExporter(output: CheckedFileOutput, api: EnvoyApi, hub: Hub): FileExporter {
  return new FileExporter({
    api,
    hub,
    output,
    inspect: (stream) => hub.view.streamState(stream),
  });
}

export function createLoadReporting({ loadReports, limits, api }: CheckedOptions, hub: Hub): LoadReporting {
  const clusters = api.types.find(({ kind }) => kind === "cds");
  return new LoadReporting({
    settings: loadReports === false ? undefined : loadReports,
    limits,
    clustersOf(node, peer) {
      if (clusters === undefined) return [];
      return [...hub.view.visibleTo({ entryPoint: "lrs", node, peer }, clusters.type)].map(({ name }) => name);
    },
    visibleTo(node, peer) {
      const layers = hub.view.layersOf(node, peer);
      const grant = hub.view.grantOf({ entryPoint: "lrs", node, peer });
      if ("denied" in grant || "refused" in layers || clusters === undefined) return () => false;
      return (name) => grant.isWhole || layers.some((layer) => isVisible(grant, layer, { type: clusters.type, name }));
    },
    report: (report) => hub.report(report),
    reportLimit: (limit, address, message) => hub.reportLimit(limit, address, message),
  });
}

/** Undefined without a ledger, whose fuses these settings are, and where they hold nothing. */
export function createTrustHolds({ ledger }: CheckedOptions, hub: Hub): TrustHolds | undefined {
  const { nodesCutOff } = withDefaults(defaultFuses, ledger?.fuses);
  if (ledger === undefined || nodesCutOff === "off") return undefined;
  return new TrustHolds({ view: () => hub.view, share: nodesCutOff });
}

export function createServedCertificates(
  { api, listen, tls: usual }: CheckedOptions,
  { view }: Hub,
  parts: {
    readonly listeners: () => readonly (InForceCertificates | undefined)[];
    readonly admin: () => InForceCertificates | undefined;
    readonly hasWorkers: boolean;
  },
): ServedCertificates {
  const files = listen.flatMap(({ tls = usual }) => (tls === false || tls === undefined ? [] : [tls]));
  return new ServedCertificates({
    types: api,
    layers: () => view.layers(),
    resources: (layers, type) => view.resources(layers, type),
    own: () => [
      ...parts.listeners().flatMap((inForce) => (inForce === undefined ? [] : [{ prefix: "tls" as const, inForce }])),
      ...[parts.admin()].flatMap((inForce) =>
        inForce === undefined ? [] : [{ prefix: "admin-tls" as const, inForce }],
      ),
    ],
    ofWorkers: parts.hasWorkers ? files : [],
  });
}

/** What a hub tells of, and remembers. */
export interface HubParts {
  readonly encoder: BodyEncoder;
  readonly telemetry: Telemetry;
  /** Makes another memory of that in the state directory; undefined: that one. */
  readonly share?: (own: Memory | undefined, snapshot: () => Iterable<Remembered>) => Memory;
  readonly streamsAfter?: number | undefined;
}

export function createHub(options: CheckedOptions, { encoder, telemetry, share, streamsAfter }: HubParts): Hub {
  const { api, nodeMapping, limits, edition, dialect, clients, stateDir, v2, convertForStructs } = options;
  const snapshot = (): Iterable<Remembered> => hub.view.clusters();
  const own = stateDir === undefined ? undefined : openHistory(stateDir, api, snapshot, telemetry);
  const memory = share === undefined ? own : share(own, snapshot);
  const hub: Hub = new Hub({
    digest: contentDigest,
    traits: (type) => api.traits(type),
    ...(v2 === "convert" && {
      convert: (type, bytes) => api.convert(type, bytes),
      prepareConversion: (type) => api.prepareConversion(type),
    }),
    refusesV2: v2 === "off",
    nodeMapping,
    access: accessOf(options, (fault) => hub.report(fault)),
    ...(edition === undefined ? {} : { edition }),
    dialect,
    ...(clients === undefined ? {} : { clients }),
    ...(convertForStructs === undefined ? {} : { convertForStructs }),
    encoder,
    limits,
    telemetry,
    ...(memory !== undefined && { memory }),
    ...(streamsAfter !== undefined && { streamsAfter }),
  });
  return hub;
}

/** What the meaning of access rules of a server depends on. */
export function rulesContextOf(
  { insecure, clientStatus: statusReaders, api }: CheckedOptions,
  report: (fault: ServerReport) => void,
): RulesContext {
  const onThrown = (error: unknown): void => report({ kind: "listener-failed", event: "access", error });
  return { insecure, statusReaders, traits: (type) => api.traits(type), onThrown };
}

function accessOf(options: CheckedOptions, report: (fault: ServerReport) => void): AccessPolicy {
  const access = readAccess({ access: options.access, ...rulesContextOf(options, report) });
  if ("problems" in access) throw optionsError(access.problems);
  return access;
}

function openHistory(
  directory: string,
  api: EnvoyApi,
  snapshot: () => Iterable<Remembered>,
  telemetry: Telemetry,
): FileHistory {
  const history = new FileHistory({
    directory,
    digest: contentDigest,
    holdsSecret: ({ type, bytes }) => api.holdsSecret(type, bytes),
    snapshot,
    onProblem: (message) => telemetry.report({ kind: "history-problem", directory, message }, new Date()),
  });
  const { restored } = history;
  if (restored.length > 0) {
    const clusters = new Set(
      restored.flatMap((one) =>
        one.kind === "changed" && api.traits(one.type)?.kind === "cds" ? one.puts.map(({ name }) => name) : [],
      ),
    );
    const versions = restored.filter((one) => one.kind === "served").length;
    telemetry.report({ kind: "history-restored", directory, clusters: clusters.size, versions }, new Date());
  }
  return history;
}
