/** The event of a log line: that of the server, or some cases of it (`of` in the log table). */
export type LogEvent =
  | "ready"
  | "draining"
  | "committed"
  | "conversion-incomplete"
  | "response-nacked"
  | "node-connected"
  | "node-moved"
  | "stream-opened"
  | "stream-closed"
  | "stream-ended"
  | "poller-met"
  | "poller-forgotten"
  | "stream-stalled"
  | "anomaly"
  | "access-denied"
  | "order-overdue"
  | "client-unprotected"
  | "history-restored"
  | "history-problem"
  | "ledger-resumed"
  | "ledger-recorded"
  | "change-held"
  | "endpoints-held"
  | "ledger-problem"
  | "ledger-recovered"
  | "ledger-role"
  | "store-away"
  | "store-copy-in-place"
  | "connections-moved"
  | "store-back"
  | "load-reporter-connected"
  | "load-reporter-disconnected"
  | "limit-hit"
  | "page-refused"
  | "admin-refused"
  | "admin-change"
  | "certificate-ended"
  | "connection-refused"
  | "connection-broken"
  | "files-written"
  | "files-problem"
  | "files-source-kept"
  | "files-unfaithful"
  | "worker-ready"
  | "worker-unresponsive"
  | "worker-responsive"
  | "worker-ended"
  | "tls-reloaded"
  | "tls-refused"
  | "tls-held"
  | "listener-failed"
  | "invariant-broken";

/** Values of a line's fields; undefined ones are left out. No field has the name of a part that every line has. */
export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>> & {
  readonly [K in "level" | "time" | "event" | "message"]?: never;
};

/** Receives log lines. The first exception it throws is reported (`listener-failed`), and the server continues. */
export interface Log {
  write(event: LogEvent, fields: LogFields): void;
}
