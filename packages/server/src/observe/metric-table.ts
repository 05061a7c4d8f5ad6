/** What a metric is, for Prometheus and for the reference page. Labels are bounded: never a node, a name or a version; of names that clients report load of, the first thousand. */
export interface MetricRow {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

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
  | "xds_server_oddities_total"
  | "xds_server_order_waits_total"
  | "xds_server_order_overdue_total"
  | "xds_server_unprotected_clients_total"
  | "xds_server_propagation_seconds"
  | "xds_server_send_to_ack_seconds"
  | "xds_server_admission_rejected_total"
  | "xds_server_slow_clients"
  | "xds_server_write_buffer_bytes"
  | "xds_server_write_stalls_total"
  | "xds_server_commits_total"
  | "xds_server_commit_seconds"
  | "xds_server_conversions_total"
  | "xds_server_conversion_seconds"
  | "xds_server_conversions_incomplete"
  | "xds_server_turns_seconds"
  | "xds_server_revision"
  | "xds_server_snapshot_resources"
  | "xds_server_layers"
  | "xds_server_ready"
  | "xds_server_draining"
  | "xds_server_source_state"
  | "xds_server_source_problems"
  | "xds_server_source_state_timestamp_seconds"
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
  | "xds_server_files_total"
  | "xds_server_file_problems_total"
  | "xds_server_tls_reloads_total"
  | "xds_server_listener_faults_total"
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
    help: "Open discovery streams.",
    labels: ["variant", "scope"],
  },
  xds_server_streams_total: {
    kind: "counter",
    help: "Discovery streams that ended, by the reason of their end.",
    labels: ["variant", "close_reason"],
  },
  xds_server_stream_duration_seconds: {
    kind: "histogram",
    help: "How long a discovery stream was open.",
    labels: ["variant", "close_reason"],
    buckets: LIFETIMES,
  },
  xds_server_connections_active: { kind: "gauge", help: "Open client connections.", labels: ["transport"] },
  xds_server_connections_refused_total: {
    kind: "counter",
    help: "Connections that spoke no protocol of ours or failed their TLS handshake.",
    labels: [],
  },
  xds_server_connections_broken_total: {
    kind: "counter",
    help: "Connections that were closed because the client broke the rules of HTTP/2.",
    labels: [],
  },
  xds_server_clients: {
    kind: "gauge",
    help: "Open discovery streams by what the client calls itself: name and major.minor version; other, beyond 50 of them.",
    labels: ["user_agent"],
  },
  xds_server_pollers: {
    kind: "gauge",
    help: "Who polls over REST, by node, address, type and names; remembered for some minutes after the last poll",
    labels: [],
  },
  xds_server_polls_at_old_version_total: {
    kind: "counter",
    help: "Polls that came without the version that was given before: refusals that nobody explained",
    labels: ["type"],
  },
  xds_server_requests_total: {
    kind: "counter",
    help: "Requests by how they were understood; one request may be several (an ACK that also subscribes).",
    labels: ["type", "kind"],
  },
  xds_server_request_bytes_total: { kind: "counter", help: "Bytes of requests as they were decoded.", labels: [] },
  xds_server_responses_total: { kind: "counter", help: "Responses sent.", labels: ["type", "variant"] },
  xds_server_response_bytes: {
    kind: "histogram",
    help: "Size of a response on the wire.",
    labels: ["type", "variant"],
    buckets: BYTES,
  },
  xds_server_response_resources: {
    kind: "histogram",
    help: "Resources and removals in a response.",
    labels: ["type", "variant"],
    buckets: COUNTS,
  },
  xds_server_acks_total: { kind: "counter", help: "Responses that clients accepted.", labels: ["type"] },
  xds_server_nacks_total: { kind: "counter", help: "Responses that clients refused.", labels: ["type"] },
  xds_server_heartbeats_total: {
    kind: "counter",
    help: "Responses that tell nothing new but keep resources with a ttl alive; they count among the responses too.",
    labels: ["type"],
  },
  xds_server_oddities_total: {
    kind: "counter",
    help: "Odd things of clients that were borne.",
    labels: ["type", "what"],
  },
  xds_server_order_waits_total: {
    kind: "counter",
    help: "How often something was not sent at once because something else had to come first.",
    labels: ["type", "for"],
  },
  xds_server_order_overdue_total: {
    kind: "counter",
    help: "How often that came to nothing within the limit: the client may have lost requests.",
    labels: ["type", "for"],
  },
  xds_server_unprotected_clients_total: {
    kind: "counter",
    help: "Clients that came back with clusters that nobody here remembers.",
    labels: [],
  },
  xds_server_propagation_seconds: {
    kind: "histogram",
    help: "From a commit to the ACK of a stream that was open when it was made.",
    labels: ["type"],
    buckets: SECONDS,
  },
  xds_server_send_to_ack_seconds: {
    kind: "histogram",
    help: "From a response to its ACK. Clients that warm what they got answer late.",
    labels: ["type"],
    buckets: SECONDS,
  },
  xds_server_admission_rejected_total: {
    kind: "counter",
    help: "Streams and requests that were refused or ended because of a limit, readiness or placement, or because v2 is off.",
    labels: ["reason"],
  },
  xds_server_slow_clients: { kind: "gauge", help: "Streams whose client does not read now.", labels: [] },
  xds_server_write_buffer_bytes: { kind: "gauge", help: "Bytes that wait to be taken by clients.", labels: [] },
  xds_server_write_stalls_total: { kind: "counter", help: "How often a client stopped reading.", labels: [] },
  xds_server_commits_total: { kind: "counter", help: "Transactions that took effect.", labels: [] },
  xds_server_commit_seconds: {
    kind: "histogram",
    help: "How long a transaction took to be applied, before anything is sent.",
    labels: [],
    buckets: SECONDS,
  },
  xds_server_conversions_total: {
    kind: "counter",
    help: "Resources that were converted between v2 and v3: once for each change, not for each client.",
    labels: [],
  },
  xds_server_conversion_seconds: {
    kind: "histogram",
    help: "How long the conversion of what one transaction changed took.",
    labels: [],
    buckets: SECONDS,
  },
  xds_server_conversions_incomplete: {
    kind: "gauge",
    help: "Converted resources of which the other version cannot express something.",
    labels: [],
  },
  xds_server_turns_seconds: {
    kind: "histogram",
    help: "How long one slice of streams' turns held the event loop.",
    labels: [],
    buckets: SECONDS,
  },
  xds_server_revision: { kind: "gauge", help: "Number of the newest transaction.", labels: [] },
  xds_server_snapshot_resources: {
    kind: "gauge",
    help: "Resources by type, summed over all layers.",
    labels: ["type"],
  },
  xds_server_layers: { kind: "gauge", help: "Layers that exist.", labels: [] },
  xds_server_ready: { kind: "gauge", help: "1 if clients are served.", labels: [] },
  xds_server_draining: { kind: "gauge", help: "1 once streams are sent away.", labels: [] },
  xds_server_source_state: { kind: "gauge", help: "1 for the state that the source is in.", labels: ["state"] },
  xds_server_source_problems: {
    kind: "gauge",
    help: "Problems of the newest load.",
    labels: ["severity"],
  },
  xds_server_source_state_timestamp_seconds: {
    kind: "gauge",
    help: "Since when the source is in its state.",
    labels: [],
  },
  xds_server_limit: { kind: "gauge", help: "Each limit of the server, in its own unit.", labels: ["limit"] },
  xds_server_limit_used: {
    kind: "gauge",
    help: "How much of a limit is used, where it is one number for the whole server.",
    labels: ["limit"],
  },
  xds_server_limit_hits_total: { kind: "counter", help: "How often a limit was passed.", labels: ["limit"] },
  xds_server_encoded_segments_total: { kind: "counter", help: "Segments encoded; shared ones once.", labels: [] },
  xds_server_encoded_frames_total: { kind: "counter", help: "Resources framed for the wire.", labels: [] },
  xds_server_encoded_bodies_total: { kind: "counter", help: "Response bodies encoded; shared ones once.", labels: [] },
  xds_server_encoded_bytes_total: { kind: "counter", help: "Bytes that encoding made.", labels: [] },
  xds_server_load_reporters: { kind: "gauge", help: "Clients that report their load.", labels: [] },
  xds_server_load_reports_total: { kind: "counter", help: "Load reports that were taken.", labels: [] },
  xds_server_load_left_out_total: {
    kind: "counter",
    help: "Entries of load reports that were left out because there was no room for more.",
    labels: [],
  },
  xds_server_load_requests_total: {
    kind: "counter",
    help: "Requests that clients report to have issued, and how they ended; other, beyond 1000 clusters and localities.",
    labels: ["cluster", "service", "locality", "result"],
  },
  xds_server_load_requests_in_progress: {
    kind: "gauge",
    help: "Requests in progress, as clients last reported.",
    labels: ["cluster", "service", "locality"],
  },
  xds_server_load_dropped_total: {
    kind: "counter",
    help: "Requests that clients report to have dropped.",
    labels: ["cluster", "service", "category"],
  },
  xds_server_files_total: {
    kind: "counter",
    help: "Files for clients that follow those: written or removed.",
    labels: ["change"],
  },
  xds_server_file_problems_total: {
    kind: "counter",
    help: "How often files could not be written; it is tried again.",
    labels: [],
  },
  xds_server_tls_reloads_total: {
    kind: "counter",
    help: "Certificates read anew, or refused.",
    labels: ["result"],
  },
  xds_server_listener_faults_total: {
    kind: "counter",
    help: "Exceptions and rejections in listeners, and in the log, of the embedding program.",
    labels: [],
  },
  xds_server_invariants_broken_total: { kind: "counter", help: "Our own mistakes. Please report them.", labels: [] },
  xds_server_event_loop_lag_seconds: {
    kind: "gauge",
    help: "Delay of the event loop since the scrape before.",
    labels: ["quantile"],
  },
  process_cpu_seconds_total: { kind: "counter", help: "Processor time of the process.", labels: [] },
  process_resident_memory_bytes: { kind: "gauge", help: "Resident memory of the process.", labels: [] },
  process_start_time_seconds: { kind: "gauge", help: "When the process started.", labels: [] },
  nodejs_heap_size_used_bytes: { kind: "gauge", help: "What the JavaScript heap holds.", labels: [] },
  nodejs_external_memory_bytes: {
    kind: "gauge",
    help: "Memory outside of the JavaScript heap: resources and encoded responses.",
    labels: [],
  },
  xds_server_info: { kind: "gauge", help: "1, with what runs in its labels.", labels: ["version", "node_version"] },
};
