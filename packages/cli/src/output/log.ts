import { formatLogLine, type LogEvent, type LogFields, type LogRow, logTable } from "@xdskit/server";
import { pino } from "pino";
import type { Output } from "../io.ts";
import type { Colors } from "./color.ts";

/** A log event of the command itself. */
export type CommandLogEvent =
  | "serving"
  | "access"
  | "few-open-files"
  | "history-opened"
  | "history-elsewhere"
  | "loaded"
  | "load-failed"
  | "corrected"
  | "problem"
  | "warning"
  | "problems-cut"
  | "settings-changed"
  | "access-rules-removed"
  | "hangup"
  | "workers-restarted"
  | "workers-kept"
  | "stopping"
  | "stopped";

/** Log events of the command; those of the server are in its own table. */
export const commandLogTable: Readonly<Record<CommandLogEvent, LogRow>> = {
  serving: {
    level: "info",
    message: "listening",
    fields: ["address", "more_addresses", "admin", "directory"],
    means: "clients connect to address, or to any of more_addresses; ready follows once they are served",
  },
  access: {
    level: "info",
    message: "access in force",
    fields: ["loopback", "elsewhere", "client_status", "admin"],
    means: "what clients on this machine, clients elsewhere, and callers of client status and the admin API get",
  },
  "history-opened": {
    level: "info",
    message: "history",
    fields: ["ledger", "directory"],
    means: "ledger says whether the history in this state directory is new or continued",
  },
  "few-open-files": {
    level: "warn",
    message: "the limit of open files is low",
    fields: ["limit", "connections"],
    means:
      "each connection of a client takes one. The process admits this many connections, or those that `limits.max-connections` allows if they are fewer, and keeps the rest for its files. Raise the limit with `ulimit -n`, or with `LimitNOFILE=` of systemd",
  },
  "history-elsewhere": {
    level: "warn",
    message: "this source has another history, of a server at another address",
    fields: ["listen", "directory"],
    means:
      "each `--listen` address has a state directory of its own, so a new history began. To go on with the other one, stop the server at listen, if it still runs, and start this one with `--state-dir` and its directory",
  },
  loaded: {
    level: "info",
    message: "resources loaded",
    fields: ["resources", "files", "layers", "warnings", "took_ms", "recounted"],
    means:
      "its resources are in force. recounted names the files that have more or fewer resources than before, with both numbers: a file that is written in parts loses those of the later parts for a moment, so rename finished files",
  },
  "load-failed": {
    level: "error",
    message: "resources have errors",
    fields: ["errors", "warnings", "in_force"],
    means:
      "this load is discarded: the last valid configuration stays in force; without one, no client is served until the errors are fixed",
  },
  corrected: {
    level: "info",
    message: "the errors in the resources are corrected",
    fields: [],
    means: "the load before was discarded; this one is in force, and loaded follows",
  },
  problem: {
    level: "error",
    message: "error in the resources",
    fields: ["file", "line", "column", "path", "code", "text", "hint"],
    means: "fix what the text says; until then the load is discarded",
  },
  warning: {
    level: "warn",
    message: "warning about the directory",
    fields: ["file", "line", "column", "path", "code", "text", "hint"],
    means: "the resource is served regardless",
  },
  "problems-cut": {
    level: "warn",
    message: "more problems than shown here",
    fields: ["not_shown"],
    means: "`xds validate` shows all of them",
  },
  "settings-changed": {
    level: "warn",
    message: "changed settings are not in force yet",
    fields: ["settings", "apply_with"],
    means: "restart the server to apply them, or with `--workers` send SIGHUP if apply_with names it",
  },
  "access-rules-removed": {
    level: "warn",
    message: "access rules removed: the defaults are in force",
    fields: [],
    means: "xdskit.yaml was deleted, or has no access any more; clients on loopback may have everything",
  },
  hangup: {
    level: "info",
    message: "SIGHUP: reloading",
    fields: [],
    means: "the directory and the certificates are read again at once; loaded or load-failed follows",
  },
  "workers-restarted": {
    level: "info",
    message: "workers restarted",
    fields: ["took_ms"],
    means: "after SIGHUP each worker was replaced by one with the settings of now, one after the other",
  },
  "workers-kept": {
    level: "error",
    message: "workers not restarted",
    fields: ["reason"],
    means: "the settings have an error, or a worker cannot start with them; the workers from before serve on",
  },
  stopping: {
    level: "info",
    message: "stopping",
    fields: ["signal"],
    means: "connections are drained; a second signal ends the process at once",
  },
  stopped: {
    level: "info",
    message: "stopped",
    fields: [],
    means: "every connection is closed",
  },
};

/** The log of `xds serve` and `xds export --watch`. */
export interface CommandLog {
  write(event: LogEvent | CommandLogEvent, fields: LogFields): void;
}

export interface LogOptions {
  readonly level: string;
  readonly format: "text" | "json";
  readonly output: Output;
  readonly colors: Colors;
}

const rows: Readonly<Record<LogEvent | CommandLogEvent, LogRow>> = { ...logTable, ...commandLogTable };

/** Creates a log of JSON lines or of text. */
export function createLog({ level, format, output, colors }: LogOptions): CommandLog {
  const write =
    format === "json" ? output.write.bind(output) : (line: string) => output.write(formatLine(line, colors));
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return {
    write(event, fields) {
      const row = rows[event];
      logger[row.level]({ event, ...fields }, row.message);
    },
  };
}

/** The text for people of a line for machines. */
function formatLine(line: string, colors: Colors): string {
  const { level, time, event: _, message, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const parts = { level: String(level), time: new Date(String(time)), message: String(message), fields };
  return formatLogLine(parts, colors);
}
