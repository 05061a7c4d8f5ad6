/** What a setting is written as; the value it becomes is in brackets. */
export type SettingKind =
  /** `true` or `false` (boolean). */
  | "boolean"
  /** A number with a unit: `500ms`, `1.5s`, `2m`, `1h` (milliseconds). */
  | "duration"
  /** The same, or `off` (string). */
  | "duration-or-off"
  /** A whole number from 0 (number). */
  | "count"
  /** A whole number from 0, with or without `KiB`, `MiB`, `GiB` (bytes). */
  | "bytes"
  /** `host:port`, `:port`, or `off` (string). */
  | "address"
  /** A path, relative to the directory of the file (string). */
  | "path"
  /** A path as above, or `off` (string). */
  | "path-or-off"
  /** One or more paths (list of strings). */
  | "paths"
  /** One or more texts that are not empty (list of strings). */
  | "texts"
  /** Switches of the protocol; a mapping in the file, elsewhere one or more `NAME=VALUE` (list of strings). */
  | "switches"
  /** One of a few words (string). */
  | "word"
  /** Any text that is not empty (string). */
  | "text";

/** The values of settings that are given, by key; durations in milliseconds, sizes in bytes. */
export type Settings = Partial<Readonly<Record<SettingKey, SettingValue>>>;

/** What a setting may be, once read. */
export type SettingValue = boolean | number | string | readonly string[];

/** A line of the table of settings. */
export interface Setting {
  readonly key: SettingKey;
  readonly kind: SettingKind;
  /** As it is written in a file; undefined where nothing is the default. */
  readonly default: string | undefined;
  /** One sentence for help and documentation. */
  readonly doc: string;
  /** For kind `word`. */
  readonly words?: readonly string[];
}

/** Keys as they stand in `xdskit.yaml`, where a dot may also be a nested mapping. */
export type SettingKey =
  | "listen"
  | "admin"
  | "admin-names"
  | "control-plane"
  | "descriptors"
  | "validation"
  | "allow-empty"
  | "insecure"
  | "require-node"
  | "client-status"
  | "v2"
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
  | "state-dir"
  | "tls.cert"
  | "tls.key"
  | "tls.ca"
  | "tls.require-client-certificate"
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
  | "limits.max-connections"
  | "limits.max-connections-per-peer"
  | "limits.max-streams"
  | "limits.max-streams-per-peer"
  | "limits.max-subscriptions-per-stream"
  | "limits.max-types-per-stream"
  | "limits.max-unacknowledged-per-type"
  | "limits.max-request-bytes"
  | "limits.max-rest-request-bytes"
  | "limits.max-node-bytes"
  | "limits.max-received-bytes"
  | "limits.max-received-bytes-per-peer"
  | "limits.max-message-time"
  | "limits.max-response-bytes"
  | "limits.max-pending-bytes"
  | "limits.max-file-bytes"
  | "limits.max-blocked"
  | "limits.max-status-bytes"
  | "limits.max-load-reporters"
  | "limits.max-load-entries"
  | "limits.keepalive"
  | "limits.keepalive-timeout"
  | "limits.handshake-timeout";

/** Every setting that `xdskit.yaml` may have, in the order of the documentation. */
export const settingTable: readonly Setting[] = [
  row("listen", "address", "127.0.0.1:18000", "Where clients connect."),
  row("admin", "address", "127.0.0.1:18001", "Where the admin API and the metrics are; off for none."),
  row(
    "admin-names",
    "texts",
    undefined,
    "Host names that the admin API may be called by, besides localhost; * for any.",
  ),
  row("control-plane", "text", "xdskit", "The identifier of this server in every response."),
  row("descriptors", "paths", undefined, "Encoded FileDescriptorSets with messages to know besides the built-in ones."),
  words(
    "validation",
    ["off", "warn", "reject"],
    "warn",
    "What breaking a validation rule of Envoy's messages leads to.",
  ),
  row("allow-empty", "boolean", "false", "Serves a directory without resources as an empty state."),
  row(
    "insecure",
    "boolean",
    "false",
    "Gives secrets and node layers also to clients that come unencrypted from elsewhere.",
  ),
  row("require-node", "boolean", undefined, "Refuses clients that do not say which node they are."),
  words(
    "client-status",
    ["off", "loopback", "certificate", "everybody"],
    "loopback",
    "Who may ask for the status of all clients (CSDS).",
  ),
  words(
    "v2",
    ["convert", "exact", "off"],
    "convert",
    "What clients of version 2 of the API get: all resources (what was given in v3 is converted), those given in v2, or nothing.",
  ),
  row(
    "load-reports.interval",
    "duration-or-off",
    "10s",
    "How often clients report their load (LRS), from 1s; off to refuse.",
  ),
  row("load-reports.clusters", "texts", undefined, "Clusters whose load clients report; unless set, all they have."),
  row("load-reports.endpoints", "boolean", "false", "Asks clients for the load of each endpoint, too."),
  words("edition", ["2018", "2020", "2021", "current"], "current", "The edition of the protocol for unknown clients."),
  row("switches", "switches", undefined, "Points in which clients are spoken to otherwise than the edition wants."),
  row(
    "make-before-break",
    "boolean",
    "true",
    "Removes clusters last, and sends what uses a cluster after it, so that no request is lost.",
  ),
  row("order-limit", "duration", "30s", "How long that order waits for a client that does not answer."),
  row(
    "ttl-without-feature",
    "boolean",
    "false",
    "Tells ttls also to clients that do not announce that they know them.",
  ),
  row("rest.enabled", "boolean", "true", "Serves REST on the port of gRPC, over HTTP/1.1 and HTTP/2."),
  row("rest.long-poll", "boolean", "true", "Holds polls while nothing changes; else each is answered at once."),
  row(
    "rest.hold",
    "duration",
    "800ms",
    "How long a poll is held whose client does not say for how long it waits; of what Envoy says, 80 % are used.",
  ),
  row("rest.max-hold", "duration", "30s", "The longest that a poll is held, whatever its client says."),
  row(
    "state-dir",
    "path-or-off",
    undefined,
    "Directory in which a restart is prepared for, so that clients which come back lose no request; unless set, one in the user's state folder; off for none.",
  ),
  row("tls.cert", "path", undefined, "PEM file of the server's certificate, followed by its chain."),
  row("tls.key", "path", undefined, "PEM file of the server's private key."),
  row("tls.ca", "path", undefined, "PEM file of the authorities that client certificates are checked against."),
  row("tls.require-client-certificate", "boolean", undefined, "Refuses clients that show no certificate."),
  row(
    "export.directory",
    "path",
    undefined,
    "Directory into which the view of a node is written too, for clients that follow files.",
  ),
  words("export.format", ["yaml", "json", "pb", "pb_text"], "yaml", "The form of those files."),
  row("export.node", "text", undefined, "The id of that node."),
  row("export.cluster", "text", undefined, "The cluster of that node."),
  row("export.rewrite-sources", "boolean", "false", "Points the config sources inside resources at those files."),
  row(
    "export.symlinks",
    "boolean",
    "false",
    "Writes a new directory each time and swaps the link ..data to it, as volumes of Kubernetes do.",
  ),
  row(
    "export.settle",
    "duration",
    "250ms",
    "How long clients of files have to take a change before what depends on it is written.",
  ),
  words("log.level", ["error", "warn", "info", "debug"], "info", "The least important messages that are logged."),
  words(
    "log.format",
    ["text", "json"],
    undefined,
    "How messages are logged; unless set, as text in a terminal and as JSON in a pipe.",
  ),
  row("max-connection-age", "duration", "0s", "After how long a connection is asked to go; 0 for never."),
  row(
    "max-connection-age-grace",
    "duration",
    "10s",
    "How long the streams of an old connection have to go by themselves.",
  ),
  row("limits.max-connections", "count", "50000", "Open connections."),
  row("limits.max-connections-per-peer", "count", "10000", "Open connections of one client address."),
  row("limits.max-streams", "count", "50000", "Open discovery streams, and as many other calls."),
  row("limits.max-streams-per-peer", "count", "10000", "The same of one client address."),
  row("limits.max-subscriptions-per-stream", "count", "250000", "Names that one stream may be subscribed to."),
  row("limits.max-types-per-stream", "count", "64", "Types that one stream may ask for, known or not."),
  row(
    "limits.max-unacknowledged-per-type",
    "count",
    "1000",
    "Responses of one type that a stream may leave neither accepted nor refused while it goes on asking.",
  ),
  row("limits.max-request-bytes", "bytes", "64MiB", "Size of one request."),
  row("limits.max-rest-request-bytes", "bytes", "16MiB", "Size of the body of one request over REST."),
  row(
    "limits.max-node-bytes",
    "bytes",
    "64KiB",
    "Size of what a client says of its node, metadata above all; its list of extensions does not count.",
  ),
  row(
    "limits.max-received-bytes",
    "bytes",
    "512MiB",
    "What requests that are not read to their end may hold, all together.",
  ),
  row(
    "limits.max-received-bytes-per-peer",
    "bytes",
    "256MiB",
    "What requests of one client address that are not read to their end may hold.",
  ),
  row("limits.max-message-time", "duration", "30s", "How long a request may take to arrive once it has begun."),
  row(
    "limits.max-response-bytes",
    "bytes",
    "3584KiB",
    "Size from which an answer is split into several responses, where the client can do with that.",
  ),
  row("limits.max-pending-bytes", "bytes", "512MiB", "What may wait for one stream to read it."),
  row("limits.max-file-bytes", "bytes", "64MiB", "Size of one file of resources."),
  row("limits.max-blocked", "duration", "60s", "How long a stream may take for what was written to it."),
  row("limits.max-status-bytes", "bytes", "64MiB", "Size of one answer about the status of clients."),
  row("limits.max-load-reporters", "count", "50000", "Clients that report their load."),
  row(
    "limits.max-load-entries",
    "count",
    "100000",
    "Clusters, localities, metrics and endpoints that reported load is told apart by.",
  ),
  row("limits.keepalive", "duration", "30s", "The time between pings to a client; 0 for none."),
  row("limits.keepalive-timeout", "duration", "10s", "How long a ping may stay unanswered."),
  row("limits.handshake-timeout", "duration", "10s", "How long a new connection may take to show its protocol."),
];

function row(key: SettingKey, kind: Exclude<SettingKind, "word">, byDefault: string | undefined, doc: string): Setting {
  return { key, kind, default: byDefault, doc };
}

function words(key: SettingKey, choices: readonly string[], byDefault: string | undefined, doc: string): Setting {
  return { key, kind: "word", default: byDefault, doc, words: choices };
}
