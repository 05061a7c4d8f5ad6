/** What a metric is, for Prometheus and for the reference page. Labels are bounded: never a node, a name or a version; of names that clients report load of, the first thousand. */
export interface MetricRow {
  readonly kind: "counter" | "gauge" | "histogram" | "summary";
  readonly help: string;
  readonly merge: MetricMerge;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

/**
 * How the readings of a primary and its workers become one. `sum`: they are added, with the counters of workers that
 * ended. `max`: the largest one counts; observations are added. `primary`: that of the primary, because only it knows, or
 * all have the same. `worker`: that of the newest worker, because workers apply it, with the settings of the newest SIGHUP.
 */
export type MetricMerge = "sum" | "max" | "primary" | "worker";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LIFETIMES = [1, 10, 60, 600, 3600, 21_600, 86_400];
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const COUNTS = [1, 2, 5, 10, 100, 1000, 10_000, 100_000];

/** The name of a metric. */
export type MetricName =
  | "xds_server_streams_active"
  | "xds_server_streams_total"
  | "xds_server_stream_duration_seconds"
  | "xds_server_connections_active"
  | "xds_server_connections_refused_total"
  | "xds_server_connections_broken_total"
  | "xds_server_clients"
  | "xds_server_pollers"
  | "xds_server_polls_at_old_version_total"
  | "xds_server_requests_total"
  | "xds_server_request_bytes_total"
  | "xds_server_responses_total"
  | "xds_server_response_bytes"
  | "xds_server_response_resources"
  | "xds_server_acks_total"
  | "xds_server_nacks_total"
  | "xds_server_heartbeats_total"
  | "xds_server_anomalies_total"
  | "xds_server_access_denied_total"
  | "xds_server_order_waits_total"
  | "xds_server_order_overdue_total"
  | "xds_server_unprotected_clients_total"
  | "xds_server_propagation_seconds"
  | "xds_server_send_to_ack_seconds"
  | "xds_server_admission_rejected_total"
  | "xds_server_streams_stalled"
  | "xds_server_write_buffer_bytes"
  | "xds_server_stream_stalls_total"
  | "xds_server_commits_total"
  | "xds_server_commit_seconds"
  | "xds_server_conversions_total"
  | "xds_server_conversion_seconds"
  | "xds_server_conversions_incomplete"
  | "xds_server_flush_slice_seconds"
  | "xds_server_revision"
  | "xds_server_revision_age_seconds"
  | "xds_server_nodes"
  | "xds_server_snapshot_resources"
  | "xds_server_layers"
  | "xds_server_workers"
  | "xds_server_worker_ends_total"
  | "xds_server_worker_resident_memory_bytes"
  | "xds_server_ready"
  | "xds_server_draining"
  | "xds_server_source_state"
  | "xds_server_source_problems"
  | "xds_server_source_state_timestamp_seconds"
  | "xds_server_source_failed_seconds"
  | "xds_server_limit"
  | "xds_server_limit_used"
  | "xds_server_limit_hits_total"
  | "xds_server_encoded_segments_total"
  | "xds_server_encoded_frames_total"
  | "xds_server_encoded_bodies_total"
  | "xds_server_encoded_bytes_total"
  | "xds_server_load_reporters"
  | "xds_server_load_reports_total"
  | "xds_server_load_left_out_total"
  | "xds_server_load_requests_total"
  | "xds_server_load_requests_in_progress"
  | "xds_server_load_dropped_total"
  | "xds_server_ledger_number"
  | "xds_server_ledger_records_total"
  | "xds_server_ledger_problems_total"
  | "xds_server_ledger_held"
  | "xds_server_store_head"
  | "xds_server_store_lag_records"
  | "xds_server_store_lag_seconds"
  | "xds_server_store_away_seconds"
  | "xds_server_store_copy_number"
  | "xds_server_store_copy_in_place"
  | "xds_server_store_stopped"
  | "xds_server_store_publisher"
  | "xds_server_store_moved_connections_total"
  | "xds_server_store_unchecked_total"
  | "xds_server_emptied_endpoints"
  | "xds_server_missing_resources"
  | "xds_server_files_total"
  | "xds_server_file_problems_total"
  | "xds_server_tls_reloads_total"
  | "xds_server_tls_held"
  | "xds_server_certificate_expiry_timestamp_seconds"
  | "xds_server_certificates_expiring"
  | "xds_server_certificates_ended_total"
  | "xds_server_admin_changes_total"
  | "xds_server_listener_failures_total"
  | "xds_server_invariants_broken_total"
  | "xds_server_event_loop_lag_seconds"
  | "process_cpu_seconds_total"
  | "process_resident_memory_bytes"
  | "process_start_time_seconds"
  | "nodejs_heap_size_used_bytes"
  | "nodejs_external_memory_bytes"
  | "xds_server_info";

/** Every metric of a server. The reference page and `/metrics` are made from it (S-OBS-02). */
export const metricTable: Readonly<Record<MetricName, MetricRow>> = {
  xds_server_streams_active: {
    kind: "gauge",
    merge: "sum",
    help: "Open discovery streams.",
    labels: ["variant", "scope"],
  },
  xds_server_streams_total: {
    kind: "counter",
    merge: "sum",
    help: "Closed discovery streams by reason.",
    labels: ["variant", "close_reason"],
  },
  xds_server_stream_duration_seconds: {
    kind: "histogram",
    merge: "sum",
    help: "Lifetime of discovery streams.",
    labels: ["variant", "close_reason"],
    buckets: LIFETIMES,
  },
  xds_server_connections_active: {
    kind: "gauge",
    merge: "sum",
    help: "Open client connections.",
    labels: ["transport"],
  },
  xds_server_connections_refused_total: {
    kind: "counter",
    merge: "sum",
    help: "Connections closed before a valid handshake: unknown protocol or failed TLS.",
    labels: [],
  },
  xds_server_connections_broken_total: {
    kind: "counter",
    merge: "sum",
    help: "Connections closed after an HTTP/2 protocol error.",
    labels: [],
  },
  xds_server_clients: {
    kind: "gauge",
    merge: "sum",
    help: "Open discovery streams by user agent: name and major.minor version; other, beyond 50 values.",
    labels: ["user_agent"],
  },
  xds_server_pollers: {
    kind: "gauge",
    merge: "sum",
    help: "REST pollers, distinct by node, address, type and names; forgotten some minutes after the last poll, or for a limit of their memory.",
    labels: [],
  },
  xds_server_polls_at_old_version_total: {
    kind: "counter",
    merge: "sum",
    help: "Polls that repeat an older version than the one sent: implicit NACKs.",
    labels: ["type"],
  },
  xds_server_requests_total: {
    kind: "counter",
    merge: "sum",
    help: "Requests by kind; one request may count as several (an ACK that also subscribes).",
    labels: ["type", "kind"],
  },
  xds_server_request_bytes_total: {
    kind: "counter",
    merge: "sum",
    help: "Size of received requests after decompression.",
    labels: [],
  },
  xds_server_responses_total: { kind: "counter", merge: "sum", help: "Responses sent.", labels: ["type", "variant"] },
  xds_server_response_bytes: {
    kind: "histogram",
    merge: "sum",
    help: "Size of a response on the wire.",
    labels: ["type", "variant"],
    buckets: BYTES,
  },
  xds_server_response_resources: {
    kind: "histogram",
    merge: "sum",
    help: "Resources and removals in a response.",
    labels: ["type", "variant"],
    buckets: COUNTS,
  },
  xds_server_acks_total: { kind: "counter", merge: "sum", help: "Responses that clients ACKed.", labels: ["type"] },
  xds_server_nacks_total: { kind: "counter", merge: "sum", help: "Responses that clients NACKed.", labels: ["type"] },
  xds_server_heartbeats_total: {
    kind: "counter",
    merge: "sum",
    help: "Heartbeat responses that refresh TTLs; also counted as responses.",
    labels: ["type"],
  },
  xds_server_anomalies_total: {
    kind: "counter",
    merge: "sum",
    help: "Client protocol anomalies tolerated.",
    labels: ["type", "what"],
  },
  xds_server_order_waits_total: {
    kind: "counter",
    merge: "sum",
    help: "Updates delayed by make-before-break ordering, by what they wait for: cluster (an ACK), endpoints or secret (of a cluster), users (an ACK of what refers to a cluster), release (a client gives up a cluster), return (a client subscribes again).",
    labels: ["type", "for"],
  },
  xds_server_order_overdue_total: {
    kind: "counter",
    merge: "sum",
    help: "Ordering waits that timed out; the client may have lost requests.",
    labels: ["type", "for"],
  },
  xds_server_unprotected_clients_total: {
    kind: "counter",
    merge: "sum",
    help: "Clients that reconnected with an unknown version of their clusters.",
    labels: [],
  },
  xds_server_propagation_seconds: {
    kind: "histogram",
    merge: "sum",
    help: "Time from a commit to the ACK, for streams that were open at the commit.",
    labels: ["type"],
    buckets: SECONDS,
  },
  xds_server_send_to_ack_seconds: {
    kind: "histogram",
    merge: "sum",
    help: "Time from a response to its ACK; includes warming in the client.",
    labels: ["type"],
    buckets: SECONDS,
  },
  xds_server_access_denied_total: {
    kind: "counter",
    merge: "sum",
    help: "Requests denied by access rules, by what was denied: a type, the node identity (node), or an entry point such as csds.",
    labels: ["what"],
  },
  xds_server_admission_rejected_total: {
    kind: "counter",
    merge: "sum",
    help: "Streams and requests rejected because of a limit, readiness, node mapping, or disabled v2, polls of web pages, and callers of the admin API without a role.",
    labels: ["reason"],
  },
  xds_server_streams_stalled: {
    kind: "gauge",
    merge: "sum",
    help: "Open streams whose client does not read.",
    labels: [],
  },
  xds_server_write_buffer_bytes: { kind: "gauge", merge: "sum", help: "Bytes buffered for clients.", labels: [] },
  xds_server_stream_stalls_total: {
    kind: "counter",
    merge: "sum",
    help: "Times that a client stopped reading.",
    labels: [],
  },
  xds_server_commits_total: { kind: "counter", merge: "primary", help: "Committed transactions.", labels: [] },
  xds_server_commit_seconds: {
    kind: "histogram",
    merge: "primary",
    help: "Time to apply a transaction, before anything is sent.",
    labels: [],
    buckets: SECONDS,
  },
  xds_server_conversions_total: {
    kind: "counter",
    merge: "sum",
    help: "Resources converted between v2 and v3, once per change and not per client.",
    labels: [],
  },
  xds_server_conversion_seconds: {
    kind: "histogram",
    merge: "sum",
    help: "Time to convert the changes of one transaction.",
    labels: [],
    buckets: SECONDS,
  },
  xds_server_conversions_incomplete: {
    kind: "gauge",
    merge: "max",
    help: "Converted resources with fields that the other version lacks.",
    labels: [],
  },
  xds_server_flush_slice_seconds: {
    kind: "histogram",
    merge: "sum",
    help: "Time that one slice of updates to streams held the event loop.",
    labels: [],
    buckets: SECONDS,
  },
  xds_server_revision: {
    kind: "gauge",
    merge: "primary",
    help: "Number of the newest transaction in this process; the numbers of the history are others.",
    labels: [],
  },
  xds_server_revision_age_seconds: {
    kind: "gauge",
    merge: "primary",
    help: "Time since the newest transaction; 0 before the first.",
    labels: [],
  },
  xds_server_nodes: {
    kind: "gauge",
    merge: "sum",
    help: "Nodes by how far they are with the newest revision: deployed, pending, waiting (for an earlier step of the ordering), nacked, disconnected without it; clients of the command line are none.",
    labels: ["state"],
  },
  xds_server_snapshot_resources: {
    kind: "gauge",
    merge: "primary",
    help: "Resources by type, summed over all layers.",
    labels: ["type"],
  },
  xds_server_workers: {
    kind: "gauge",
    merge: "primary",
    help: "Worker processes that serve clients; 0 without workers",
    labels: [],
  },
  xds_server_worker_ends_total: {
    kind: "counter",
    merge: "primary",
    help: "Worker processes that ended although nobody asked them to",
    labels: [],
  },
  xds_server_worker_resident_memory_bytes: {
    kind: "gauge",
    merge: "sum",
    help: "Resident memory of each worker process; process_resident_memory_bytes has the sum with the primary's",
    labels: ["worker"],
  },
  xds_server_layers: { kind: "gauge", merge: "primary", help: "Layers that exist.", labels: [] },
  xds_server_ready: { kind: "gauge", merge: "primary", help: "1 if the server is ready.", labels: [] },
  xds_server_draining: { kind: "gauge", merge: "primary", help: "1 while draining.", labels: [] },
  xds_server_source_state: {
    kind: "gauge",
    merge: "primary",
    help: "1 for the current state of the configuration source.",
    labels: ["state"],
  },
  xds_server_source_problems: {
    kind: "gauge",
    merge: "primary",
    help: "Problems found in the newest load, by severity.",
    labels: ["severity"],
  },
  xds_server_source_state_timestamp_seconds: {
    kind: "gauge",
    merge: "primary",
    help: "Time at which the source entered its current state.",
    labels: [],
  },
  xds_server_source_failed_seconds: {
    kind: "gauge",
    merge: "primary",
    help: "Time since the loads of the source began to fail; 0 if the newest load succeeded.",
    labels: [],
  },
  xds_server_limit: {
    kind: "gauge",
    merge: "worker",
    help: "Configured limits, each in its own unit.",
    labels: ["limit"],
  },
  xds_server_limit_used: {
    kind: "gauge",
    merge: "max",
    help: "Current usage of server-wide limits.",
    labels: ["limit"],
  },
  xds_server_limit_hits_total: {
    kind: "counter",
    merge: "sum",
    help: "Times that a limit was exceeded; for a limit of pollers, how many were forgotten.",
    labels: ["limit"],
  },
  xds_server_encoded_segments_total: {
    kind: "counter",
    merge: "sum",
    help: "Segments encoded; shared ones once.",
    labels: [],
  },
  xds_server_encoded_frames_total: {
    kind: "counter",
    merge: "sum",
    help: "Resources framed for the wire.",
    labels: [],
  },
  xds_server_encoded_bodies_total: {
    kind: "counter",
    merge: "sum",
    help: "Response bodies encoded; shared ones once.",
    labels: [],
  },
  xds_server_encoded_bytes_total: {
    kind: "counter",
    merge: "sum",
    help: "Bytes of encoded response bodies.",
    labels: [],
  },
  xds_server_load_reporters: { kind: "gauge", merge: "sum", help: "Clients that report their load.", labels: [] },
  xds_server_load_reports_total: { kind: "counter", merge: "sum", help: "Load reports received.", labels: [] },
  xds_server_load_left_out_total: {
    kind: "counter",
    merge: "sum",
    help: "Entries of load reports dropped because a limit was reached.",
    labels: [],
  },
  xds_server_load_requests_total: {
    kind: "counter",
    merge: "sum",
    help: "Requests reported by clients, by result; other, beyond 1000 clusters and localities.",
    labels: ["cluster", "service", "locality", "result"],
  },
  xds_server_load_requests_in_progress: {
    kind: "gauge",
    merge: "sum",
    help: "Requests in progress in the newest client reports.",
    labels: ["cluster", "service", "locality"],
  },
  xds_server_load_dropped_total: {
    kind: "counter",
    merge: "sum",
    help: "Dropped requests reported by clients.",
    labels: ["cluster", "service", "category"],
  },
  xds_server_ledger_number: {
    kind: "gauge",
    merge: "primary",
    help: "Number of the newest record of the ledger; 0 without a ledger.",
    labels: [],
  },
  xds_server_ledger_records_total: {
    kind: "counter",
    merge: "primary",
    help: "Records appended to the ledger, by kind.",
    labels: ["kind"],
  },
  xds_server_ledger_problems_total: {
    kind: "counter",
    merge: "primary",
    help: "Times that the ledger could not be opened or a change could not be recorded.",
    labels: [],
  },
  xds_server_ledger_held: {
    kind: "gauge",
    merge: "primary",
    help: "1 while a fuse holds a change.",
    labels: [],
  },
  xds_server_store_head: {
    kind: "gauge",
    merge: "primary",
    help: "Number of the newest record seen in the shared store; 0 without one.",
    labels: [],
  },
  xds_server_store_lag_records: {
    kind: "gauge",
    merge: "primary",
    help: "Records of the shared store that this server has not applied yet.",
    labels: [],
  },
  xds_server_store_lag_seconds: {
    kind: "gauge",
    merge: "primary",
    help: "Time since there are records of the shared store that this server has not applied; 0 if there are none.",
    labels: [],
  },
  xds_server_store_away_seconds: {
    kind: "gauge",
    merge: "primary",
    help: "Time since the shared store became unreachable; 0 while it is reachable.",
    labels: [],
  },
  xds_server_store_copy_number: {
    kind: "gauge",
    merge: "primary",
    help: "Number of the newest record in the local copy of the shared store; 0 without one.",
    labels: [],
  },
  xds_server_store_copy_in_place: {
    kind: "gauge",
    merge: "primary",
    help: "1 while the shared store has been unreachable since the start, so that its local copy is served.",
    labels: [],
  },
  xds_server_store_stopped: {
    kind: "gauge",
    merge: "primary",
    help: "1 while records of the shared store are not applied: one is of an unknown kind, or the history is another one.",
    labels: [],
  },
  xds_server_store_publisher: {
    kind: "gauge",
    merge: "primary",
    help: "1 while this server publishes to the shared store, 0 while it follows.",
    labels: [],
  },
  xds_server_store_moved_connections_total: {
    kind: "counter",
    merge: "primary",
    help: "Connections that were asked to go to another server of the store, because that one has fewer.",
    labels: [],
  },
  xds_server_store_unchecked_total: {
    kind: "counter",
    merge: "primary",
    help: "Clients that were served although another server may have sent them a newer state, by reason: away or timeout.",
    labels: ["reason"],
  },
  xds_server_emptied_endpoints: {
    help: "Endpoints of clusters that became empty, and are held back by a fuse; clients keep their copies.",
    kind: "gauge",
    merge: "primary",
    labels: [],
  },
  xds_server_missing_resources: {
    kind: "gauge",
    merge: "primary",
    help: "Resources in force whose content is unavailable after a restart; clients keep their copies.",
    labels: [],
  },
  xds_server_files_total: {
    kind: "counter",
    merge: "primary",
    help: "Files written or removed for filesystem subscriptions.",
    labels: ["change"],
  },
  xds_server_file_problems_total: {
    kind: "counter",
    merge: "primary",
    help: "Failed attempts to write files; retried.",
    labels: [],
  },
  xds_server_tls_reloads_total: {
    kind: "counter",
    merge: "sum",
    help: "Certificate reloads by result.",
    labels: ["result"],
  },
  xds_server_tls_held: {
    kind: "gauge",
    merge: "sum",
    help: "1 while a fuse holds new CAs or revocation lists.",
    labels: [],
  },
  xds_server_certificate_expiry_timestamp_seconds: {
    kind: "gauge",
    merge: "primary",
    help: "When the first of the certificates expires: by the setting of the server's own, or those in served Secrets.",
    labels: ["certificate"],
  },
  xds_server_certificates_expiring: {
    kind: "gauge",
    merge: "primary",
    help: "Certificates that have expired, or have less than a fifth of their life and less than 14 days left.",
    labels: ["certificate"],
  },
  xds_server_certificates_ended_total: {
    kind: "counter",
    merge: "sum",
    help: "Connections closed because their client certificate is expiring, expired, untrusted or revoked.",
    labels: ["reason"],
  },
  xds_server_admin_changes_total: {
    kind: "counter",
    merge: "sum",
    help: "Admin API requests that are not reads, by HTTP status.",
    labels: ["status"],
  },
  xds_server_listener_failures_total: {
    kind: "counter",
    merge: "sum",
    help: "Exceptions and rejections in event listeners and log sinks of the embedding program.",
    labels: [],
  },
  xds_server_invariants_broken_total: {
    kind: "counter",
    merge: "sum",
    help: "Internal errors: bugs in xdskit. Please report them.",
    labels: [],
  },
  xds_server_event_loop_lag_seconds: {
    kind: "summary",
    merge: "max",
    help: "Event loop delay; quantiles since the previous scrape.",
    labels: ["quantile"],
  },
  process_cpu_seconds_total: { kind: "counter", merge: "sum", help: "CPU time of the process.", labels: [] },
  process_resident_memory_bytes: { kind: "gauge", merge: "sum", help: "Resident memory of the process.", labels: [] },
  process_start_time_seconds: { kind: "gauge", merge: "primary", help: "Start time of the process.", labels: [] },
  nodejs_heap_size_used_bytes: { kind: "gauge", merge: "sum", help: "Used JavaScript heap.", labels: [] },
  nodejs_external_memory_bytes: {
    kind: "gauge",
    merge: "sum",
    help: "Memory outside the JavaScript heap: resources and encoded responses.",
    labels: [],
  },
  xds_server_info: {
    kind: "gauge",
    merge: "primary",
    help: "Constant 1, with the versions as labels.",
    labels: ["version", "node_version"],
  },
};
