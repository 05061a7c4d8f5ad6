export type { CheckAnswer } from "./commands/check.ts";
export type { DumpAnswer } from "./commands/dump.ts";
export type { ValidateAnswer } from "./commands/validate.ts";
export type { WatchLine } from "./commands/watch.ts";
export { type ExitCode, exitCode, exitCodeMeanings } from "./exit-code.ts";
export type { Io, Output } from "./io.ts";
export { commandLogTable } from "./output/log.ts";
export { run } from "./run.ts";
export { flagNameOf, variableOf } from "./settings/setting-flag.ts";
