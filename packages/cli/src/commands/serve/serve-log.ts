import { type CommandLog, createLog } from "../../output/log.ts";
import type { SettingValues } from "../../settings/resolve-settings.ts";
import type { CommandContext } from "../context.ts";

/** Creates the log of a command that runs until interrupted. */
export function createServeLog(values: SettingValues, context: CommandContext): CommandLog {
  return createLog({
    level: values.text("log.level") ?? "info",
    format: logFormatOf(values, context),
    output: context.io.stderr,
    colors: context.colorsOf(context.io.stderr),
  });
}

/** Text in a terminal and JSON in a pipe, unless `log.format` is set. */
export function logFormatOf(values: SettingValues, { io }: CommandContext): "text" | "json" {
  if (values.originOf("log.format") !== undefined) return values.text("log.format") === "json" ? "json" : "text";
  return io.stderr.isTerminal ? "text" : "json";
}
