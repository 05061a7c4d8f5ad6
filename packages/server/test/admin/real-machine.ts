import { contentDigest } from "@xdskit/envoy-api";
import {
  anonymousNode,
  createResource,
  formatTypeUrl,
  type LayerChange,
  type Node,
  type Peer,
  type Reference,
  type Resource,
  type TypeUrl,
  type Variant,
} from "@xdskit/protocol";
import {
  type DiscoveryRequest,
  noInitialVersions,
  type ServerEffect,
  ServerMachine,
  type TypeKind,
} from "@xdskit/protocol/internal";
import type { AdminServer } from "../../src/admin/server.ts";
import { createAdminServer } from "../../src/admin/server.ts";
import type { AdminView } from "../../src/admin/view.ts";
import { Deployments } from "../../src/hub/deployments.ts";
import type { ConversionFindings } from "../../src/hub/port.ts";
import { NodePastRecorder } from "../../src/ledger/node-past-recorder.ts";
import { defaultLimits } from "../../src/limits.ts";
import { LoadReporting } from "../../src/load/load-reporting.ts";
import type { CertificateEnd } from "../../src/observe/certificate-end.ts";
import { createDeliveryTimes, type DeliveryTimes } from "../../src/observe/deliveries.ts";
import { Fleet } from "../../src/observe/fleet.ts";
import type { LimitState, Readiness } from "../../src/observe/gauges.ts";
import { createMetrics, type Metrics } from "../../src/observe/metrics.ts";
import type { SourceStatus } from "../../src/observe/source-status.ts";
import { createTelemetry, type ObservedTelemetry } from "../../src/observe/telemetry.ts";
import type { ResourcePlace } from "../../src/source-places.ts";

export const CDS: TypeUrl = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const EDS: TypeUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const LDS: TypeUrl = formatTypeUrl("envoy.config.listener.v3.Listener");
export const SRDS: TypeUrl = formatTypeUrl("envoy.config.route.v3.ScopedRouteConfiguration");
export const RDS: TypeUrl = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
export const SDS: TypeUrl = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

const types: readonly { type: TypeUrl; kind: TypeKind; shortName: string }[] = [
  { type: CDS, kind: "cds", shortName: "cds" },
  { type: EDS, kind: "eds", shortName: "eds" },
  { type: LDS, kind: "lds", shortName: "lds" },
  { type: SRDS, kind: "srds", shortName: "srds" },
  { type: RDS, kind: "rds", shortName: "rds" },
  { type: SDS, kind: "sds", shortName: "sds" },
];

export const peer: Peer = { address: "127.0.0.1:40000", isLoopback: true, isTls: false, names: [] };

export function node(id: string, more: Partial<Node> = {}): Node {
  return { ...anonymousNode, id, cluster: "edge", userAgentName: "envoy", userAgentVersion: "1.39.0", ...more };
}

export function resource(
  type: TypeUrl,
  name: string,
  body: string = name,
  references: readonly Reference[] = [],
): Resource {
  return createResource({ type, name, bytes: Buffer.from(body), references }, contentDigest);
}

/** A real server machine, with the telemetry and the admin API over it, and no transport: what it sends is kept for the test. */
/** The groups of a node are in its cluster, as `canary+frankfurt`. */
function groupLayers({ cluster }: Node): readonly string[] {
  return cluster.includes("+") ? cluster.split("+").map((group) => `group/${group}`) : [];
}

export class RealMachine {
  readonly telemetry: ObservedTelemetry = createTelemetry();
  readonly deliveries: DeliveryTimes = createDeliveryTimes(this.telemetry);
  readonly fleet = new Fleet(this.telemetry, this.deliveries);
  readonly sent: Extract<ServerEffect, { kind: "send" }>[] = [];
  now = Date.UTC(2026, 0, 1);
  readiness: Readiness = { isReady: true, isDraining: false, reasons: [] };
  source: SourceStatus = { state: "good", problems: [], since: new Date(this.now) };
  certificates: readonly CertificateEnd[] = [];
  /** What happens when the source is to be looked at. */
  refresh: () => void = () => undefined;
  /** Where everything is in the source. */
  place: ResourcePlace | undefined;
  readonly findings = new Map<string, ConversionFindings>();
  limits: readonly LimitState[] = [{ name: "maxStreams", value: 100, used: 2, hits: 1 }];
  readonly machine: ServerMachine = new ServerMachine({
    digest: contentDigest,
    traits: (type) => {
      const known = types.find((entry) => entry.type === type);
      return known && { type, kind: known.kind, isFullState: known.kind === "cds", owes: [] };
    },
    nodeMapping: (who) =>
      who.id.startsWith("bad") ? { refused: "not this one" } : [`node/${who.id}`, ...groupLayers(who), "base"],
  });
  readonly loads: LoadReporting = new LoadReporting({
    settings: { intervalMs: 10_000, clusters: "all", endpoints: false },
    limits: { ...defaultLimits, maxLoadReporters: 10, maxLoadEntries: 100 },
    clustersOf: () => [],
    visibleTo: () => () => true,
    report: (report) => this.telemetry.report(report, new Date(this.now)),
    reportLimit: () => undefined,
  });
  readonly deployments = new Deployments(this.machine.progress);
  readonly nodePast = new NodePastRecorder({
    reached: () => this.deployments.reached(),
    revision: () => this.machine.revision,
    numberOf: (revision) => revision,
    rejectedNumberOf: (revision) => revision,
    now: () => this.now,
    onProblem: (message) => {
      throw new Error(message);
    },
    onRecovered: () => undefined,
  });
  readonly view: AdminView = {
    version: "0.1.0",
    controlPlane: "test",
    startedAt: new Date(this.now),
    address: () => "127.0.0.1:18000",
    replicas: undefined,
    types: {
      types,
      typeNamed: (text) => types.find(({ shortName, type }) => text === shortName || text === type)?.type,
      knows: (type) => types.some((entry) => entry.type === type),
      toJson: (type, bytes, { redact, names }) => {
        if (!redact) throw new Error("must be asked to redact");
        const text = Buffer.from(bytes).toString();
        if (text === "broken") throw new Error("not a message");
        return { "@type": type, [names === "proto" ? "its_text" : "text"]: type === SDS ? "[redacted]" : text };
      },
    },
    readiness: () => this.readiness,
    source: () => this.source,
    refreshSource: async () => this.refresh(),
    placesOf: async (asked) => asked.map(() => this.place),
    deployments: this.deployments,
    revision: () => this.machine.revision,
    nodeStates: () => this.deployments.states(this.machine.revision),
    head: () => this.machine.revision,
    newest: () => this.machine.revision,
    workers: undefined,
    readyWorkers: () => 0,
    placedStreams: () => this.machine.placedStreams(),
    revisionOf: (number) => number,
    numberOf: (revision) => revision,
    changeOf: (revision) => revision,
    streams: () => this.machine.streams(),
    streamState: (stream) => this.machine.streamState(stream),
    resourceStates: (stream) => this.machine.resourceStates(stream),
    fleet: this.fleet,
    nodePast: this.nodePast,
    layers: () => this.machine.layers(),
    resources: (layers, type) => [
      ...this.machine.resources(layers, type),
      ...this.machine.resourceErrors(layers, type),
    ],
    nodeView: (who) => {
      if (who.id.startsWith("bad")) return { refused: "not this one" };
      const stage = who.metadata["stage"] === undefined ? [] : [`stage/${who.metadata["stage"]}`];
      const isRemote = who.cluster === "remote";
      return {
        layers: [`node/${who.id}`, ...stage, "base"],
        sees: (_layer, type) => type !== SDS || !isRemote,
      };
    },
    accessRules: () => ({ kind: "insecure", clientStatus: "loopback" }),
    explainAccess: () => ({ isAllowed: true, reason: "everything is allowed" }),
    place: (who) => (who.id.startsWith("bad") ? { refused: "not this one" } : [`node/${who.id}`, "base"]),
    worker: undefined,
    connections: () => 1,
    openStreams: () => [...this.machine.streams()].length,
    limits: () => this.limits,
    writes: () => ({ stalledStreams: 0, bufferedBytes: 0 }),
    loads: () => this.loads.view,
    encoder: () => ({ segmentsEncoded: 1, framesEncoded: 2, bodiesEncoded: 3, bytesEncoded: 4 }),
    conversionFindings: () => this.findings,
    ledger: () => undefined,
    store: () => undefined,
    inMemoryReason: () => undefined,
    adminRole: () => undefined,
    heldTrust: () => [],
    certificates: async () => this.certificates,
    approveTrust: async () => false,
  };
  readonly metrics: Metrics = createMetrics({
    telemetry: this.telemetry,
    deliveries: this.deliveries,
    gauges: this.view,
    now: () => this.now,
    types,
    version: "0.1.0",
  });
  readonly admin: AdminServer = createAdminServer({
    view: this.view,
    metrics: this.metrics,
    deliveries: this.deliveries,
    listen: { host: "127.0.0.1", port: 0 },
    names: ["admin.example"],
  });
  readonly #timers = new Map<number, number>();
  #lastStream = 0;

  commit(changes: readonly LayerChange[]): void {
    this.#perform(this.machine.on({ kind: "transaction-committed", transaction: { changes } }));
    this.telemetry.report({ kind: "committed", revision: this.machine.revision, tookMs: 1 }, this.#at());
    this.#turns();
  }

  open(variant: Variant = "delta"): number {
    const stream = ++this.#lastStream;
    const opened = { stream, variant, onlyType: undefined, apiVersion: "v3", peer, connection: 1 } as const;
    this.#perform(this.machine.on({ kind: "stream-opened", ...opened }));
    this.telemetry.report({ kind: "stream-opened", ...opened, method: "/ads" }, this.#at());
    return stream;
  }

  close(stream: number): void {
    this.#perform(this.machine.on({ kind: "stream-closed", stream }));
    const closed = { stream, peer, variant: "delta", onlyType: undefined, reason: "cancelled", ageMs: 2000 } as const;
    this.telemetry.report({ kind: "stream-closed", ...closed, status: { code: 1, message: "" } }, this.#at());
  }

  receive(stream: number, request: Partial<DiscoveryRequest> & { readonly kind: Variant }): void {
    const common = { type: CDS, node: undefined, nonce: undefined, error: undefined };
    const whole: DiscoveryRequest =
      request.kind === "sotw"
        ? { ...common, versionInfo: undefined, names: [], ...request, kind: "sotw" }
        : { ...common, subscribe: [], unsubscribe: [], initialVersions: noInitialVersions, ...request, kind: "delta" };
    this.#perform(this.machine.on({ kind: "request-received", stream, request: whole }));
    this.#turns();
  }

  /** Time goes by; timers of that length go off. */
  pass(ms: number): void {
    this.now += ms;
    for (const [timer, length] of [...this.#timers]) {
      if (length !== ms) continue;
      this.#timers.delete(timer);
      this.#perform(this.machine.on({ kind: "timer-fired", timer }));
      this.#turns();
    }
  }

  /** How many wait for a revision. */
  get waits(): number {
    return this.deployments.size;
  }

  /** The nonce of what was sent last. */
  get lastNonce(): string {
    return this.sent.at(-1)?.nonce ?? "nothing was sent";
  }

  #at(): Date {
    return new Date(this.now);
  }

  #turns(): void {
    while (this.machine.isDue) this.#perform(this.machine.next(10));
    this.deployments.check();
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "report") this.telemetry.report(effect.report, this.#at());
      if (effect.kind === "start-timer") this.#timers.set(effect.timer, effect.ms);
      if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      if (effect.kind !== "send") continue;
      this.sent.push(effect);
      const { stream, body } = effect;
      const { type, variant } = body;
      this.telemetry.report({ kind: "response-queued", stream, type, variant, bytes: 100 }, this.#at());
    }
  }
}
