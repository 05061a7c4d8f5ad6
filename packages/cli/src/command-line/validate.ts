import { Option } from "commander";
import type { ValidateFlags } from "../commands/validate.ts";
import { addSettingFlags, SOURCE_SETTINGS } from "../settings/setting-flag.ts";
import { type AddCommand, addExamples } from "./add-command.ts";

const OUTPUTS: readonly ValidateFlags["output"][] = ["text", "json", "github"];

/** `xds validate DIR`: prints every problem in a directory without serving it. */
export const addValidateCommand: AddCommand = (program, context) => {
  const command = program
    .command("validate")
    .summary("check a directory and print all problems")
    .description("Check a directory of resources and print all problems.")
    .argument("<dir>", "directory to read, or a module such as mesh.ts; - reads one file from standard input")
    .addOption(new Option("-o, --output <format>", "output format").choices(OUTPUTS).default("text"))
    .addOption(new Option("--format <format>", "deprecated alias of --output").choices(OUTPUTS))
    .option("--strict", "fail on warnings too")
    .option("--v2", "warn about fields that are lost in conversion between v2 and v3")
    .action((directory: string, flags: ValidateFlags) =>
      context.perform(async () => (await import("../commands/validate.ts")).validate(directory, flags, context)),
    );
  addSettingFlags(command, SOURCE_SETTINGS);
  addExamples(command, [
    ["xds validate config", "every problem, with file, line and column"],
    ["kubectl get cm xds -o jsonpath='{.data.cds\\.yaml}' | xds validate -", "one file from standard input"],
    ["xds validate config --v2", "what clients of version 2 would miss"],
    ["xds validate config -o github --strict", "in a workflow: problems beside the changed lines"],
  ]);
};
