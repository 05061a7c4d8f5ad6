/** The format of a setting, with the resulting value in parentheses. */
export type SettingKind =
  /** `true` or `false` (boolean). */
  | "boolean"
  /** A number with a unit: `500ms`, `1.5s`, `2m`, `1h` (milliseconds). */
  | "duration"
  /** A duration as above, or `off` (string). */
  | "duration-or-off"
  /** A whole number (number). */
  | "count"
  /** A whole number as above, or `auto` (string). */
  | "count-or-auto"
  /** A share in percent, such as `50%`, which may be above 100 (a part of 1), or `off` (string). */
  | "share-or-off"
  /** A whole number, optionally with `KiB`, `MiB` or `GiB` (bytes). */
  | "bytes"
  /** `host:port`, `:port` (all addresses) or a port of 127.0.0.1 (string). */
  | "address"
  /** An address as above, or `off` (string). */
  | "address-or-off"
  /** A path, relative to the directory of the file (string). */
  | "path"
  /** A path as above, or `off` (string). */
  | "path-or-off"
  /** One or more paths (list of strings). */
  | "paths"
  /** One or more non-empty strings (list of strings). */
  | "texts"
  /** One or more names in certificates, each `uri:`, `dns:`, `ip:`, `email:` or `cn:` and a glob (list of strings). */
  | "certificate-names"
  /** Protocol switches; a mapping in the file, elsewhere one or more `NAME=VALUE` (list of strings). */
  | "switches"
  /** One of several words (string). */
  | "word"
  /** A non-empty string (string). */
  | "text";

/** The settings that are present, by key; durations in milliseconds, sizes in bytes. */
export type Settings = Partial<Readonly<Record<SettingKey, SettingValue>>>;

/** The value of a setting. */
export type SettingValue = boolean | number | string | readonly string[];

/** A row of the table of settings. */
export interface Setting {
  readonly key: SettingKey;
  readonly kind: SettingKind;
  /** The default as written in a file; undefined: none. */
  readonly default: string | undefined;
  /** One sentence for help and documentation. */
  readonly doc: string;
  /** For kind `word`. */
  readonly words?: readonly string[];
  /**
   * For numbers, in the unit of the value.
   * @default from 0; durations to 2,147,483,647 ms
   */
  readonly bounds?: Partial<Bounds>;
}

/** The least and the greatest value, which are both allowed. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Keys as in `xdskit.yaml`, where a dot may also be a nested mapping. */
export type SettingKey =
  | "listen"
  | "admin"
  | "admin-names"
  | "admin-socket"
  | "admin-tls.cert"
  | "admin-tls.key"
  | "admin-tls.ca"
  | "admin-tls.crl"
  | "admin-viewers"
  | "admin-operators"
  | "control-plane"
  | "descriptors"
  | "validation"
  | "allow-empty"
  | "secret-files"
  | "insecure"
  | "require-node"
  | "client-status"
  | "v2"
  | "http2"
  | "load-reports.interval"
  | "load-reports.clusters"
  | "load-reports.endpoints"
  | "edition"
  | "switches"
  | "make-before-break"
  | "order-limit"
  | "ttl-without-feature"
  | "rest.enabled"
  | "rest.long-poll"
  | "rest.hold"
  | "rest.max-hold"
  | "rest.names"
  | "state-dir"
  | "store"
  | "balance-connections"
  | "workers"
  | "tls.cert"
  | "tls.key"
  | "tls.ca"
  | "tls.crl"
  | "tls.require-client-certificate"
  | "fuses.resources-removed"
  | "fuses.resources-removed-floor"
  | "fuses.last-listener"
  | "fuses.nodes-moved"
  | "fuses.nodes-moved-floor"
  | "fuses.nodes-cut-off"
  | "fuses.size-grown"
  | "fuses.size-shrunk"
  | "fuses.size-floor"
  | "fuses.endpoints-emptied"
  | "history.revisions"
  | "history.days"
  | "export.directory"
  | "export.format"
  | "export.node"
  | "export.cluster"
  | "export.rewrite-sources"
  | "export.symlinks"
  | "export.settle"
  | "log.level"
  | "log.format"
  | "max-connection-age"
  | "max-connection-age-grace"
  | "max-debounce"
  | "limits.max-connections"
  | "limits.max-connections-per-peer"
  | "limits.max-connections-per-identity"
  | "limits.max-streams"
  | "limits.max-streams-per-peer"
  | "limits.max-streams-per-identity"
  | "limits.max-requests-per-second-per-identity"
  | "limits.max-subscriptions-per-stream"
  | "limits.max-subscriptions-per-peer"
  | "limits.max-subscriptions-per-identity"
  | "limits.max-types-per-stream"
  | "limits.max-unacknowledged-per-type"
  | "limits.max-request-bytes"
  | "limits.max-rest-request-bytes"
  | "limits.max-node-bytes"
  | "limits.max-client-bytes"
  | "limits.max-client-bytes-per-peer"
  | "limits.max-client-bytes-per-identity"
  | "limits.max-received-bytes"
  | "limits.max-received-bytes-per-peer"
  | "limits.max-received-bytes-per-identity"
  | "limits.max-poller-bytes"
  | "limits.max-poller-bytes-per-peer"
  | "limits.max-poller-bytes-per-identity"
  | "limits.max-message-time"
  | "limits.max-small-fragments"
  | "limits.max-response-bytes"
  | "limits.max-pending-bytes"
  | "limits.max-file-bytes"
  | "limits.module-timeout"
  | "limits.max-blocked"
  | "limits.max-status-bytes"
  | "limits.max-load-reporters"
  | "limits.max-load-entries"
  | "limits.keepalive"
  | "limits.keepalive-timeout"
  | "limits.handshake-timeout";

/** Every setting of `xdskit.yaml`, in the order of the documentation. */
export const settingTable: readonly Setting[] = [
  row("listen", "address", "127.0.0.1:18000", "Address that clients connect to."),
  row("admin", "address-or-off", "127.0.0.1:18001", "Address of the admin API and metrics; off to disable."),
  row("admin-names", "texts", undefined, "Host names accepted by the admin API besides localhost; * for any."),
  row("admin-socket", "path", undefined, "Local socket of the admin API, for the server's own user only (mode 0600)."),
  row("admin-tls.cert", "path", undefined, "PEM file with the certificate of the admin API and its chain."),
  row("admin-tls.key", "path", undefined, "PEM file with the private key of the admin API."),
  row("admin-tls.ca", "path", undefined, "PEM file with the CAs of admin API clients."),
  row("admin-tls.crl", "path", undefined, "PEM file with the revocation lists of admin-tls.ca, one for each CA."),
  row(
    "admin-viewers",
    "certificate-names",
    undefined,
    "Certificates that may read the admin API: uri:, dns:, ip:, email: or cn: and a glob.",
  ),
  row(
    "admin-operators",
    "certificate-names",
    undefined,
    "Certificates that may also change through the admin API, as admin-viewers.",
  ),
  row("control-plane", "text", "xdskit", "Control plane identifier sent in every response."),
  row("descriptors", "paths", undefined, "FileDescriptorSet files with additional message types."),
  words(
    "validation",
    ["off", "warn", "reject"],
    "warn",
    "What to do with resources that violate Envoy's validation rules.",
  ),
  row("allow-empty", "boolean", "false", "Serve an empty configuration if the directory has no resources."),
  words(
    "secret-files",
    ["read", "leave"],
    "read",
    "What to do with files that a Secret names by relative paths: send their content, or leave them to the clients.",
  ),
  row(
    "insecure",
    "boolean",
    "false",
    "Without access rules: send secrets and node layers to every remote client. Without TLS: let them read the admin API.",
  ),
  row("require-node", "boolean", undefined, "Reject clients that send no node; an empty node id passes."),
  words(
    "client-status",
    ["off", "loopback", "certificate", "everybody"],
    "loopback",
    "Who may query the client status service (CSDS).",
  ),
  words(
    "v2",
    ["convert", "exact", "off"],
    "convert",
    "What v2 clients get: converted v3 resources as well, v2 resources only, or nothing.",
  ),
  words("http2", ["builtin", "node"], "builtin", "HTTP/2 implementation: the server's own, or that of Node."),
  row(
    "load-reports.interval",
    "duration-or-off",
    "10s",
    "Interval of client load reports (LRS), at least 1s; off to reject them.",
    { min: 1000 },
  ),
  row("load-reports.clusters", "texts", undefined, "Clusters to report load for; by default all."),
  row("load-reports.endpoints", "boolean", "false", "Request load per endpoint, too."),
  words("edition", ["2018", "2020", "2021", "current"], "current", "Protocol edition for unknown clients."),
  row("switches", "switches", undefined, "Override single protocol behaviours of the edition."),
  row("make-before-break", "boolean", "true", "Make-before-break ordering: add clusters first, remove them last."),
  row("order-limit", "duration", "30s", "Longest wait for an ACK in make-before-break ordering."),
  row("ttl-without-feature", "boolean", "false", "Send TTLs to clients that do not advertise TTL support."),
  row("rest.enabled", "boolean", "true", "REST-JSON polling on the gRPC port, over HTTP/1.1 and HTTP/2."),
  row("rest.long-poll", "boolean", "true", "Long polling: hold each REST poll until something changes."),
  row("rest.hold", "duration", "800ms", "How long to hold polls of clients that announce no timeout."),
  row("rest.max-hold", "duration", "30s", "Longest time to hold a poll."),
  row("rest.names", "texts", undefined, "Host names of pages that may poll, besides localhost; * for any page."),
  row(
    "state-dir",
    "path-or-off",
    undefined,
    "Directory for state kept across restarts; by default in the user's state folder; off to disable.",
  ),
  row(
    "store",
    "text",
    undefined,
    "Store that several servers share, etcd://HOST:PORT,…/PREFIX or file:DIR; one of them publishes its source.",
  ),
  row(
    "balance-connections",
    "boolean",
    "true",
    "Balancing of connections: ask them to go to a server of the store that has much less than its share.",
  ),
  row(
    "workers",
    "count-or-auto",
    "1",
    "Processes that serve the clients, up to 256; auto for one per core. Limits hold for each of them.",
    { min: 1, max: 256 },
  ),
  row("tls.cert", "path", undefined, "PEM file with the server certificate and its chain."),
  row("tls.key", "path", undefined, "PEM file with the server's private key."),
  row("tls.ca", "path", undefined, "PEM file with the CAs that sign client certificates."),
  row("tls.crl", "path", undefined, "PEM file with the revocation lists of tls.ca, one for each CA."),
  row("tls.require-client-certificate", "boolean", undefined, "Require a client certificate."),
  row(
    "fuses.resources-removed",
    "share-or-off",
    "50%",
    "Hold a change that removes more than this share of a layer's resources of a type.",
  ),
  row("fuses.resources-removed-floor", "count", "10", "Number of resources that may always be removed."),
  row(
    "fuses.last-listener",
    "boolean",
    "true",
    "The fuse for the last listener: hold a change that leaves a view without listeners.",
  ),
  row(
    "fuses.nodes-moved",
    "share-or-off",
    "50%",
    "Hold a change that gives more than this share of the connected nodes other layers.",
  ),
  row("fuses.nodes-moved-floor", "count", "1", "Number of nodes that may always get other layers."),
  row(
    "fuses.nodes-cut-off",
    "share-or-off",
    "5%",
    "Hold a change that would cut off more than this share of the connected nodes.",
  ),
  row(
    "fuses.size-grown",
    "share-or-off",
    "100%",
    "Hold a change by which a layer's resources of a type grow by this share or more.",
  ),
  row(
    "fuses.size-shrunk",
    "share-or-off",
    "50%",
    "Hold a change by which a layer's resources of a type shrink by this share or more.",
  ),
  row("fuses.size-floor", "bytes", "16KiB", "A difference in size up to this is never held."),
  row(
    "fuses.endpoints-emptied",
    "duration-or-off",
    "10m",
    "How long to hold back endpoints of a cluster that become empty, each by itself.",
  ),
  row("history.revisions", "count", "1000", "Maximum revisions and decisions kept in the history.", { min: 1 }),
  row("history.days", "count", "30", "Days to keep revisions in the history.", { min: 1 }),
  row(
    "export.directory",
    "path",
    undefined,
    "Directory to write one node's resources to, for filesystem subscriptions.",
  ),
  words("export.format", ["yaml", "json", "pb", "pb_text"], "yaml", "Format of exported files."),
  row("export.node", "text", undefined, "Id of the exported node."),
  row("export.cluster", "text", undefined, "Cluster of the exported node."),
  row("export.rewrite-sources", "boolean", "false", "Rewrite config sources to point to the exported files."),
  row("export.symlinks", "boolean", "false", "Swap a ..data symlink to a new directory, as Kubernetes volumes do."),
  row("export.settle", "duration", "250ms", "Time for clients to load a file before its dependents are written."),
  words("log.level", ["error", "warn", "info", "debug"], "info", "Minimum log level."),
  words("log.format", ["text", "json"], undefined, "Log format; by default text in a terminal, JSON in a pipe."),
  row("max-connection-age", "duration", "0s", "Maximum connection age before GOAWAY; 0 for unlimited."),
  row("max-connection-age-grace", "duration", "10s", "Grace period for streams after GOAWAY."),
  row("max-debounce", "duration", "100ms", "Longest pause to gather changes after a costly update; 0 for none."),
  limit("limits.max-connections", "count", "50000", "Maximum open connections."),
  limit("limits.max-connections-per-peer", "count", "10000", "Maximum open connections per client address."),
  limit(
    "limits.max-connections-per-identity",
    "count",
    "10000",
    "Maximum open connections per client certificate identity.",
  ),
  limit("limits.max-streams", "count", "50000", "Maximum open discovery streams, and as many other calls."),
  limit("limits.max-streams-per-peer", "count", "10000", "Maximum open streams per client address."),
  limit("limits.max-streams-per-identity", "count", "10000", "Maximum open streams per client certificate identity."),
  row(
    "limits.max-requests-per-second-per-identity",
    "count",
    "10000",
    "Maximum requests per second per client certificate identity; excess requests wait; 0 for unlimited.",
  ),
  limit(
    "limits.max-subscriptions-per-stream",
    "count",
    "250000",
    "Maximum subscribed names per stream; as many are kept for unaccepted responses.",
  ),
  limit(
    "limits.max-subscriptions-per-peer",
    "count",
    "5000000",
    "Maximum names that the streams of one client address subscribe to or keep.",
  ),
  limit(
    "limits.max-subscriptions-per-identity",
    "count",
    "5000000",
    "Maximum names that the streams of one client certificate identity subscribe to or keep.",
  ),
  limit("limits.max-types-per-stream", "count", "64", "Maximum resource types per stream."),
  limit("limits.max-unacknowledged-per-type", "count", "1000", "Maximum unacknowledged responses per stream and type."),
  limit("limits.max-request-bytes", "bytes", "64MiB", "Maximum size of a gRPC request."),
  limit("limits.max-rest-request-bytes", "bytes", "16MiB", "Maximum size of a REST request body."),
  limit("limits.max-node-bytes", "bytes", "64KiB", "Maximum size of a node message, without its extension list."),
  limit(
    "limits.max-client-bytes",
    "bytes",
    "1GiB",
    "Maximum memory for what clients say of themselves, such as nodes and the names of waiting polls.",
  ),
  limit(
    "limits.max-client-bytes-per-peer",
    "bytes",
    "512MiB",
    "Maximum memory for what clients say of themselves, per client address.",
  ),
  limit(
    "limits.max-client-bytes-per-identity",
    "bytes",
    "512MiB",
    "Maximum memory for what clients say of themselves, per client certificate identity.",
  ),
  limit("limits.max-received-bytes", "bytes", "512MiB", "Maximum memory held by incomplete and waiting requests."),
  limit(
    "limits.max-received-bytes-per-peer",
    "bytes",
    "256MiB",
    "Maximum memory held by incomplete and waiting requests per client address.",
  ),
  limit(
    "limits.max-received-bytes-per-identity",
    "bytes",
    "256MiB",
    "Maximum memory held by incomplete and waiting requests per client certificate identity.",
  ),
  limit("limits.max-poller-bytes", "bytes", "32MiB", "Maximum memory for REST pollers between their polls."),
  limit(
    "limits.max-poller-bytes-per-peer",
    "bytes",
    "16MiB",
    "Maximum memory for REST pollers between their polls per client address.",
  ),
  limit(
    "limits.max-poller-bytes-per-identity",
    "bytes",
    "16MiB",
    "Maximum memory for REST pollers between their polls per client certificate identity.",
  ),
  limit("limits.max-message-time", "duration", "30s", "Maximum time to receive a request once it has begun."),
  limit(
    "limits.max-small-fragments",
    "count",
    "1000",
    "Maximum frames or chunks of a request if they hold fewer than 32 bytes on average.",
  ),
  row(
    "limits.max-response-bytes",
    "bytes",
    "3584KiB",
    "Size above which a response is split, if the client allows it.",
  ),
  limit("limits.max-pending-bytes", "bytes", "512MiB", "Maximum bytes buffered for a stream."),
  limit("limits.max-file-bytes", "bytes", "64MiB", "Maximum size of a resource file."),
  limit("limits.module-timeout", "duration", "10s", "Maximum time to run a module of resources, such as mesh.ts."),
  limit("limits.max-blocked", "duration", "60s", "Maximum time a client may block a write."),
  limit("limits.max-status-bytes", "bytes", "64MiB", "Maximum size of a CSDS response."),
  limit("limits.max-load-reporters", "count", "50000", "Maximum clients that report load."),
  limit(
    "limits.max-load-entries",
    "count",
    "100000",
    "Maximum distinct clusters, localities, metrics and endpoints in load reports.",
  ),
  row("limits.keepalive", "duration", "30s", "Interval of HTTP/2 keepalive pings; 0 to disable."),
  limit("limits.keepalive-timeout", "duration", "10s", "Timeout of a keepalive ping."),
  limit("limits.handshake-timeout", "duration", "10s", "Timeout of the TLS handshake and protocol detection."),
];

function row(
  key: SettingKey,
  kind: Exclude<SettingKind, "word">,
  byDefault: string | undefined,
  doc: string,
  bounds?: Partial<Bounds>,
): Setting {
  return { key, kind, default: byDefault, doc, ...(bounds !== undefined && { bounds }) };
}

/** A limit that cannot be 0. */
function limit(key: SettingKey, kind: "bytes" | "count" | "duration", byDefault: string, doc: string): Setting {
  return row(key, kind, byDefault, doc, { min: 1 });
}

function words(key: SettingKey, choices: readonly string[], byDefault: string | undefined, doc: string): Setting {
  return { key, kind: "word", default: byDefault, doc, words: choices };
}
