import type { Log } from "../log.ts";
import { formatLogLine } from "./log-line.ts";
import { type LogRow, logTable } from "./log-table.ts";

/** Options of `consoleLog`. */
export interface ConsoleLogOptions {
  /**
   * The least important lines that are written.
   * @default "info"
   */
  readonly level?: LogRow["level"];
}

const LEVELS: readonly LogRow["level"][] = ["debug", "info", "warn", "error"];

/** A log that writes each event as a line of text to standard error. */
export function consoleLog({ level = "info" }: ConsoleLogOptions = {}): Log {
  return {
    write(event, fields) {
      const row = logTable[event];
      if (LEVELS.indexOf(row.level) < LEVELS.indexOf(level)) return;
      process.stderr.write(formatLogLine({ level: row.level, time: new Date(), message: row.message, fields }));
    },
  };
}
