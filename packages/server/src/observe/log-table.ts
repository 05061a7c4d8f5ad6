import type { ServerReport } from "../hub/port.ts";
import type { LogEvent } from "../log.ts";

export type { LogEvent, LogFields } from "../log.ts";

/** A log line, as the reference page describes it. */
export interface LogRow {
  readonly level: "debug" | "info" | "warn" | "error";
  /** The message. */
  readonly message: string;
  readonly fields: readonly string[];
  /** Its meaning for the operator, and what to do. */
  readonly means: string;
  /** The event of the server that the line tells in some cases only; other lines have the name of their event. */
  readonly of?: ServerReport["kind"];
}

/** Lines that tell an event of the server in some cases only, at a level of their own. */
interface PartialLines {
  readonly "stream-ended": "stream-closed";
  readonly "conversion-incomplete": "converted";
  readonly "change-held": "ledger-recorded";
  readonly "endpoints-held": "ledger-recorded";
  readonly "files-source-kept": "files-source";
}

/** What the compiler says of a line that is no event of the server. */
type Undeclared = "ServerReport in hub/port.ts has no event of this name, and PartialLines no line";

/** Every line has the name of an event of the server, or names the one that it tells in some cases. */
type LogTable = {
  readonly [E in LogEvent]: E extends ServerReport["kind"]
    ? LogRow
    : Omit<LogRow, "of"> & { readonly of: E extends keyof PartialLines ? PartialLines[E] : Undeclared };
};

/** Every line that a server logs. */
export const logTable: LogTable = {
  ready: {
    level: "info",
    message: "server ready",
    fields: [],
    means: "the first valid configuration is in force, and clients are served",
  },
  draining: {
    level: "info",
    message: "draining",
    fields: ["grace_ms"],
    means: "the server is shutting down: streams end with UNAVAILABLE, and clients reconnect or fail over",
  },
  committed: {
    level: "info",
    message: "configuration updated",
    fields: ["transaction", "took_ms"],
    means:
      "changed resources are being sent; `xds deliveries` shows which clients have ACKed them. transaction counts within this process; the numbers of `xds history` are in `change recorded`",
  },
  "conversion-incomplete": {
    of: "converted",
    level: "warn",
    message: "conversion between v2 and v3 lost fields",
    fields: ["resources", "incomplete", "type", "name", "layer", "path", "reason"],
    means:
      "fields that the other version lacks are sent unchanged, and its clients may ignore them. incomplete is the number of affected resources, the first is named; `/api/v1/conversions` of the admin API lists all. One line per transaction; `xds validate --v2` warns in advance",
  },
  "response-nacked": {
    level: "warn",
    message: "response rejected (NACK)",
    fields: ["node", "type", "version", "nonce", "stream", "code", "reason", "names", "suppressed"],
    means:
      "the client keeps its previous version; fix what the reason names. At most one line per node and type in 10 s; suppressed is the number of lines left out",
  },
  "node-connected": {
    level: "info",
    message: "node connected",
    fields: ["stream", "node", "cluster", "agent", "layers"],
    means:
      "layers are the layers that the node sees, top-most first. One line per stream: a client with a stream for each type has several",
  },
  "node-moved": {
    level: "info",
    message: "node moved to other layers",
    fields: ["stream", "node", "layers"],
    means: "the rules that map nodes to layers changed",
  },
  "stream-opened": {
    level: "debug",
    message: "stream opened",
    fields: ["stream", "variant", "method", "peer"],
    means: "a client connected",
  },
  "stream-closed": {
    level: "debug",
    message: "stream closed",
    fields: ["stream", "peer", "reason", "code", "status_message", "age_ms"],
    means: "the client or the connection ended the stream",
  },
  "stream-ended": {
    of: "stream-closed",
    level: "warn",
    message: "stream ended by the server",
    fields: ["stream", "peer", "reason", "code", "status_message", "age_ms", "suppressed"],
    means:
      "status_message says why; the client reconnects, and its stream ends again until the cause is fixed. At most one line per host and reason in 10 s; suppressed is the number of lines left out",
  },
  "poller-met": {
    level: "debug",
    message: "REST poller connected",
    fields: ["stream", "node", "type", "peer"],
    means: "a client polls over REST; its polls have this stream number until it is forgotten",
  },
  "poller-forgotten": {
    level: "debug",
    message: "REST poller gone",
    fields: ["stream", "node", "type", "limit"],
    means:
      "no poll for some minutes, or, with limit, others needed its memory (`limits.max-poller-bytes`); the next poll counts as that of a new poller",
  },
  "stream-stalled": {
    level: "warn",
    message: "client reads too slowly",
    fields: ["stream", "pending_bytes"],
    means: "it receives nothing until it reads again, then only the newest state",
  },
  "order-overdue": {
    level: "warn",
    message: "gave up waiting: sent regardless, and the client may lose requests",
    fields: ["node", "stream", "type", "reason", "waited_for", "name"],
    means:
      "a step of make-before-break ordering was not done within `order-limit`, and the next step follows regardless. reason says what did not come. waited_for is cluster: the client did not ACK the named cluster; endpoints: the named cluster has no endpoints; secret: a secret of the named cluster is missing; users: the client did not ACK resources of the named type; release: the client is still subscribed to the named cluster, which was removed",
  },
  "client-unprotected": {
    level: "warn",
    message: "client reconnected with an unknown version of its clusters",
    fields: ["node", "stream", "type"],
    means:
      "its clusters are unknown to this server, so clusters removed while it was disconnected are removed at once, and requests may be lost. Keep a state directory, and let clients reconnect to the same server or to one that follows the same store. With `--workers` also: its streams of single types are at several workers, where they are in no common order; use ADS",
  },
  "history-restored": {
    level: "info",
    message: "restored state from the previous run",
    fields: ["directory", "clusters", "versions"],
    means: "clients that reconnect in the middle of a change receive the rest of it",
  },
  "history-problem": {
    level: "warn",
    message: "state directory is unusable",
    fields: ["directory", "reason"],
    means:
      "clients are served, but state-of-the-world clients that reconnect after a restart in the middle of a change may lose requests. `--state-dir` sets another directory, or none",
  },
  "ledger-resumed": {
    level: "info",
    message: "serving the last recorded configuration",
    fields: ["number", "resources", "missing"],
    means:
      "the state recorded in the ledger, by the previous run or by others who publish to the store, is in force before the source is read. missing is the number of resources whose content is not kept because it holds a secret: clients keep what they have of them, and get nothing until the source is good",
  },
  "ledger-recorded": {
    level: "info",
    message: "change recorded",
    fields: ["number", "as", "author", "reason", "changes", "names"],
    means:
      "number is what the history calls it; as is revision, live (endpoints and secrets only), approved, rejected, withdrawn, rolled-back, unpinned or emptied (nothing is held back as empty any more). names are the first of the changed resources: + added, ~ changed, - deleted, with layer and type",
  },
  "change-held": {
    of: "ledger-recorded",
    level: "error",
    message: "change held by a fuse; nothing is sent",
    fields: ["number", "author", "fuses", "changes", "names"],
    means:
      "a fuse stopped it, for the reasons in fuses; clients keep what they have. Approve or reject it by its number, or correct the source: a change that trips no fuse takes its place",
  },
  "endpoints-held": {
    of: "ledger-recorded",
    level: "error",
    message: "endpoints became empty and are held back",
    fields: ["number", "author", "changes", "names"],
    means:
      "clusters would lose all their endpoints; clients keep what they have for the time of fuses.endpoints-emptied, and everything else is sent. These are all that the writer has emptied now. Approve them by the number, or bring endpoints back",
  },
  "ledger-problem": {
    level: "error",
    message: "ledger problem",
    fields: ["reason", "suppressed"],
    means:
      "the configuration in force stays in force, and a change that cannot be recorded is not sent; the next change is tried again. If the ledger cannot be opened, the history is kept in memory only. At most one line per reason in 10 s; suppressed is the number of lines left out",
  },
  "ledger-recovered": {
    level: "info",
    message: "ledger problem over",
    fields: ["reason"],
    means: "what nodes have, or which of them are connected, is written to the state directory again",
  },
  "ledger-role": {
    level: "info",
    message: "role changed",
    fields: ["role"],
    means:
      "publisher: this server holds the lease of the source and publishes what its directory has; follower: another server does, and this one serves what that one publishes",
  },
  "store-away": {
    level: "error",
    message: "store unreachable",
    fields: ["reason"],
    means:
      "clients are served what was in force, and endpoints and secrets of this server's own source; other changes are refused until the store is back",
  },
  "store-copy-in-place": {
    level: "warn",
    message: "store unreachable at the start; serving its local copy",
    fields: ["number"],
    means:
      "clients are served what this server had in force up to record number, which may be older than what others serve; they are counted as unchecked. What was published since is applied when the store is back",
  },
  "connections-moved": {
    level: "info",
    message: "connections are asked to go to other servers of the store",
    fields: ["moved", "connections", "fewest"],
    means:
      "another server has much less than its share: `fewest` connections, where this one has `connections`. The oldest leave first, with GOAWAY and `max-connection-age-grace`",
  },
  "store-back": {
    level: "info",
    message: "store reachable again",
    fields: ["away_ms"],
    means: "what other servers published meanwhile is applied in order, and what was refused here is published",
  },
  anomaly: {
    level: "debug",
    message: "client protocol anomaly",
    fields: ["stream", "node", "type", "what"],
    means: "tolerated; if frequent, a bug in the client",
  },
  "access-denied": {
    level: "warn",
    message: "access denied",
    fields: ["entry", "node", "peer", "type", "reason", "stream", "suppressed"],
    means:
      "without a type: the client may not be that node, or may not use that entry point, and its stream or call ended. With a type: it gets no resources of that type. Change the access rules or the client's certificate if it is legitimate. At most one line per host, entry point, node and type in 10 s; suppressed is the number of lines left out",
  },
  "load-reporter-connected": {
    level: "debug",
    message: "load reporting started",
    fields: ["reporter", "node", "peer"],
    means: "`xds loads` shows its reports",
  },
  "load-reporter-disconnected": {
    level: "debug",
    message: "load reporting ended",
    fields: ["reporter", "node", "peer", "age_ms"],
    means: "its requests in progress are no longer counted",
  },
  "limit-hit": {
    level: "warn",
    message: "limit exceeded",
    fields: ["limit", "peer", "stream", "reason", "suppressed"],
    means:
      "raise the limit if the client is legitimate. At most one line per host and limit in 10 s; suppressed is the number of lines left out",
  },
  "admin-refused": {
    level: "warn",
    message: "caller of the admin API rejected",
    fields: ["peer", "method", "path", "certificate", "suppressed"],
    means:
      "beyond loopback, the admin API answers certificates in `admin-viewers` and `admin-operators` only; health and metrics everybody. At most one line per host, certificate and method in 10 s; suppressed is the number of lines left out",
  },
  "admin-change": {
    level: "info",
    message: "change requested through the admin API",
    fields: ["peer", "caller", "role", "method", "path", "status", "suppressed"],
    means:
      "the audit of the admin API: one line for each request that is not a read, with the names of the caller's certificate (or local socket, loopback) and the HTTP status. Of failed ones at most one line per host, caller and status in 10 s; suppressed is the number of lines left out",
  },
  "page-refused": {
    level: "warn",
    message: "poll of a web page rejected",
    fields: ["peer", "host", "origin", "suppressed"],
    means:
      "a page in a browser polled at a host name that is not allowed, or from another origin: DNS rebinding, or a proxy whose name `rest.names` lacks. At most one line per host in 10 s; suppressed is the number of lines left out",
  },
  "certificate-ended": {
    level: "warn",
    message: "connection closed because of its client certificate",
    fields: ["peer", "certificate", "reason", "suppressed"],
    means:
      "reason is expiring: the client has some time to reconnect with a renewed certificate; expired; untrusted: no CA in the reloaded `tls.ca` vouches for it; revoked: `tls.crl` names it. A certificate that is logged as expired was not renewed in time, or the client did not load it. At most one line per certificate and reason in 10 s; suppressed is the number of lines left out",
  },
  "connection-refused": {
    level: "warn",
    message: "connection closed before a valid handshake",
    fields: ["peer", "reason", "suppressed"],
    means:
      "the peer speaks another protocol or no TLS, or its certificate is invalid; without peer, the system could not accept it, as when it is out of files. At most one line per host and reason in 10 s; suppressed is the number of lines left out",
  },
  "connection-broken": {
    level: "warn",
    message: "connection closed after an HTTP/2 protocol error",
    fields: ["peer", "reason", "suppressed"],
    means:
      "the client, or a proxy in front of it, is faulty or hostile; all its streams ended. At most one line per host and reason in 10 s; suppressed is the number of lines left out",
  },
  "files-written": {
    level: "info",
    message: "files written",
    fields: ["directory", "written", "removed", "took_ms"],
    means: "clients with filesystem subscriptions have the change, or its first step",
  },
  "files-problem": {
    level: "warn",
    message: "writing files failed",
    fields: ["directory", "reason"],
    means: "existing files stay as they are; the server retries. Fix what the reason names",
  },
  "files-source-kept": {
    of: "files-source",
    level: "warn",
    message: "exported resource still refers to an xDS server",
    fields: ["directory", "type", "name", "path"],
    means: "the referenced resource cannot come from a file: a client without a server never receives it",
  },
  "files-unfaithful": {
    level: "warn",
    message: "resource not representable in the file format",
    fields: ["directory", "type", "name", "reason"],
    means: "the client receives an incomplete resource or rejects the file: add descriptors, or export as pb",
  },
  "worker-ready": {
    level: "info",
    message: "worker ready",
    fields: ["worker", "pid", "took_ms"],
    means: "the process has the state in force and serves clients",
  },
  "worker-unresponsive": {
    level: "error",
    message: "worker does not answer",
    fields: ["worker", "pid"],
    means:
      "it left pings unanswered for 3 s: it gets no new connections, the admin API answers without its clients, and after 30 s it is killed and replaced",
  },
  "worker-responsive": {
    level: "info",
    message: "worker answers again",
    fields: ["worker", "pid"],
    means: "it gets new connections, and the admin API answers for its clients too",
  },
  "worker-ended": {
    level: "error",
    message: "worker ended",
    fields: ["worker", "pid", "how", "restart_ms"],
    means:
      "its clients reconnect to the other workers; another process takes its place after restart_ms, which grows if that ends soon too",
  },
  "tls-reloaded": {
    level: "info",
    message: "certificates reloaded",
    fields: ["files"],
    means:
      "new connections use them; connections whose client certificate the new CAs or revocation lists take away are closed",
  },
  "tls-refused": {
    level: "error",
    message: "new certificates are invalid; keeping the old ones",
    fields: ["files", "reason"],
    means: "fix the files before the old certificate expires",
  },
  "tls-held": {
    level: "warn",
    message: "new CAs or revocation lists held by a fuse; keeping the old ones",
    fields: ["id", "files", "reason"],
    means:
      "they would cut off more nodes than `fuses.nodes-cut-off` allows: correct the files, or put them in force by `xds approve` with the id",
  },
  "listener-failed": {
    level: "error",
    message: "function of the embedding program failed",
    fields: ["server_event", "error"],
    means:
      "a bug in the program around the server: in a listener, in the log, in the node mapping or access function, which then reject the client, in `clientOverrides`, which then do not apply, or in `convertForStructs`, whose resource is then sent without conversion",
  },
  "invariant-broken": {
    level: "error",
    message: "internal error",
    fields: ["stream", "during", "error"],
    means: "a bug in xdskit: the stream was ended with INTERNAL; please report the line",
  },
};
