import type { LogEvent } from "../log.ts";

export type { LogEvent, LogFields } from "../log.ts";

/** A line of the log, as the reference page tells it. */
export interface LogRow {
  readonly level: "debug" | "info" | "warn" | "error";
  /** The sentence that a person reads. */
  readonly message: string;
  readonly fields: readonly string[];
  /** What it means for the operator, and what to do. */
  readonly means: string;
}

/** Every line that a server logs. */
export const logTable: Readonly<Record<LogEvent, LogRow>> = {
  "server-ready": {
    level: "info",
    message: "clients are served from now on",
    fields: [],
    means: "the first good state took effect",
  },
  "server-draining": {
    level: "info",
    message: "sending clients away",
    fields: ["grace_ms"],
    means: "the server was told to stop; clients go to another one or come back",
  },
  "state-committed": {
    level: "info",
    message: "a new state takes effect",
    fields: ["revision", "took_ms"],
    means: "changed resources are being sent; `xds deliveries` shows who has them",
  },
  "conversion-incomplete": {
    level: "warn",
    message: "resources were converted between v2 and v3, and the other version cannot express all of them",
    fields: ["resources", "incomplete", "type", "name", "layer", "path", "reason"],
    means:
      "what cannot be expressed is passed on as it is, and a client of that version may pass over it. incomplete counts them, the first is named; `/api/v1/conversions` of the admin API has all. One line for each transaction; `xds validate --v2` tells it beforehand",
  },
  "response-refused": {
    level: "warn",
    message: "a client refused a response",
    fields: ["node", "type", "version", "nonce", "stream", "code", "reason", "names", "suppressed"],
    means:
      "the client keeps what it had; mend what the reason names. At most one line in 10 s for each node and type: suppressed counts the rest",
  },
  "node-connected": {
    level: "info",
    message: "a client said who it is",
    fields: ["stream", "node", "cluster", "agent", "layers"],
    means: "layers are what it sees, top-most first",
  },
  "node-moved": {
    level: "info",
    message: "a client sees other layers now",
    fields: ["stream", "node", "layers"],
    means: "the rules that place nodes changed",
  },
  "stream-opened": {
    level: "debug",
    message: "a stream opened",
    fields: ["stream", "variant", "method", "peer"],
    means: "a client connected",
  },
  "stream-closed": {
    level: "debug",
    message: "a stream ended",
    fields: ["stream", "peer", "reason", "code", "message", "age_ms"],
    means: "an ordinary end",
  },
  "stream-ended": {
    level: "warn",
    message: "a stream was ended by this server",
    fields: ["stream", "peer", "reason", "code", "message", "age_ms", "suppressed"],
    means:
      "the message says why; the client comes back by itself, and meets the same end until that is mended. At most one line in 10 s for each host and reason: suppressed counts the rest",
  },
  "poller-met": {
    level: "debug",
    message: "somebody polls",
    fields: ["stream", "node", "type", "peer"],
    means: "a client over REST; its polls go by this number until it is forgotten",
  },
  "poller-forgotten": {
    level: "debug",
    message: "somebody does not poll any more",
    fields: ["stream", "node", "type"],
    means: "no poll came for some minutes; if one comes, it is met anew",
  },
  "client-slow": {
    level: "warn",
    message: "a client does not read",
    fields: ["stream", "pending_bytes"],
    means: "it gets nothing until it reads again, then only the newest state",
  },
  "order-overdue": {
    level: "warn",
    message: "a client was waited for in vain, and may lose requests now",
    fields: ["node", "stream", "type", "waited_for", "name"],
    means:
      "what replaces something was not accepted within `order-limit`, and the old is removed, or the new is used, all the same. waited_for is cluster: the client did not accept the named one. waited_for is endpoints: the named cluster got none. waited_for is secret: one that the named cluster needs is missing. waited_for is users: it did not answer what it was sent of the named type. waited_for is release: it still asks for the named cluster, which is gone",
  },
  "client-unprotected": {
    level: "warn",
    message: "a client came back with clusters that nobody here remembers",
    fields: ["node", "stream", "type"],
    means:
      "what it holds is not known, so clusters that it still uses and that are gone are removed at once: requests may be lost if they went while it was away. Keep a state directory, and let clients come back to the same server",
  },
  "history-restored": {
    level: "info",
    message: "took up what the server before left",
    fields: ["directory", "clusters", "versions"],
    means: "clients that come back in the middle of a change are told the rest of it",
  },
  "history-problem": {
    level: "warn",
    message: "the state directory cannot be used as it is",
    fields: ["directory", "reason"],
    means:
      "clients are served all the same; those of State of the World that come back after a restart in the middle of a change may lose requests. `--state-dir` chooses another directory, or none",
  },
  "client-odd": {
    level: "debug",
    message: "a client did something odd",
    fields: ["stream", "node", "type", "what"],
    means: "it was borne; a bug of the client if it is frequent",
  },
  "load-reporter-connected": {
    level: "debug",
    message: "a client reports its load",
    fields: ["reporter", "node", "peer"],
    means: "`xds loads` shows what it reports",
  },
  "load-reporter-gone": {
    level: "debug",
    message: "a client does not report its load any more",
    fields: ["reporter", "node", "peer", "age_ms"],
    means: "its requests in progress do not count any more",
  },
  "limit-hit": {
    level: "warn",
    message: "a limit was passed",
    fields: ["limit", "peer", "stream", "message", "suppressed"],
    means:
      "raise the limit if the client is right. At most one line in 10 s for each host and limit: suppressed counts the rest",
  },
  "connection-refused": {
    level: "warn",
    message: "a connection was closed before anything was said",
    fields: ["peer", "reason", "suppressed"],
    means:
      "the peer speaks another protocol, or no TLS, or its certificate is no good. At most one line in 10 s for each host and reason: suppressed counts the rest",
  },
  "connection-broken": {
    level: "warn",
    message: "a client broke the rules of HTTP/2, and its connection was closed",
    fields: ["peer", "reason", "suppressed"],
    means:
      "the client, or a proxy before it, is faulty or hostile; its streams ended with it. At most one line in 10 s for each host and reason: suppressed counts the rest",
  },
  "files-written": {
    level: "info",
    message: "files were written",
    fields: ["directory", "written", "removed", "took_ms"],
    means: "whoever follows them has the change, or the part of it that comes first",
  },
  "files-problem": {
    level: "warn",
    message: "files could not be written",
    fields: ["directory", "reason"],
    means: "those that are there stay as they are, and it is tried again: mend what the reason says",
  },
  "files-source-kept": {
    level: "warn",
    message: "a config source in a file still asks a server",
    fields: ["directory", "type", "name", "path"],
    means: "what it asks for cannot come from a file: a client without a server never gets it",
  },
  "files-unfaithful": {
    level: "warn",
    message: "the form of a file cannot hold a resource as it is",
    fields: ["directory", "type", "name", "reason"],
    means: "the client gets less than there is, or refuses the file: add descriptors, or write files as pb",
  },
  "tls-reloaded": {
    level: "info",
    message: "certificates were read anew",
    fields: ["files"],
    means: "new connections use them",
  },
  "tls-refused": {
    level: "error",
    message: "changed certificates are no good, the old ones stay in force",
    fields: ["files", "reason"],
    means: "mend the files before the old certificate expires",
  },
  "listener-failed": {
    level: "error",
    message: "a listener of the embedding program failed",
    fields: ["event", "error"],
    means: "a bug in the program around the server",
  },
  "invariant-broken": {
    level: "error",
    message: "internal error",
    fields: ["stream", "during", "error"],
    means: "a bug in xdskit: the stream was ended with INTERNAL; please report the line",
  },
};
