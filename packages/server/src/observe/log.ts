import { messageNameOf } from "@xdskit/protocol";
import { hostOf } from "@xdskit/protocol/internal";
import type { RecordedChange, ServerReport } from "../hub/port.ts";
import type { Log, LogEvent, LogFields } from "../log.ts";
import { createLineLimit, type LineLimit } from "./line-limit.ts";
import { overdueReason } from "./overdue-reason.ts";
import { printable, printableReason, redactText } from "./printable.ts";
import type { ObservedTelemetry } from "./telemetry.ts";

export type { Log } from "../log.ts";

/** Writes the events of a server to the log. Text of clients is made printable and redacted (A14, H2). */
export function attachLog(telemetry: ObservedTelemetry, log: Log): void {
  const lines = new Lines(telemetry, log);
  logStreams(lines);
  logNacks(lines);
  logFiles(lines);
  logLedger(lines);
  logServer(lines);
  logFaults(telemetry, log);
}

type ReportOf<E> = Extract<ServerReport, { readonly kind: E }>;

/** An event of the server that is logged under its name. */
type NamedLine = LogEvent & ServerReport["kind"];

interface LimitedLine {
  /** What makes two lines the same. */
  readonly key: readonly (string | number)[];
  readonly fields: LogFields;
}

/** The log of a server. Lines have the names of their events: there is no second set of names. */
class Lines {
  readonly #telemetry: ObservedTelemetry;
  readonly #log: Log;

  constructor(telemetry: ObservedTelemetry, log: Log) {
    this.#telemetry = telemetry;
    this.#log = log;
  }

  /** Logs each event of a kind. */
  each<E extends NamedLine>(event: E, fieldsOf: (report: ReportOf<E>) => LogFields): void {
    this.#telemetry.observe(event, (report) => this.#log.write(event, fieldsOf(report)));
  }

  /** Logs each event of a kind, unless the same line was written a moment ago. */
  eachLimited<E extends NamedLine>(event: E, limit: LineLimit, lineOf: (report: ReportOf<E>) => LimitedLine): void {
    this.#telemetry.observe(event, (report, at) => this.writeLimited(event, limit, lineOf(report), at));
  }

  /** Calls the observer for events of which only some are logged, or under a name of their own. */
  some<E extends ServerReport["kind"]>(event: E, observer: (report: ReportOf<E>, log: Log, at: Date) => void): void {
    this.#telemetry.observe(event, (report, at) => observer(report, this.#log, at));
  }

  /** Writes a line unless the same one was written a moment ago. */
  writeLimited(event: LogEvent, limit: LineLimit, { key, fields }: LimitedLine, at: Date): void {
    const allowed = limit.allow([event, ...key].join("\n"), at.getTime());
    if (allowed === undefined) return;
    this.#log.write(event, { ...fields, suppressed: allowed.suppressed > 0 ? allowed.suppressed : undefined });
  }
}

function logStreams(lines: Lines): void {
  lines.each("stream-opened", ({ stream, variant, method, peer }) => {
    return { stream, variant, method, peer: peer.address };
  });
  lines.each("node-connected", ({ stream, node, layers }) => ({
    stream,
    node: printable(node.id, 200),
    cluster: printable(node.cluster, 200),
    agent: printable(`${node.userAgentName} ${node.userAgentVersion}`.trim(), 100),
    layers: layers.join(","),
  }));
  lines.each("node-moved", ({ stream, node, layers }) => {
    return { stream, node: printable(node.id, 200), layers: layers.join(",") };
  });
  const ends = createLineLimit();
  lines.some("stream-closed", ({ stream, peer, reason, status, ageMs }, log, at) => {
    const fields = {
      stream,
      peer: peer.address,
      reason,
      code: status.code,
      status_message: printable(status.message, 500),
      age_ms: Math.round(ageMs),
    };
    if (isOrdinaryEnd(reason)) log.write("stream-closed", fields);
    else lines.writeLimited("stream-ended", ends, { key: [hostOf(peer.address), reason, status.code], fields }, at);
  });
  lines.each("poller-met", ({ stream, node, type, peer }) => {
    return { stream, node: printable(node.id, 200), type, peer: peer.address };
  });
  lines.each("poller-forgotten", ({ stream, node, type, evicted }) => {
    return { stream, node: printable(node.id, 200), type, limit: evicted?.limit };
  });
  lines.each("stream-stalled", ({ stream, pendingBytes }) => ({ stream, pending_bytes: pendingBytes }));
  lines.each("order-overdue", ({ stream, node, type, wait }) => ({
    node: printable(node.id, 200),
    stream,
    type,
    reason: printable(overdueReason(wait), 500),
    waited_for: wait.for,
    name: wait.for === "return" ? undefined : printable(wait.for === "users" ? wait.type : wait.name, 200),
  }));
  lines.each("client-unprotected", ({ stream, node, type }) => ({ node: printable(node.id, 200), stream, type }));
  lines.each("anomaly", ({ stream, node, type, what }) => ({ stream, node: printable(node.id, 200), type, what }));
}

function isOrdinaryEnd(reason: string): boolean {
  return [
    "finished",
    "cancelled",
    "connection-lost",
    "connection-age",
    "balance",
    "certificate",
    "draining",
    "closed",
  ].includes(reason);
}

function logNacks(lines: Lines): void {
  lines.eachLimited("response-nacked", createLineLimit(), ({ stream, node, type, nonce, version, error, names }) => ({
    key: [node.id, type],
    fields: {
      node: printable(node.id, 200),
      type,
      version,
      nonce,
      stream,
      code: error.code,
      reason: printableReason(error.message),
      names: names.slice(0, 10).map((name) => printable(name, 200)),
    },
  }));
}

function logServer(lines: Lines): void {
  lines.each("ready", () => ({}));
  lines.each("draining", ({ graceMs }) => ({ grace_ms: graceMs }));
  lines.each("committed", ({ revision, tookMs }) => ({ transaction: revision, took_ms: Math.round(tookMs * 10) / 10 }));
  lines.some("converted", ({ resources, findings }, log) => {
    const [first] = findings;
    if (first === undefined) return;
    const [finding] = first.findings;
    log.write("conversion-incomplete", {
      resources,
      incomplete: findings.length,
      type: first.type,
      name: printable(first.name, 200),
      layer: first.layer,
      path: printable(finding?.path.join(".") ?? "", 500),
      reason: printable(finding?.message ?? "", 500),
    });
  });
  lines.each("history-restored", ({ directory, clusters, versions }) => ({ directory, clusters, versions }));
  lines.each("history-problem", ({ directory, message }) => ({ directory, reason: printable(message, 500) }));
  lines.each("load-reporter-connected", ({ reporter, node, peer }) => {
    return { reporter, node: printable(node.id, 200), peer: peer.address };
  });
  lines.each("load-reporter-disconnected", ({ reporter, node, peer, ageMs }) => ({
    reporter,
    node: printable(node?.id ?? "", 200),
    peer: peer.address,
    age_ms: Math.round(ageMs),
  }));
  logRejections(lines);
  lines.each("worker-ready", ({ worker, pid, tookMs }) => ({ worker, pid, took_ms: tookMs }));
  lines.each("worker-unresponsive", ({ worker, pid }) => ({ worker, pid }));
  lines.each("worker-responsive", ({ worker, pid }) => ({ worker, pid }));
  lines.each("worker-ended", ({ worker, pid, how, restartMs }) => ({ worker, pid, how, restart_ms: restartMs }));
  lines.each("tls-reloaded", ({ files }) => ({ files: files.join(",") }));
  lines.each("tls-refused", ({ files, error }) => {
    return { files: files.join(","), reason: printableReason(error.message, 500) };
  });
  lines.each("tls-held", ({ id, files, message }) => ({ id, files: files.join(","), reason: message }));
}

/** Logs who was turned away, and what operators did. */
function logRejections(lines: Lines): void {
  const limit = createLineLimit();
  lines.eachLimited("access-denied", limit, ({ entryPoint, stream, node, peer, type, reason }) => {
    const id = printable(node.id, 200);
    const fields = {
      ...{ entry: entryPoint, node: id, peer: peer.address, type },
      ...{ reason: printable(reason, 500), stream },
    };
    return { key: [hostOf(peer.address), entryPoint, id, type ?? ""], fields };
  });
  lines.eachLimited("limit-hit", limit, ({ limit: name, address, stream, message }) => {
    const fields = { limit: name, peer: address, stream, reason: printable(message, 500) };
    return { key: [hostOf(address), name], fields };
  });
  lines.eachLimited("certificate-ended", limit, ({ peer, reason }) => {
    const certificate = printable(peer.names.join(","), 500);
    return { key: [certificate, reason], fields: { peer: peer.address, certificate, reason } };
  });
  lines.eachLimited("admin-refused", limit, ({ address, method, path, names }) => {
    const certificate = printable(names.join(","), 500);
    // Who only reads, or has no certificate, does not hide another's attempt to change something.
    return {
      key: [hostOf(address), certificate, method],
      fields: { peer: address, method, path: printable(path, 200), certificate },
    };
  });
  lines.some("admin-change", ({ address, caller, role, method, path, status }, log, at) => {
    const who = printable(caller, 500);
    const fields = { peer: address, caller: who, role, method, path: printable(path, 200), status };
    // What changed something is never left out.
    if (status < 400) log.write("admin-change", fields);
    else lines.writeLimited("admin-change", limit, { key: [hostOf(address ?? ""), who, status], fields }, at);
  });
  lines.eachLimited("page-refused", limit, ({ address, host, origin }) => {
    const fields = { peer: address, host: printable(host, 200), origin: origin && printable(origin, 200) };
    return { key: [hostOf(address)], fields };
  });
  for (const event of ["connection-refused", "connection-broken"] as const) {
    lines.eachLimited(event, limit, ({ address, reason }) => {
      const fields = { peer: address, reason: printableReason(reason, 200) };
      return { key: [hostOf(address ?? ""), reason], fields };
    });
  }
}

/** Logs the mistakes of the program and of the server themselves, which must not go unseen. */
export function logFaults(telemetry: ObservedTelemetry, log: Log): void {
  const lines = new Lines(telemetry, log);
  lines.each("listener-failed", ({ event, error }) => ({ server_event: event, error: describeFault(error) }));
  lines.each("invariant-broken", ({ stream, during, error }) => ({ stream, during, error: describeFault(error) }));
}

function logFiles(lines: Lines): void {
  lines.each("files-written", ({ directory, written, removed, tookMs }) => ({
    directory,
    written: written.length,
    removed: removed.length,
    took_ms: Math.round(tookMs * 10) / 10,
  }));
  lines.each("files-problem", ({ directory, message }) => ({ directory, reason: printable(message, 500) }));
  const kept = new Once();
  lines.some("files-source", ({ directory, type, name, path, file }, log) => {
    const key = JSON.stringify([directory, type, name, path]);
    if (file !== undefined) kept.forget(key);
    // Reported on every change of the resource, logged once.
    else if (kept.allow(key))
      log.write("files-source-kept", { directory, type, name: printable(name, 200), path: printable(path, 500) });
  });
  lines.each("files-unfaithful", ({ directory, type, name, message }) => {
    return { directory, type, name: printable(name, 200), reason: printable(message, 500) };
  });
}

function logLedger(lines: Lines): void {
  lines.each("ledger-resumed", ({ number, resources, missing }) => ({ number, resources, missing }));
  lines.some("ledger-recorded", ({ number, as, author, message, changes, total, reasons }, log) => {
    const by = author && printable(author, 200);
    const names = changes.map(describeChange);
    if (as === "held") log.write("change-held", { number, author: by, fuses: reasons, changes: total, names });
    else if (as === "emptied" && total > 0) log.write("endpoints-held", { number, author: by, changes: total, names });
    else
      log.write("ledger-recorded", {
        ...{ number, as, author: by, reason: message && printable(message, 500) },
        ...{ changes: total, names },
      });
  });
  lines.each("ledger-role", ({ role }) => ({ role }));
  lines.each("store-away", ({ reason }) => ({ reason: printable(reason, 500) }));
  lines.each("store-copy-in-place", ({ number }) => ({ number }));
  lines.eachLimited("connections-moved", createLineLimit(), ({ moved, connections, fewest }) => {
    return { key: [], fields: { moved, connections, fewest } };
  });
  lines.each("store-back", ({ awayMs }) => ({ away_ms: awayMs }));
  lines.eachLimited("ledger-problem", createLineLimit(), ({ message }) => {
    return { key: [message], fields: { reason: printable(message, 500) } };
  });
  lines.each("ledger-recovered", ({ message }) => ({ reason: printable(message, 500) }));
}

function describeChange({ change, layer, type, name }: RecordedChange): string {
  const sign = { added: "+", changed: "~", deleted: "-" }[change];
  return `${sign}${layer} ${messageNameOf(type).replace(/.*\./, "")} ${printable(name, 200)}`;
}

/** Formats an error with its stack, which a bug report needs. */
function describeFault(error: unknown): string {
  return redactText(error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, 4096);
}

/** Maximum number of remembered keys. */
const MAX_KEYS = 1_000;

/** Allows each key once, until it is reset; above a thousand keys it allows nothing. */
class Once {
  readonly #told = new Set<string>();

  /** Whether the key is new. */
  allow(key: string): boolean {
    if (this.#told.has(key) || this.#told.size >= MAX_KEYS) return false;
    this.#told.add(key);
    return true;
  }

  /** Resets a key, so that it is allowed again. */
  forget(key: string): void {
    this.#told.delete(key);
  }
}
