import { messageNameOf } from "@xdskit/protocol";
import { hostOf } from "@xdskit/protocol/internal";
import type { RecordedChange } from "../hub/port.ts";
import type { Log, LogEvent, LogFields } from "../log.ts";
import { createLineLimit, type LineLimit } from "./line-limit.ts";
import { overdueReason } from "./overdue-reason.ts";
import { printable, printableReason, redactText } from "./printable.ts";
import type { ObservedTelemetry } from "./telemetry.ts";

export type { Log } from "../log.ts";

/** Writes the events of a server to the log. Text of clients is made printable and redacted (A14, H2). */
export function attachLog(telemetry: ObservedTelemetry, log: Log): void {
  logStreams(telemetry, log);
  logNacks(telemetry, log);
  logFiles(telemetry, log);
  logLedger(telemetry, log);
  logServer(telemetry, log);
  logFaults(telemetry, log);
}

function logStreams(telemetry: ObservedTelemetry, log: Log): void {
  telemetry.observe("stream-opened", ({ stream, variant, method, peer }) =>
    log.write("stream-opened", { stream, variant, method, peer: peer.address }),
  );
  telemetry.observe("node-identified", ({ stream, node, layers }) =>
    log.write("node-connected", {
      stream,
      node: printable(node.id, 200),
      cluster: printable(node.cluster, 200),
      agent: printable(`${node.userAgentName} ${node.userAgentVersion}`.trim(), 100),
      layers: layers.join(","),
    }),
  );
  telemetry.observe("node-moved", ({ stream, node, layers }) =>
    log.write("node-moved", { stream, node: printable(node.id, 200), layers: layers.join(",") }),
  );
  const ends = createLineLimit();
  telemetry.observe("stream-closed", ({ stream, peer, reason, status, ageMs }, at) => {
    const fields = {
      stream,
      peer: peer.address,
      reason,
      code: status.code,
      status_message: printable(status.message, 500),
      age_ms: Math.round(ageMs),
    };
    if (isOrdinaryEnd(reason)) log.write("stream-closed", fields);
    else writeLimited(log, ends, { event: "stream-ended", key: [peer.address, reason, status.code], fields, at });
  });
  telemetry.observe("poller-met", ({ stream, node, type, peer }) =>
    log.write("poller-met", { stream, node: printable(node.id, 200), type, peer: peer.address }),
  );
  telemetry.observe("poller-forgotten", ({ stream, node, type, evicted }) =>
    log.write("poller-forgotten", { stream, node: printable(node.id, 200), type, limit: evicted?.limit }),
  );
  telemetry.observe("stream-stalled", ({ stream, pendingBytes }) =>
    log.write("client-slow", { stream, pending_bytes: pendingBytes }),
  );
  telemetry.observe("order-overdue", ({ stream, node, type, wait }) =>
    log.write("order-overdue", {
      node: printable(node.id, 200),
      stream,
      type,
      reason: printable(overdueReason(wait), 500),
      waited_for: wait.for,
      name: wait.for === "return" ? undefined : printable(wait.for === "users" ? wait.type : wait.name, 200),
    }),
  );
  telemetry.observe("client-unprotected", ({ stream, node, type }) =>
    log.write("client-unprotected", { node: printable(node.id, 200), stream, type }),
  );
  telemetry.observe("anomaly", ({ stream, node, type, what }) =>
    log.write("client-odd", { stream, node: printable(node.id, 200), type, what }),
  );
}

interface LimitedLine {
  readonly event: LogEvent;
  /** The client's address, without its port, and the subject of the line. */
  readonly key: readonly [string, ...(string | number)[]];
  readonly fields: LogFields;
  readonly at: Date;
}

/** Writes a line unless the same one was written a moment ago. */
function writeLimited(log: Log, limit: LineLimit, { event, key: [address, ...what], fields, at }: LimitedLine): void {
  const allowed = limit.allow([hostOf(address), ...what].join("\n"), at.getTime());
  if (allowed === undefined) return;
  log.write(event, { ...fields, suppressed: allowed.suppressed > 0 ? allowed.suppressed : undefined });
}

function isOrdinaryEnd(reason: string): boolean {
  return ["finished", "cancelled", "connection-lost", "connection-age", "certificate", "draining", "closed"].includes(
    reason,
  );
}

function logNacks(telemetry: ObservedTelemetry, log: Log): void {
  const limit = createLineLimit();
  telemetry.observe("response-nacked", ({ stream, node, type, nonce, version, error, names }, at) => {
    const allowed = limit.allow(`${node.id}\n${type}`, at.getTime());
    if (allowed === undefined) return;
    log.write("response-refused", {
      node: printable(node.id, 200),
      type,
      version,
      nonce,
      stream,
      code: error.code,
      reason: printableReason(error.message),
      names: names.slice(0, 10).map((name) => printable(name, 200)),
      suppressed: allowed.suppressed > 0 ? allowed.suppressed : undefined,
    });
  });
}

function logServer(telemetry: ObservedTelemetry, log: Log): void {
  telemetry.observe("ready", () => log.write("server-ready", {}));
  telemetry.observe("draining", ({ graceMs }) => log.write("server-draining", { grace_ms: graceMs }));
  telemetry.observe("committed", ({ revision, tookMs }) =>
    log.write("state-committed", { transaction: revision, took_ms: Math.round(tookMs * 10) / 10 }),
  );
  telemetry.observe("converted", ({ resources, findings }) => {
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
  telemetry.observe("history-restored", ({ directory, clusters, versions }) =>
    log.write("history-restored", { directory, clusters, versions }),
  );
  telemetry.observe("history-problem", ({ directory, message }) =>
    log.write("history-problem", { directory, reason: printable(message, 500) }),
  );
  telemetry.observe("load-reporter-opened", ({ reporter, node, peer }) =>
    log.write("load-reporter-connected", { reporter, node: printable(node.id, 200), peer: peer.address }),
  );
  telemetry.observe("load-reporter-closed", ({ reporter, node, peer, ageMs }) =>
    log.write("load-reporter-gone", {
      reporter,
      node: printable(node?.id ?? "", 200),
      peer: peer.address,
      age_ms: Math.round(ageMs),
    }),
  );
  const lines = createLineLimit();
  telemetry.observe("access-denied", ({ entryPoint, stream, node, peer, type, reason }, at) => {
    const id = printable(node.id, 200);
    const fields = {
      ...{ entry: entryPoint, node: id, peer: peer.address, type },
      ...{ reason: printable(reason, 500), stream },
    };
    writeLimited(log, lines, {
      event: "access-denied",
      key: [peer.address, "access-denied", entryPoint, id, type ?? ""],
      fields,
      at,
    });
  });
  telemetry.observe("limit-hit", ({ limit, address, stream, message }, at) => {
    const fields = { limit, peer: address, stream, reason: printable(message, 500) };
    writeLimited(log, lines, { event: "limit-hit", key: [address, limit], fields, at });
  });
  telemetry.observe("certificate-ended", ({ peer, reason }, at) => {
    const certificate = printable(peer.names.join(","), 500);
    const fields = { peer: peer.address, certificate, reason };
    writeLimited(log, lines, {
      event: "certificate-ended",
      key: [certificate, "certificate-ended", reason],
      fields,
      at,
    });
  });
  telemetry.observe("admin-refused", ({ address, path, names }, at) => {
    const fields = { peer: address, path: printable(path, 200), certificate: printable(names.join(","), 500) };
    writeLimited(log, lines, { event: "admin-refused", key: [address, "admin-refused"], fields, at });
  });
  telemetry.observe("admin-change", ({ address, caller, role, method, path, status }, at) => {
    const who = printable(caller, 500);
    const fields = { peer: address, caller: who, role, method, path: printable(path, 200), status };
    // What changed something is never left out.
    if (status < 400) log.write("admin-change", fields);
    else writeLimited(log, lines, { event: "admin-change", key: [address ?? who, "admin-change", status], fields, at });
  });
  telemetry.observe("page-refused", ({ address, host, origin }, at) => {
    const fields = { peer: address, host: printable(host, 200), origin: origin && printable(origin, 200) };
    writeLimited(log, lines, { event: "page-refused", key: [address, "page-refused"], fields, at });
  });
  for (const event of ["connection-refused", "connection-broken"] as const) {
    telemetry.observe(event, ({ address, reason }, at) => {
      const fields = { peer: address, reason: printableReason(reason, 200) };
      writeLimited(log, lines, { event, key: [address ?? "", event, reason], fields, at });
    });
  }
  telemetry.observe("tls-reloaded", ({ files }) => log.write("tls-reloaded", { files: files.join(",") }));
  telemetry.observe("tls-refused", ({ files, error }) =>
    log.write("tls-refused", { files: files.join(","), reason: printableReason(error.message, 500) }),
  );
}

/** Logs the mistakes of the program and of the server themselves, which must not go unseen. */
export function logFaults(telemetry: ObservedTelemetry, log: Log): void {
  telemetry.observe("listener-failed", ({ event, error }) =>
    log.write("listener-failed", { server_event: event, error: describeFault(error) }),
  );
  telemetry.observe("invariant-broken", ({ stream, during, error }) =>
    log.write("invariant-broken", { stream, during, error: describeFault(error) }),
  );
}

function logFiles(telemetry: ObservedTelemetry, log: Log): void {
  telemetry.observe("files-written", ({ directory, written, removed, tookMs }) =>
    log.write("files-written", {
      directory,
      written: written.length,
      removed: removed.length,
      took_ms: Math.round(tookMs * 10) / 10,
    }),
  );
  telemetry.observe("files-problem", ({ directory, message }) =>
    log.write("files-problem", { directory, reason: printable(message, 500) }),
  );
  const kept = new Once();
  telemetry.observe("files-source", ({ directory, type, name, path, file }) => {
    const key = JSON.stringify([directory, type, name, path]);
    if (file !== undefined) kept.forget(key);
    // Reported on every change of the resource, logged once.
    else if (kept.allow(key))
      log.write("files-source-kept", { directory, type, name: printable(name, 200), path: printable(path, 500) });
  });
  telemetry.observe("files-unfaithful", ({ directory, type, name, message }) =>
    log.write("files-unfaithful", { directory, type, name: printable(name, 200), reason: printable(message, 500) }),
  );
}

function logLedger(telemetry: ObservedTelemetry, log: Log): void {
  telemetry.observe("ledger-resumed", ({ number, resources, missing }) =>
    log.write("ledger-resumed", { number, resources, missing }),
  );
  telemetry.observe("ledger-recorded", ({ number, as, author, message, changes, total, reasons }) => {
    const by = author && printable(author, 200);
    const names = changes.map(describeChange);
    if (as === "held") log.write("change-held", { number, author: by, fuses: reasons, changes: total, names });
    else
      log.write("ledger-recorded", {
        ...{ number, as, author: by, reason: message && printable(message, 500) },
        ...{ changes: total, names },
      });
  });
  telemetry.observe("ledger-role", ({ role }) => log.write("ledger-role", { role }));
  telemetry.observe("store-away", ({ reason }) => log.write("store-away", { reason: printable(reason, 500) }));
  telemetry.observe("store-back", ({ awayMs }) => log.write("store-back", { away_ms: awayMs }));
  const problems = createLineLimit();
  telemetry.observe("ledger-problem", ({ message }, at) => {
    const fields = { reason: printable(message, 500) };
    writeLimited(log, problems, { event: "ledger-problem", key: ["", message], fields, at });
  });
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
