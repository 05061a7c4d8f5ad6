import { monitorEventLoopDelay } from "node:perf_hooks";
import type { TypeUrl } from "@xdskit/protocol";
import { problemCounts } from "@xdskit/source/checks";
import { Registry } from "prom-client";
import { type Cell, CounterFamily, type HistogramCell, HistogramFamily } from "./cell.ts";
import { isExpiring } from "./certificate-end.ts";
import { Clients } from "./clients.ts";
import type { DeliveryTimes } from "./deliveries.ts";
import type { Gauges } from "./gauges.ts";
import { readLoads } from "./load-metrics.ts";
import { type MetricReading, readMetrics } from "./metric-readings.ts";
import type { MetricName } from "./metric-table.ts";
import { externalBytes, heapBytes, residentBytes } from "./process-memory.ts";
import { gauge } from "./prom-gauge.ts";
import { ReadSummary } from "./prom-summary.ts";
import type { ObservedTelemetry } from "./telemetry.ts";

export interface MetricsOptions {
  readonly telemetry: ObservedTelemetry;
  readonly deliveries: DeliveryTimes;
  readonly gauges: Gauges;
  /** Types with a short name; all others count as `other`, because clients choose type URLs. */
  readonly types: readonly { readonly type: TypeUrl; readonly shortName: string; readonly v2Twin?: TypeUrl }[];
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The metrics of one server, in a registry of its own. */
export interface Metrics {
  readonly contentType: string;
  /** The current metrics in Prometheus text format. */
  scrape(): Promise<string>;
  /** The current metrics as values. */
  read(): Promise<readonly MetricReading[]>;
  /** Stops sampling the event loop. */
  close(): void;
}

const LAG_RESOLUTION_MS = 10;

/** Creates the metrics and starts counting. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const shortNames = new Map(
    options.types.flatMap(({ type, shortName, v2Twin }): [TypeUrl, string][] => [
      [type, shortName === "" ? "other" : shortName],
      ...(v2Twin === undefined ? [] : [[v2Twin, `${shortName}-v2`] as [TypeUrl, string]]),
    ]),
  );
  const nameOf = (type: TypeUrl | undefined): string => (type && shortNames.get(type)) ?? "other";

  countStreams(options.telemetry, registry);
  countRequests(options.telemetry, registry, nameOf);
  countResponses(options, registry, nameOf);
  countAnswers(options, registry, nameOf);
  countRest(options.telemetry, registry);
  readGauges(options, registry, nameOf);
  readLoads(options.gauges, registry);
  readProcess(registry);
  const lag = sampleEventLoop(registry);

  return {
    contentType: registry.contentType,
    scrape: () => registry.metrics(),
    read: async () => await readMetrics(registry),
    close: () => lag.disable(),
  };
}

function countStreams(telemetry: ObservedTelemetry, registry: Registry): void {
  const active = gauge("xds_server_streams_active", registry);
  const ended = new CounterFamily("xds_server_streams_total", registry);
  const durations = new HistogramFamily("xds_server_stream_duration_seconds", registry);
  const connections = gauge("xds_server_connections_active", registry);
  const refused = new CounterFamily("xds_server_connections_refused_total", registry).cell();
  const broken = new CounterFamily("xds_server_connections_broken_total", registry).cell();
  const admission = new CounterFamily("xds_server_admission_rejected_total", registry);
  const clients = new Clients();

  gauge("xds_server_clients", registry, (set) => {
    for (const [agent, streams] of clients.byAgent()) set(streams, agent);
  });
  telemetry.observe("stream-opened", ({ variant, onlyType }) => active.labels(variant, scopeOf(onlyType)).inc());
  telemetry.observe("node-connected", ({ stream, node }) => clients.identify(stream, node));
  telemetry.observe("stream-closed", ({ stream, variant, onlyType, reason, ageMs }) => {
    active.labels(variant, scopeOf(onlyType)).dec();
    ended.cell(variant, reason).value++;
    durations.cell(variant, reason).observe(ageMs / 1000);
    clients.forget(stream);
    if (reason === "not-ready" || reason === "refused") admission.cell(reason).value++;
  });
  const pollers = gauge("xds_server_pollers", registry);
  telemetry.observe("poller-met", () => pollers.inc());
  telemetry.observe("poller-forgotten", ({ stream }) => {
    pollers.dec();
    clients.forget(stream);
  });
  telemetry.observe("limit-hit", ({ limit }) => admission.cell(limit).value++);
  telemetry.observe("v2-refused", () => admission.cell("v2-off").value++);
  telemetry.observe("admin-refused", () => admission.cell("admin").value++);
  telemetry.observe("page-refused", () => admission.cell("page").value++);
  telemetry.observe("connection-opened", ({ transport }) => connections.labels(transport).inc());
  telemetry.observe("connection-closed", ({ transport }) => connections.labels(transport).dec());
  telemetry.observe("connection-refused", () => refused.value++);
  telemetry.observe("connection-broken", () => broken.value++);
}

function scopeOf(onlyType: TypeUrl | undefined): "ads" | "per-type" {
  return onlyType === undefined ? "ads" : "per-type";
}

type NameOf = (type: TypeUrl | undefined) => string;

function countRequests(telemetry: ObservedTelemetry, registry: Registry, nameOf: NameOf): void {
  const requests = new CounterFamily("xds_server_requests_total", registry);
  const bytes = new CounterFamily("xds_server_request_bytes_total", registry).cell();
  const anomalies = new CounterFamily("xds_server_anomalies_total", registry);
  telemetry.observe("request-received", (report) => {
    bytes.value += report.bytes;
  });
  telemetry.observe("request-classified", ({ type, as }) => requests.cell(nameOf(type), as).value++);
  const waits = new CounterFamily("xds_server_order_waits_total", registry);
  const overdue = new CounterFamily("xds_server_order_overdue_total", registry);
  telemetry.observe("wait-began", ({ type, wait }) => waits.cell(nameOf(type), wait.for).value++);
  telemetry.observe("order-overdue", ({ type, wait }) => overdue.cell(nameOf(type), wait.for).value++);
  const unprotected = new CounterFamily("xds_server_unprotected_clients_total", registry).cell();
  telemetry.observe("client-unprotected", () => unprotected.value++);
  const denied = new CounterFamily("xds_server_access_denied_total", registry);
  telemetry.observe("access-denied", ({ type, entryPoint, stream }) => {
    const what = stream === undefined ? entryPoint : "node";
    denied.cell(type === undefined ? what : nameOf(type)).value++;
  });
  telemetry.observe("anomaly", ({ type, what }) => anomalies.cell(nameOf(type), what).value++);
}

/** The cells that a response of one type and variant updates, looked up once because every send uses them. */
interface ResponseCells {
  readonly responses: Cell;
  readonly bytes: HistogramCell;
  readonly resources: HistogramCell;
}

function countResponses({ telemetry, deliveries }: MetricsOptions, registry: Registry, nameOf: NameOf): void {
  const responses = new CounterFamily("xds_server_responses_total", registry);
  const bytes = new HistogramFamily("xds_server_response_bytes", registry);
  const resources = new HistogramFamily("xds_server_response_resources", registry);
  const cells = { sotw: new Map<TypeUrl, ResponseCells>(), delta: new Map<TypeUrl, ResponseCells>() };

  function cellsOf(type: TypeUrl, variant: "sotw" | "delta"): ResponseCells {
    const known = cells[variant].get(type);
    if (known !== undefined) return known;
    const labels = [nameOf(type), variant];
    const made = {
      responses: responses.cell(...labels),
      bytes: bytes.cell(...labels),
      resources: resources.cell(...labels),
    };
    // Types without a short name share cells and are not cached: clients could name any number of them.
    if (nameOf(type) !== "other") cells[variant].set(type, made);
    return made;
  }

  telemetry.observe("response-queued", (report) => {
    const { responses: sent, bytes: size } = cellsOf(report.type, report.variant);
    sent.value++;
    size.observe(report.bytes);
  });
  telemetry.observe("response-sent", ({ stream, type, resources: puts, removed }) => {
    cellsOf(type, deliveries.stream(stream)?.variant ?? "sotw").resources.observe(puts + removed);
  });
}

function countAnswers(options: MetricsOptions, registry: Registry, nameOf: NameOf): void {
  const { telemetry, deliveries } = options;
  const acks = new CounterFamily("xds_server_acks_total", registry);
  const nacks = new CounterFamily("xds_server_nacks_total", registry);
  const heartbeats = new CounterFamily("xds_server_heartbeats_total", registry);
  const sendToAck = new HistogramFamily("xds_server_send_to_ack_seconds", registry);
  const propagation = new HistogramFamily("xds_server_propagation_seconds", registry);
  telemetry.observe("response-acked", ({ type }) => acks.cell(nameOf(type)).value++);
  telemetry.observe("response-nacked", ({ type }) => nacks.cell(nameOf(type)).value++);
  const atOldVersion = new CounterFamily("xds_server_polls_at_old_version_total", registry);
  telemetry.observe("polled-at-old-version", ({ type }) => atOldVersion.cell(nameOf(type)).value++);
  telemetry.observe("heartbeat-sent", ({ type }) => heartbeats.cell(nameOf(type)).value++);
  deliveries.onAcked(({ type, sendToAckMs, propagationMs }) => {
    sendToAck.cell(nameOf(type)).observe(sendToAckMs / 1000);
    if (propagationMs !== undefined) propagation.cell(nameOf(type)).observe(propagationMs / 1000);
  });
}

function countRest(telemetry: ObservedTelemetry, registry: Registry): void {
  const stalls = new CounterFamily("xds_server_stream_stalls_total", registry).cell();
  const commits = new CounterFamily("xds_server_commits_total", registry).cell();
  const commitSeconds = new HistogramFamily("xds_server_commit_seconds", registry).cell();
  const slices = new HistogramFamily("xds_server_flush_slice_seconds", registry).cell();
  const files = new CounterFamily("xds_server_files_total", registry);
  const fileProblems = new CounterFamily("xds_server_file_problems_total", registry).cell();
  const reloads = new CounterFamily("xds_server_tls_reloads_total", registry);
  const faults = new CounterFamily("xds_server_listener_failures_total", registry).cell();
  const invariants = new CounterFamily("xds_server_invariants_broken_total", registry).cell();
  telemetry.observe("stream-stalled", () => stalls.value++);
  telemetry.observe("committed", ({ tookMs }) => {
    commits.value++;
    commitSeconds.observe(tookMs / 1000);
  });
  const conversions = new CounterFamily("xds_server_conversions_total", registry).cell();
  const conversionSeconds = new HistogramFamily("xds_server_conversion_seconds", registry).cell();
  telemetry.observe("converted", ({ resources, tookMs }) => {
    conversions.value += resources;
    conversionSeconds.observe(tookMs / 1000);
  });
  telemetry.observe("slice-flushed", ({ tookMs }) => slices.observe(tookMs / 1000));
  telemetry.observe("files-written", ({ written, removed }) => {
    files.cell("written").value += written.length;
    files.cell("removed").value += removed.length;
  });
  telemetry.observe("files-problem", () => fileProblems.value++);
  const records = new CounterFamily("xds_server_ledger_records_total", registry);
  const ledgerProblems = new CounterFamily("xds_server_ledger_problems_total", registry).cell();
  const unchecked = new CounterFamily("xds_server_store_unchecked_total", registry);
  const moved = new CounterFamily("xds_server_store_moved_connections_total", registry).cell();
  telemetry.observe("connections-moved", (event) => {
    moved.value += event.moved;
  });
  telemetry.observe("client-unchecked", ({ reason }) => unchecked.cell(reason).value++);
  telemetry.observe("ledger-recorded", ({ as }) => records.cell(as).value++);
  telemetry.observe("ledger-problem", () => ledgerProblems.value++);
  telemetry.observe("tls-reloaded", () => reloads.cell("good").value++);
  telemetry.observe("tls-refused", () => reloads.cell("refused").value++);
  const changes = new CounterFamily("xds_server_admin_changes_total", registry);
  telemetry.observe("admin-change", ({ status }) => changes.cell(String(status)).value++);
  const certificates = new CounterFamily("xds_server_certificates_ended_total", registry);
  telemetry.observe("certificate-ended", ({ reason }) => certificates.cell(reason).value++);
  telemetry.observe("listener-failed", () => faults.value++);
  const workerEnds = new CounterFamily("xds_server_worker_ends_total", registry).cell();
  telemetry.observe("worker-ended", () => workerEnds.value++);
  telemetry.observe("invariant-broken", () => invariants.value++);
}

function readGauges(options: MetricsOptions, registry: Registry, nameOf: NameOf): void {
  const { gauges, deliveries, version, now = Date.now } = options;
  gauge("xds_server_info", registry, (set) => set(1, version, process.version));
  gauge("xds_server_revision", registry, (set) => set(gauges.revision()));
  gauge("xds_server_revision_age_seconds", registry, (set) => {
    const madeAt = deliveries.revisionMadeAt(gauges.revision());
    if (madeAt !== undefined) set(Math.max(0, now() - madeAt) / 1000);
  });
  gauge("xds_server_nodes", registry, (set) => {
    for (const [state, nodes] of Object.entries(gauges.nodeStates())) set(nodes, state);
  });
  gauge("xds_server_ledger_number", registry, (set) => set(gauges.ledger()?.number ?? 0));
  gauge("xds_server_ledger_held", registry, (set) => set(gauges.ledger()?.held === undefined ? 0 : 1));
  gauge("xds_server_tls_held", registry, (set) => set(gauges.heldTrust().length > 0 ? 1 : 0));
  gauge("xds_server_certificate_expiry_timestamp_seconds", registry, async (set) => {
    const ends = await gauges.certificates();
    for (const { use, validToMs } of ends.toReversed()) set(validToMs / 1000, use);
  });
  gauge("xds_server_certificates_expiring", registry, async (set) => {
    const ends = await gauges.certificates();
    for (const use of new Set(ends.map((end) => end.use)))
      set(ends.filter((end) => end.use === use && isExpiring(end, now())).length, use);
  });
  gauge("xds_server_store_head", registry, (set) => set(gauges.store()?.head ?? 0));
  gauge("xds_server_store_lag_records", registry, (set) => set(gauges.store()?.lag ?? 0));
  gauge("xds_server_store_lag_seconds", registry, (set) => {
    const since = gauges.store()?.lagSince;
    set(since === undefined ? 0 : Math.max(0, now() - since.getTime()) / 1000);
  });
  gauge("xds_server_store_away_seconds", registry, (set) => {
    const since = gauges.store()?.outage?.since;
    set(since === undefined ? 0 : Math.max(0, now() - since.getTime()) / 1000);
  });
  gauge("xds_server_store_copy_number", registry, (set) => set(gauges.store()?.copy?.number ?? 0));
  gauge("xds_server_store_copy_in_place", registry, (set) => set(gauges.store()?.copy?.isInPlace === true ? 1 : 0));
  gauge("xds_server_store_stopped", registry, (set) => set(gauges.store()?.stop === undefined ? 0 : 1));
  gauge("xds_server_store_publisher", registry, (set) => set(gauges.store()?.role === "publisher" ? 1 : 0));
  gauge("xds_server_emptied_endpoints", registry, (set) => set(gauges.ledger()?.emptied.length ?? 0));
  gauge("xds_server_missing_resources", registry, (set) => set(gauges.ledger()?.missing.length ?? 0));
  gauge("xds_server_ready", registry, (set) => set(gauges.readiness().isReady ? 1 : 0));
  gauge("xds_server_draining", registry, (set) => set(gauges.readiness().isDraining ? 1 : 0));
  gauge("xds_server_streams_stalled", registry, (set) => set(gauges.writes().stalledStreams));
  gauge("xds_server_write_buffer_bytes", registry, (set) => set(gauges.writes().bufferedBytes));
  gauge("xds_server_conversions_incomplete", registry, (set) => set(gauges.conversionFindings().size));
  gauge("xds_server_workers", registry, (set) => set(gauges.readyWorkers()));
  gauge("xds_server_worker_resident_memory_bytes", registry, (set) => {
    if (gauges.worker !== undefined) set(residentBytes(), String(gauges.worker));
  });
  gauge("xds_server_layers", registry, (set) => set([...gauges.layers()].length));
  gauge("xds_server_snapshot_resources", registry, (set) => {
    const sums = new Map<string, number>();
    for (const { types } of gauges.layers()) {
      for (const [type, { resources }] of types) sums.set(nameOf(type), (sums.get(nameOf(type)) ?? 0) + resources);
    }
    for (const [name, sum] of sums) set(sum, name);
  });
  gauge("xds_server_source_state", registry, (set) => {
    for (const state of ["loading", "good", "failed"]) set(gauges.source().state === state ? 1 : 0, state);
  });
  gauge("xds_server_source_problems", registry, (set) => {
    const { errors, warnings } = problemCounts(gauges.source().problems);
    set(errors, "error");
    set(warnings, "warning");
  });
  gauge("xds_server_source_state_timestamp_seconds", registry, (set) => set(gauges.source().since.getTime() / 1000));
  gauge("xds_server_source_failed_seconds", registry, (set) => {
    const { failedSince } = gauges.source();
    set(failedSince === undefined ? 0 : Math.max(0, now() - failedSince.getTime()) / 1000);
  });
  readLimits(gauges, registry);
  readEncoder(gauges, registry);
}

function readLimits(gauges: Gauges, registry: Registry): void {
  gauge("xds_server_limit", registry, (set) => {
    for (const { name, value } of gauges.limits()) set(value, name);
  });
  gauge("xds_server_limit_used", registry, (set) => {
    for (const { name, used } of gauges.limits()) if (used !== undefined) set(used, name);
  });
  const hits = new CounterFamily("xds_server_limit_hits_total", registry, (cellOf) => {
    for (const { name, hits: count } of gauges.limits()) cellOf(name).value = count;
  });
  for (const { name } of gauges.limits()) hits.cell(name);
}

function readEncoder(gauges: Gauges, registry: Registry): void {
  const read = (name: MetricName, field: keyof ReturnType<Gauges["encoder"]>): void => {
    new CounterFamily(name, registry, (cellOf) => {
      cellOf().value = gauges.encoder()[field];
    });
  };
  read("xds_server_encoded_segments_total", "segmentsEncoded");
  read("xds_server_encoded_frames_total", "framesEncoded");
  read("xds_server_encoded_bodies_total", "bodiesEncoded");
  read("xds_server_encoded_bytes_total", "bytesEncoded");
}

/** Process metrics, under the names that every Prometheus client uses. */
function readProcess(registry: Registry): void {
  gauge("process_resident_memory_bytes", registry, (set) => set(residentBytes()));
  gauge("nodejs_heap_size_used_bytes", registry, (set) => set(heapBytes()));
  gauge("nodejs_external_memory_bytes", registry, (set) => set(externalBytes()));
  gauge("process_start_time_seconds", registry, (set) => set(Date.now() / 1000 - process.uptime()));
  new CounterFamily("process_cpu_seconds_total", registry, (cellOf) => {
    const { user, system } = process.cpuUsage();
    cellOf().value = (user + system) / 1e6;
  });
}

/** Samples the event loop delay since the last scrape; a lifetime histogram would smooth it away. */
function sampleEventLoop(registry: Registry): { disable(): void } {
  const delays = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delays.enable();
  // A sample is the time between two checks; the excess over the interval is lag.
  const lagOf = (ns: number): number => Math.max(0, ns / 1e9 - LAG_RESOLUTION_MS / 1000) || 0;
  let sum = 0;
  let count = 0;
  new ReadSummary("xds_server_event_loop_lag_seconds", registry, () => {
    const quantiles = [
      ["0.5", lagOf(delays.percentile(50))],
      ["0.99", lagOf(delays.percentile(99))],
      ["1", lagOf(delays.max)],
    ] as const;
    count += delays.count;
    sum += lagOf(delays.mean) * delays.count;
    delays.reset();
    return { quantiles, sum, count };
  });
  return delays;
}
